"""From what Hydra composed to typed objects; after this nothing sees OmegaConf again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hydra_eval.config.explain import nested_schema, unknown_name
from hydra_eval.config.folder import job_folder_name
from hydra_eval.config.help_text import group_options
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_folders import task_folders
from hydra_eval.config.task_source import TaskSource
from hydra_eval.errors import UserError
from hydra_eval.resources import PACKAGE, conf_folder

OPEN = ("prompt.template_args", "model.kwargs", "model.quantization", "generation.extra", "filters", "metrics")
"""Mappings that take any key without a `+`: what may stand there is found out by what they are handed to."""


class TaskFolders(SearchPathPlugin):
    """Adds every task folder to Hydra's search path, as one source over one index."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        search_path.append("hydra-eval", f"tasks://{task_folders()}")
        # Also under --config-path, which replaces this folder: the groups of Hydra's logging lie here.
        search_path.append("hydra-eval", f"file://{conf_folder()}")


def register() -> None:
    """Make the task source, the schema and the resolvers known to Hydra. Call once, before Hydra starts."""
    Plugins.instance().register(TaskSource)
    Plugins.instance().register(TaskFolders)
    ConfigStore.instance().store(name="run_schema", node=_schema())
    OmegaConf.register_new_resolver("bundled", lambda path: str(PACKAGE / path), replace=True)
    OmegaConf.register_new_resolver("job_folder", job_folder_name, replace=True)
    OmegaConf.register_new_resolver("group_options", group_options, replace=True)


def _schema() -> DictConfig:
    schema = OmegaConf.structured(RunConfig)
    for path in OPEN:
        OmegaConf.set_struct(OmegaConf.select(schema, path), False)
    return cast(DictConfig, schema)


def typed(cfg: DictConfig) -> RunConfig:
    """The run's config as checked dataclasses.

    Raises UserError for a key that the schema does not have, which Hydra lets through after a `+`.
    """
    try:
        content = cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True))
        refuse_unknown_keys(content, RunConfig, path="")
        if OmegaConf.get_type(cfg) is not RunConfig:  # a replayed `.hydra/config.yaml` comes without the schema
            cfg = cast(DictConfig, OmegaConf.merge(OmegaConf.structured(RunConfig), cfg))
        config = OmegaConf.to_object(cfg)
    except OmegaConfBaseException as error:
        where = f"{error.full_key}: " if error.full_key else ""
        raise UserError(f"{where}{str(error).splitlines()[0]}.") from error
    assert isinstance(config, RunConfig)
    refuse_unchosen(config)
    refuse_two_files(config)
    return config


def refuse_unchosen(config: RunConfig) -> None:
    """`tasks.*` on the command line may change the fields of a chosen task, and nothing else."""
    chosen = {key for spec in config.selection.values() for key in spec["tasks"]}
    whole = {key for key, content in config.tasks.items() if isinstance(content, Mapping) and "file" in content}
    for key in sorted((chosen | set(config.tasks)) - (chosen & whole)):
        raise UserError(f"tasks.{key}: task=… chooses the tasks of a run; tasks.KEY.FIELD=… only changes their fields.")


def refuse_two_files(config: RunConfig) -> None:
    """Two files asked for by their paths may define one name, and the config has room for one of them."""
    for text, spec in config.selection.items():
        for key in spec["tasks"]:
            if (found := config.tasks[key]["file"]) != spec.get("file", found):
                raise UserError(
                    f"task={text}: '{spec['tasks'][key]}' is also asked for from {found}; "
                    "ask for them in two runs, or rename one."
                )


def refuse_unknown_keys(content: Mapping[str, Any], schema: Any, *, path: str) -> None:
    """Walk config and schema side by side; the first key that is only in the config is an error."""
    known = [field.name for field in dataclasses.fields(schema)]
    for key, value in content.items():
        if key not in known:
            raise UserError(unknown_name(path, str(key), known))
        nested = nested_schema(schema, key)
        if nested is not None and isinstance(value, Mapping):
            refuse_unknown_keys(value, nested, path=f"{path}{key}.")
