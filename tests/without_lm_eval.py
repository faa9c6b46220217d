"""Hides an installed lm-eval from a process, so that what happens without it can be tried where it is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from .program import ROOT, clean_environment

PRELUDE = "from tests.without_lm_eval import hide_lm_eval; hide_lm_eval()\n"
LIMIT_SECONDS = 120


class Hidden(MetaPathFinder):
    """Stands first among the finders and answers for `lm_eval` without the one that looks in folders."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "lm_eval":
            return None
        others = [finder for finder in sys.meta_path[sys.meta_path.index(self) + 1 :] if finder is not PathFinder]
        for finder in others:
            if (spec := finder.find_spec(fullname, path, target)) is not None:
                return spec
        raise ModuleNotFoundError("No module named 'lm_eval'", name="lm_eval")


def hide_lm_eval() -> None:
    sys.meta_path.insert(0, Hidden())


def output_of(code: str, *, cwd: Path, hidden: bool = True, **environment: str) -> str:
    """What the code prints in a process of its own, with lm-eval hidden or not; an error is an error here."""
    ended = subprocess.run(
        [sys.executable, "-c", (PRELUDE if hidden else "") + code],
        cwd=cwd,
        env=clean_environment() | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
