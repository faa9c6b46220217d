"""`tasks_file=PATH`: SPECs of a file, one a line, as if they had been typed.

Hydra never sees the key: before it composes, the file's lines join those of `task=`, which come first, so the recorded
overrides and the recorded config hold the tasks themselves and replay without the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Sweep
from hydra.errors import OverrideParseException

from hydra_eval.config.command_line import CommandLine, parse_command_line, quoted
from hydra_eval.errors import UserError

KEY = "tasks_file"


def expanded(command: CommandLine) -> CommandLine:
    """The command as it would be with the file's SPECs typed out."""
    return parse_command_line(with_tasks_file(command.argv))


def with_tasks_file(argv: Sequence[str]) -> list[str]:
    """The arguments with the file's SPECs in place of its name; in a sweep over `task` every job gets them.

    Raises UserError for a file that cannot be read or names no task.
    """
    files = [argument for argument in argv if _sets(argument, KEY)]
    if not files:
        return list(argv)
    listed = specs_of(_path(files[-1]))
    asked = [argument for argument in argv if _sets(argument, "task")]
    rest = [argument for argument in argv if argument not in (*files, *asked)]
    jobs = _jobs(asked[-1]) if asked else [[]]
    return [*rest, "task=" + ",".join(_list([*job, *listed]) for job in jobs)]


def specs_of(path: Path) -> list[str]:
    """The SPECs of a file: one a line, without comments (`#` to the end of the line) and empty lines."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{KEY}={path}: cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    specs = [spec for line in lines if (spec := re.sub(r"(^|\s)#.*", "", line).strip())]
    if not specs:
        raise UserError(f"{KEY}={path}: the file names no task; write one SPEC a line, as after task=.")
    return specs


def _sets(argument: str, key: str) -> bool:
    return argument.lstrip("+").startswith(f"{key}=")


def _path(argument: str) -> Path:
    value = _value(argument)
    if not isinstance(value, str) or not value:
        raise UserError(f"{argument}: {KEY} is the path of one file; for a sweep list the tasks in task=….")
    return Path(value).expanduser()


def _jobs(argument: str) -> list[list[str]]:
    """The SPECs that each job of a sweep over `task` has; of a single run the one list."""
    value = _value(argument)
    if isinstance(value, Sweep | Glob) and not isinstance(value, ChoiceSweep):
        raise UserError(f"{argument}: {KEY} goes together with names and lists of names.")
    jobs = value.list if isinstance(value, ChoiceSweep) else [value]
    return [_specs(job) for job in jobs or []]


def _specs(job: Any) -> list[str]:
    return [str(getattr(name, "text", name)) for name in (job if isinstance(job, list) else [job])]


def _value(argument: str) -> Any:
    try:
        (override,) = OverridesParser.create().parse_overrides([argument])
    except OverrideParseException as error:
        raise UserError(f"{argument}: cannot be read ({str(error).splitlines()[0]}).") from error
    return override.value()


def _list(specs: Sequence[str]) -> str:
    return f"[{','.join(quoted(spec) for spec in specs)}]"
