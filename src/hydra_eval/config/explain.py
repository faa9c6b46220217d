"""Hydra's own errors in our words, where its advice would lead nowhere."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException

from hydra_eval.config.command_line import GROUPS
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import KNOWN
from hydra_eval.errors import did_you_mean, known_names


def explain(error: HydraException) -> str:
    """What to show a user: unknown keys and options with their neighbours, anything else as Hydra says it."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options is not None:
        return _unknown_option(error.missing_cfg_file, list(error.options))
    unknown = re.match(r"Could not override '([^']+)'", str(error))
    if unknown and (message := unknown_key(unknown.group(1))):
        return message
    cause = error.__cause__
    if not isinstance(cause, OmegaConfBaseException):
        return str(error)
    # OmegaConf's later lines name its own types.
    return f"{str(error).rstrip('.')}: {str(cause).splitlines()[0]}"


def unknown_key(path: str) -> str | None:
    """Why a dotted key of the command line does not exist; None where the schema does not tell."""
    if path.startswith("hydra."):
        return None
    # A misspelt group reads like a misspelt key, and only whole groups can be meant by a key without a dot.
    known, seen = _names(RunConfig) + ([] if "." in path else list(GROUPS)), ""
    schema: Any = RunConfig
    for part in path.split("."):
        if part not in known:
            return unknown_name(seen, part, known)
        schema = nested_schema(schema, part)
        seen = f"{seen}{part}."
        if seen == "tasks.":
            return _unknown_task_key(path)
        if schema is None:
            return None
        known = _names(schema)
    return None


def unknown_name(above: str, name: str, known: list[str]) -> str:
    below = f" below {above[:-1]}" if above else ""
    return f"The config has no key '{above}{name}'.{did_you_mean(name, known)} Known{below}: {known_names(set(known))}."


def nested_schema(schema: Any, name: str) -> Any:
    """The dataclass that stands at `name`; None for a plain value or free keys."""
    if schema is None:
        return None
    factory = next((known.default_factory for known in dataclasses.fields(schema) if known.name == name), None)
    return factory if dataclasses.is_dataclass(factory) else None


def _names(schema: Any) -> list[str]:
    return [known.name for known in dataclasses.fields(schema)]


def _unknown_task_key(path: str) -> str:
    parts = path.split(".")
    if len(parts) < 3 or parts[2] in KNOWN:
        return f"{path}: the run has no task with the key '{parts[1]}'; task=… chooses which it has."
    return unknown_name(f"tasks.{parts[1]}.", parts[2], [key for key in KNOWN if key != "file"])


def _unknown_option(file: str, options: list[str]) -> str:
    group, _, option = file.rpartition("/")
    return f"{group}={option}: there is no such option.{did_you_mean(option, options)} Known: {known_names(options)}."
