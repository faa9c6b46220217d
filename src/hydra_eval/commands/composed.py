"""A run's config without the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hydra import compose, initialize_config_dir
from hydra.errors import CompactHydraException

from hydra_eval.config.command_line import parse_command_line
from hydra_eval.config.compose import register, typed
from hydra_eval.config.explain import explain
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.tasks_file import with_tasks_file
from hydra_eval.errors import UserError
from hydra_eval.resources import conf_folder


def composed(overrides: Sequence[str]) -> RunConfig:
    """What `run.py` would compose from the same overrides. Raises UserError where it cannot."""
    register()
    parse_command_line(overrides).check()
    with _in_our_words(), initialize_config_dir(version_base="1.3", config_dir=str(conf_folder())):
        return typed(compose(config_name="config", overrides=with_tasks_file(overrides)))


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except CompactHydraException as error:
        raise UserError(explain(error)) from error
