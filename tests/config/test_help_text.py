from __future__ import annotations

import re

from hydra_eval.config.command_line import GROUPS
from hydra_eval.config.help_text import group_options

from .conftest import Compose


def test_every_group_has_a_line_with_its_options_and_the_tasks_their_number(composing: Compose) -> None:
    lines = dict(line.split(": ", 1) for line in group_options().splitlines())
    assert set(lines) == set(GROUPS)
    assert lines["tracker"] == "none, wandb"
    assert re.fullmatch(r"\d+ tasks, \d+ groups and \d+ tags; 'hydra-eval list' names them", lines["task"])
