"""How many rows of a streamed data set a run wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.choice import Choice
from hydra_eval.data.documents import evaluated_splits

POOL_ROWS = 1_000
"""Rows of a streamed split that examples are drawn from; a fixed number, so that no limit changes a prompt."""


def heads_of(
    task: TaskConfig, data: DataConfig, choice: Choice, *, pool: Sequence[str]
) -> Mapping[str, int | None] | None:
    """Split → its first rows to read (None: all of them); None where nothing is streamed.

    A count of documents needs that many rows of each split, before the task's `process_docs`. Whatever needs to know
    all documents (a share, a seeded subset, another order, a look for duplicates) reads them all.
    """
    if not (data.streaming or (task.dataset_kwargs or {}).get("streaming")):
        return None
    wanted = _documents_wanted(choice, data)
    heads: dict[str, int | None] = dict.fromkeys(pool, POOL_ROWS)
    for split in evaluated_splits(task):
        heads[split] = None if wanted is None else max(wanted, POOL_ROWS if split in pool else 0)
    return heads


def _documents_wanted(choice: Choice, data: DataConfig) -> int | None:
    if data.shuffle_seed is not None or choice.dedupe or choice.subset is not None:
        return None
    if choice.ids is not None:
        return max(choice.ids) + 1
    return None if choice.limit is None or choice.limit < 1 else int(choice.limit)
