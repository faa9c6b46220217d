"""How many examples a task gets, and where they may come from."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from hydra_eval.config.prompting import FewshotConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError

log = logging.getLogger(__name__)


def shot_count(task: TaskConfig, asked_by_spec: int | None, fewshot: FewshotConfig) -> int:
    """The one rule: `name|n`, else `fewshot.n`, else the task's `num_fewshot`, else 0.

    A 0 in the task's YAML gives way to `fewshot.n`, unless `fewshot.on_pinned=keep` (lm-eval's rule).
    """
    if asked_by_spec is not None:
        return _fitting(asked_by_spec, task)
    if fewshot.n is None:
        return _fitting(task.num_fewshot or 0, task)
    if task.num_fewshot == 0 and fewshot.n > 0 and task.output_type != "loglikelihood_rolling":
        if fewshot.on_pinned == "keep":
            log.info("%s: its file says num_fewshot: 0, which fewshot.on_pinned=keep keeps.", task.task)
            return 0
        log.info("%s: its file says num_fewshot: 0; fewshot.n=%d counts (fewshot.on_pinned).", task.task, fewshot.n)
    return _fitting(int(fewshot.n), task)


def refuse_two_counts(overrides: Sequence[str]) -> None:
    """Typing `fewshot.n` and `tasks.<key>.num_fewshot` together leaves open which one is meant."""
    keys = [override.partition("=")[0].lstrip("+") for override in overrides]
    own = [key for key in keys if key.startswith("tasks.") and key.endswith(".num_fewshot")]
    if "fewshot.n" in keys and own:
        raise UserError(
            f"fewshot.n and {own[0]} are both given. For one count of its own write the task as 'name|n', "
            "e.g. 'task=[gsm8k|8,arc_easy]' fewshot.n=5."
        )


def pool_split(task: TaskConfig, *, own_split: Any, override: str | None) -> Any:
    """The split, or list of splits, that examples come from: the run's choice, the task's, else training, …, test."""
    return override or own_split or task.training_split or task.validation_split or task.test_split


def _fitting(count: int, task: TaskConfig) -> int:
    if count > 0 and task.output_type == "loglikelihood_rolling":
        log.info("%s: perplexity of whole texts takes no examples; %d asked, 0 used.", task.task, count)
        return 0
    return count
