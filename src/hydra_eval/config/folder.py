"""The run folder: picked once by the main process, locked while the run lives, never overwritten when finished."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO

import yaml

from hydra_eval.errors import UserError

LOCK = ".lock"
RESULTS = "results.json"
DRY_RUN = "dry_run.json"
SLUG_LENGTH = 80
NOT_COMPARED = ("tracker.", "tracker=", "resume=", "hydra.", "hydra/")
"""Overrides that change nothing in what is computed."""


class RunFolder:
    """A folder held by this process: a second live run cannot pick it."""

    def __init__(self, path: Path, lock: IO[str]) -> None:
        self.path = path
        self._lock = lock


def named_folder(path: Path) -> RunFolder:
    """The folder that the user named. Raises UserError where a finished or a live run is in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        held = _try_lock(path)
    except OSError as error:
        raise UserError(f"hydra.run.dir={path} cannot be used: {error.strerror}. Name another folder.") from error
    if held is None:
        raise UserError(f"hydra.run.dir={path} is in use by a run that is still going. Name another folder, or wait.")
    if is_complete(path):  # asked under the lock: a run may end between the two questions
        raise UserError(f"hydra.run.dir={path} holds a finished run. Name another folder, or remove that one.")
    return held


def pick_folder(root: Path, overrides: Sequence[str], *, resume: bool, now: datetime) -> RunFolder:
    """The newest unfinished and unlocked folder of the same command, else a new one named after time, task, model."""
    if resume:
        for path in _newest_first(root):
            if _recorded(path) != compared(overrides) or is_complete(path) or (path / DRY_RUN).exists():
                continue
            held = _try_lock(path)
            if held and not is_complete(path):  # asked again under the lock: that run may have just ended
                return held
    return new_folder(root / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S}-{run_slug(overrides)}")


def new_folder(wanted: Path) -> RunFolder:
    """Make `wanted`, or the first free `wanted-2`, `wanted-3`, …: two runs of one second get two folders."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for path in _with_suffixes(wanted):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        held = _try_lock(path)
        if held is not None:
            return held
    raise AssertionError("the suffixes never end")


def is_complete(path: Path) -> bool:
    """Whether the folder holds the results of a run that came to its end."""
    try:
        results = json.loads((path / RESULTS).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    own = results.get("hydra_eval") if isinstance(results, dict) else None
    return isinstance(own, dict) and own.get("status") == "complete"


def compared(overrides: Sequence[str]) -> list[str]:
    """The overrides that two runs of the same command share."""
    return [override for override in overrides if not override.lstrip("+~").startswith(NOT_COMPARED)]


def run_slug(overrides: Sequence[str]) -> str:
    """`<task>-<model>` from the command line, fit for a folder name."""
    given = dict(override.split("=", 1) for override in overrides if "=" in override)
    model = given.get("model.name") or given.get("model", "tiny")
    if model == "hf" and "model.pretrained" in given:
        model = given["model.pretrained"].rstrip("/").rpartition("/")[2]
    return f"{slug(given.get('task', 'demo'))}-{slug(model)}"[:SLUG_LENGTH]


def job_folder_name(number: int, overrides: str) -> str:
    """`<nn>-<slug>-<hash>` for one job of a sweep; the hash keeps long, cut slugs apart."""
    digest = hashlib.sha256(overrides.encode()).hexdigest()[:8]
    return f"{number:02d}-{slug(overrides)[:SLUG_LENGTH]}-{digest}"


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=]+", "_", text).strip("_") or "run"


def _with_suffixes(wanted: Path) -> Iterator[Path]:
    yield wanted
    number = 2
    while True:
        yield wanted.with_name(f"{wanted.name}-{number}")
        number += 1


def _newest_first(root: Path) -> list[Path]:
    days = (path for path in root.glob("????-??-??") if path.is_dir())
    folders = [path for day in days for path in day.iterdir() if path.is_dir()]
    return sorted(folders, key=lambda path: (path.parent.name, path.name), reverse=True)


def _recorded(path: Path) -> list[str] | None:
    try:
        recorded = yaml.safe_load((path / ".hydra" / "overrides.yaml").read_text(encoding="utf-8"))
    except (FileNotFoundError, yaml.YAMLError):
        return None
    return compared(recorded or [])


def _try_lock(path: Path) -> RunFolder | None:
    handle = (path / LOCK).open("a")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return RunFolder(path, handle)
