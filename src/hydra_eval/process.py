"""What an entry point does to its own process before anything else. Imports no library: `--help` answers at once."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys


def quiet_libraries() -> None:
    """Before any of them is imported: no look-ups and no bars of their own; Hydra hands its errors to `main`."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
    logging.raiseExceptions = False  # a log on a full disk must not bury the message that the disk is full
    os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("DATASETS_VERBOSITY", "critical")  # what it cannot read, it raises, and we tell once
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if os.environ.get("RANK", "0") != "0":
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # those of the main process are enough
    # CPU threads that wait for each other sleep: spinning, they take the cores that other processes could use.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def print_anything() -> None:
    """A terminal without Unicode shows `?` where it lacks a letter; an arrow must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def seldom_collect() -> None:
    """Walk through all that is in memory in search of cycles ten times less often: a run's records form none."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 1000)


def complain(message: str) -> None:
    sys.stderr.write(f"hydra-eval: error: {message}\n")
