"""The command line as far as it must be known before Hydra composes: what kind of call, which overrides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override, QuotedString, Sweep
from hydra.errors import OverrideParseException

from hydra_eval.errors import UserError

GROUPS = ("task", "model", "fewshot_strategy", "filters", "metrics", "tracker")
"""Config groups of the run; what is chosen from them is a name, or a list of names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """Hydra's flags and the overrides beside them."""

    argv: tuple[str, ...]
    overrides: tuple[str, ...]
    runs: bool
    """False for --help, --cfg, --info, --version and shell completion."""
    multirun: bool

    def value(self, key: str) -> str | None:
        """The last value given to `key`, unquoted; None where it is not on the command line."""
        values = [override.partition("=")[2] for override in self.overrides if _sets(override, key)]
        return values[-1].strip("'\"") if values else None

    @property
    def named_folder(self) -> Path | None:
        """The folder that the user chose for this run or sweep."""
        key = "hydra.sweep.dir" if self.multirun else "hydra.run.dir"
        value = self.value(key)
        if value is not None and "${" in value:
            raise UserError(f"{key}={value}: name a plain folder; it is picked before Hydra resolves anything.")
        if value == "":
            raise UserError(f"{key}= is empty: name a folder.")
        return None if value is None else Path(value)

    def within(self, folder: Path, *, is_main: bool) -> list[str]:
        """The command line that makes Hydra use `folder`; other ranks than the main one leave no files of Hydra's."""
        key = "hydra.sweep.dir" if self.multirun else "hydra.run.dir"
        extra = [f"{key}={quoted(str(folder))}"]
        if not is_main:
            extra += ["hydra.output_subdir=null", "hydra/job_logging=worker", "hydra/hydra_logging=none"]
        if self.multirun:
            extra.append(f"hydra.job.config.override_dirname.exclude_keys=[{','.join(self._constant_keys())}]")
        # Flags first: behind an override Hydra's own parser takes what follows a flag for something unknown.
        flags = [argument for argument in self.argv if argument not in self.overrides]
        return [*flags, *(override for override in self.overrides if not _sets(override, key)), *extra]

    def check(self) -> None:
        """Raises UserError for what Hydra's grammar cannot read, and for a group's choice that is not a name."""
        for override in self._parsed():
            if override.key_or_group not in GROUPS or override.is_delete():
                continue
            value = override.value()
            for choice in value.list if isinstance(value, ChoiceSweep) else [value]:
                if not _is_choice(choice, has_node=override.key_or_group not in ("task", "fewshot_strategy")):
                    raise UserError(
                        f"{override.input_line}: {override.key_or_group} must be a name or a list of names; "
                        "one that reads like a number or null goes into quotes, inside those of the shell."
                    )

    def _parsed(self) -> list[Override]:
        try:
            return OverridesParser.create().parse_overrides(list(self.overrides))
        except OverrideParseException as error:
            given = error.override
            key, equals, _ = given.partition("=")
            if not equals:
                raise UserError(
                    f"'{given}' sets nothing: write KEY=VALUE; a task is chosen by task={given}."
                ) from error
            example = "'…'" if key != "task" else "'aime24@k=4|0'\" or \"task=['aime24@k=4|0','name(x)']"
            raise UserError(
                f"{given}: cannot be read ({str(error).splitlines()[0]}). Put odd characters into quotes, inside "
                f'those of the shell: "{key}={example}".'
            ) from error

    def repeated_specs(self) -> list[str]:
        """Values of one `task=[…]` that are there more than once; Hydra takes them once."""
        lists = (override.value() for override in self._parsed() if override.key_or_group == "task")
        names = [str(name) for value in lists if isinstance(value, list) for name in value]
        return [name for name in dict.fromkeys(names) if names.count(name) > 1]

    def _constant_keys(self) -> list[str]:
        """Keys of the overrides that are the same in every job: they would only lengthen the jobs' folder names."""
        return [override.key_or_group for override in self._parsed() if not override.is_sweep_override()]


def _sets(override: str, key: str) -> bool:
    return override.lstrip("+").startswith(f"{key}=")


def _is_choice(value: Any, *, has_node: bool) -> bool:
    """A mapping sets the keys of a config node with the group's name; a glob or range is Hydra's to expand."""
    names = value if isinstance(value, list) else [value]
    if isinstance(value, Mapping):
        return has_node
    return isinstance(value, Sweep | Glob) or all(isinstance(name, str | QuotedString) for name in names)


def quoted(text: str) -> str:
    """The text as a value that Hydra's grammar reads back: only before a quote or the end is a backslash doubled."""
    escaped = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), text)
    return f"'{escaped}'"


def parse_command_line(argv: Sequence[str]) -> CommandLine:
    """Take `argv` (without the program's name) apart with Hydra's own parser."""
    flags = get_args_parser().parse_intermixed_args(list(argv))
    asks = flags.help or flags.hydra_help or flags.cfg or flags.info is not None or flags.shell_completion
    return CommandLine(argv=tuple(argv), overrides=tuple(flags.overrides), runs=not asks, multirun=bool(flags.multirun))
