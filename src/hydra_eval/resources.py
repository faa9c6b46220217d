"""Where the files that ship with the package lie, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent.parent


def conf_folder() -> Path:
    """The Hydra config groups."""
    return _first_folder(PACKAGE / "conf", CHECKOUT / "conf")


def shelf_folder() -> Path:
    """The bundled task YAMLs."""
    return _first_folder(PACKAGE / "tasks_shelf", CHECKOUT / "tasks")


def _first_folder(*candidates: Path) -> Path:
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"hydra-eval is not installed completely: none of {[str(path) for path in candidates]}")


def from_here(path: Path) -> Path:
    """The path as one would type it in the working folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
