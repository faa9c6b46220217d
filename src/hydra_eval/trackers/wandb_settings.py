"""What W&B is told so that it stays inside the run folder, off the network when offline, quiet and bounded in time."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_SECONDS = 20.0
FINISH_SECONDS = 300.0

SETTINGS: dict[str, Any] = {
    "silent": True,
    "console": "off",  # our log is run.log; W&B would wrap stdout
    "save_code": False,
    "disable_git": True,  # it runs git several times, and would upload a diff of the user's checkout
    "symlink": False,  # wandb/latest-run breaks when the folder is copied or moved
    "x_disable_viewer": True,  # asks the server who the user is, only to greet them
    "init_timeout": START_SECONDS,
    "login_timeout": START_SECONDS,
    "finish_timeout": FINISH_SECONDS,
    "finish_timeout_raises": True,
}

MODES = {
    "online": "online",
    "run": "online",
    "shared": "online",
    "offline": "offline",
    "dryrun": "offline",
    "disabled": "disabled",
}
"""What WANDB_MODE may say → our name for it."""


def requested_mode(mode: str, environ: Mapping[str, str]) -> str:
    """`tracker.mode`, where `auto` leaves it to WANDB_MODE; still `auto` where neither decides."""
    return mode if mode != "auto" else MODES.get(environ.get("WANDB_MODE", ""), "auto")


def run_settings(known: Container[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """SETTINGS without those that this version of W&B lacks and those that the user's environment decides."""
    return {name: value for name, value in SETTINGS.items() if name in known and f"WANDB_{name.upper()}" not in environ}


@contextmanager
def environment(folder: Path) -> Iterator[None]:
    """While the block runs, give W&B's variables a value where the user has not: some things have no other switch."""
    wandb_folder = folder.resolve() / "wandb"
    defaults = {
        "WANDB_DATA_DIR": str(wandb_folder),  # copies of artifact files wait here until they are uploaded
        "WANDB_CACHE_DIR": str(wandb_folder / "cache"),
        "WANDB_SILENT": "true",  # the setting of the same name does not reach what happens before `init`
        "WANDB_ERROR_REPORTING": "false",  # looks up W&B's host even in offline mode
        "WANDB_DOCKER": "",  # left out, W&B asks the Kubernetes API for the image's name
    }
    added = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
