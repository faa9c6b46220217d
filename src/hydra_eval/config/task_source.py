"""Serves every task folder as options of the Hydra group `task`.

Whatever is asked for — a task, a group, `name|shots` — the answer has the package `_global_` and the content
`{tasks, groups, selection}`, so that one choice and a list of choices compose to the same shape. The source object
holds nothing but its path, because Hydra composes twice per start and deep-copies its sources.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import OmegaConf

from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.errors import UserError

GROUP = "task"


class TaskSource(ConfigSource):
    """`tasks://FOLDER[:FOLDER…]`, user folders first, the bundled shelf last."""

    @staticmethod
    def scheme() -> str:
        return "tasks"

    def available(self) -> bool:
        return all(folder.is_dir() for folder in self._folders())

    def is_group(self, config_path: str) -> bool:
        return config_path.strip("/") in ("", GROUP)

    def is_config(self, config_path: str) -> bool:
        # Also for a name nobody knows: `load_config` then names the nearest ones, where Hydra would list all.
        return config_path.startswith(f"{GROUP}/")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        if config_path.strip("/") == "":
            return [] if results_filter is ObjectType.CONFIG else [GROUP]
        if config_path.strip("/") != GROUP or results_filter is ObjectType.GROUP:
            return []
        names = sorted(task_index(self._folders()).entries)
        return names + _within_list(names)

    def load_config(self, config_path: str) -> ConfigResult:
        spec = config_path.removeprefix(f"{GROUP}/")
        try:
            content = escaped(options_for(spec, task_index(self._folders())))
        except UserError as error:
            # Printed by Hydra without a traceback.
            raise ConfigCompositionException(str(error)) from error
        return ConfigResult(
            provider=self.provider,
            path=f"{self.scheme()}://{self.path}",
            config=OmegaConf.create(content),
            header={"package": "_global_"},
        )

    def _folders(self) -> tuple[Path, ...]:
        return tuple(Path(folder) for folder in self.path.split(os.pathsep))


def _within_list(names: list[str]) -> list[str]:
    """While a shell completes `task=[a,b…`, which Hydra takes for one name: the names behind what is typed."""
    word = os.environ.get("COMP_LINE", "").rpartition(" ")[2]
    typed = word.partition(f"{GROUP}=")[2]
    begun = typed[: typed.rfind(",") + 1] or typed[:1]
    return [f"{begun}{name}" for name in names] if begun.startswith("[") else []


def escaped(value: Any, keys: tuple[str, ...] = ()) -> Any:
    """The same value for OmegaConf: `${` in a prompt is text here, not an interpolation; a date is the text it was."""
    if isinstance(value, str):
        if value == "???":
            raise UserError(
                f"{'.'.join(keys)}: the text '???' cannot stand alone, the config system reads it as a gap."
            )
        return re.sub(r"(\\*)\$\{", lambda match: match.group(1) * 2 + r"\${", value)
    if isinstance(value, Mapping):
        return {key: escaped(item, (*keys, str(key))) for key, item in value.items()}
    if isinstance(value, date):
        return str(value)
    return [escaped(item, keys) for item in value] if isinstance(value, list) else value
