"""How many examples a task gets, and where they may come from."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydra_eval.config.prompting import FewshotConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.listed_shots import listed

log = logging.getLogger(__name__)


def shot_counts(task: TaskConfig, asked_by_spec: int | None, fewshot: FewshotConfig) -> dict[int | None, int]:
    """What is asked → what the task gets. The one rule: `name|n`, else `fewshot.n`, else the number of examples that
    the run names, else the task's `num_fewshot`, else 0; None stands for the last two.

    A 0 in the task's YAML gives way to `fewshot.n`, unless `fewshot.on_pinned=keep` (lm-eval's rule). A task with
    `fixed: true` in its `fewshot_config` has its own number alone: UserError, or that under `fewshot.on_fixed=keep`.
    """
    asked = _asked(asked_by_spec, fewshot)
    own = task.num_fewshot or 0
    counts: dict[int | None, int] = {None: own} if asked is None else {count: count for count in asked}
    others = [count for count in counts.values() if count != own]
    if not takes_shots(task):
        if any(counts.values()):
            log.info(
                "%s: perplexity of whole texts takes no examples; %s asked, 0 used.", task.task, _list(counts.values())
            )
        return dict.fromkeys(counts, 0)
    if others and _is_fixed(task):
        _keep_fixed(task, own, others, fewshot)
        return dict.fromkeys(counts, own)
    if others and task.num_fewshot == 0 and asked_by_spec is None:
        return _unpinned(task, counts, fewshot)
    return counts


def takes_shots(task: TaskConfig) -> bool:
    return task.output_type != "loglikelihood_rolling"


def _asked(by_spec: int | None, fewshot: FewshotConfig) -> list[int] | None:
    if by_spec is not None:
        return [by_spec]
    if fewshot.n is not None:
        return fewshot.n if isinstance(fewshot.n, list) else [fewshot.n]
    rows = listed(fewshot)
    return None if rows is None else [len(rows)]


def _is_fixed(task: TaskConfig) -> bool:
    fixed = (task.fewshot_config or {}).get("fixed", False)
    if not isinstance(fixed, bool):
        raise UserError(f"{task.file}: fewshot_config.fixed={fixed!r} must be true or false.")
    return fixed


def _keep_fixed(task: TaskConfig, own: int, others: Sequence[int], fewshot: FewshotConfig) -> None:
    if fewshot.on_fixed == "keep":
        log.info("%s: its examples are fixed at %d (fewshot.on_fixed=keep); not %s.", task.task, own, _list(others))
        return
    raise UserError(
        f"{task.file}: '{task.task}' has its number of examples fixed at {own} (fewshot_config), but {_list(others)} "
        f"are asked for. Ask for {own} ('{task.task}|{own}'), or let it keep its own with fewshot.on_fixed=keep."
    )


def _unpinned(task: TaskConfig, counts: Mapping[int | None, int], fewshot: FewshotConfig) -> dict[int | None, int]:
    if fewshot.on_pinned == "keep":
        log.info("%s: its file says num_fewshot: 0, which fewshot.on_pinned=keep keeps.", task.task)
        return dict.fromkeys(counts, 0)
    text = "%s: its file says num_fewshot: 0; the %s asked for count (fewshot.on_pinned)."
    log.info(text, task.task, _list(counts.values()))
    return dict(counts)


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


def _list(counts: Iterable[int]) -> str:
    return ", ".join(map(str, counts))
