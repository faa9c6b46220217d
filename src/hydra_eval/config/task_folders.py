"""Which folders hold tasks: those on the command line, those in the environment, and the bundled shelf."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from hydra_eval.errors import UserError
from hydra_eval.resources import shelf_folder

VARIABLE = "HYDRA_EVAL_TASK_PATH"


def task_folders() -> str:
    """All task folders joined by the system's path separator, user folders first, the shelf last.

    The command line is read here rather than through Hydra, because the answer is needed before Hydra composes.
    """
    folders = [*_from_command_line(sys.argv), *_from_environment(), shelf_folder()]
    return os.pathsep.join(str(folder) for folder in dict.fromkeys(folders))


def _from_environment() -> list[Path]:
    return [_checked(text, VARIABLE) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]


def _from_command_line(argv: list[str]) -> list[Path]:
    values = [argument.partition("=")[2] for argument in argv if argument.startswith("hydra.searchpath=")]
    found = re.findall(r"tasks://([^,\]'\"]+)", values[-1]) if values else []
    return [_checked(text.strip(), "hydra.searchpath") for text in found]


def _checked(text: str, where: str) -> Path:
    folder = Path(text).expanduser().resolve()
    if not folder.exists():
        raise UserError(f"{where}: the task folder {folder} does not exist.")
    if not folder.is_dir():
        raise UserError(f"{where}: {folder} is a file; name the folder it lies in, or the file itself as task={text}.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UserError(f"{where}: the task folder {folder} may not be read: permission denied.")
    return folder
