"""For task code that loads data sets itself: `data.root`, offline mode and retries hold for it too."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of

NAME = "load_dataset"
NOT_OURS = ("streaming", "features")
"""Arguments that are left to `datasets`."""


@contextmanager
def local_loading(task: TaskConfig, data: DataConfig) -> Iterator[None]:
    """Within it, every module's `datasets.load_dataset` finds data as the task's own `dataset_path` would."""
    import datasets

    original = datasets.load_dataset
    signature = inspect.signature(original)

    def load_dataset(*args: Any, **kwargs: Any) -> Any:
        asked = dict(signature.bind(*args, **kwargs).arguments)
        asked |= asked.pop("config_kwargs", {})
        if any(asked.get(key) for key in NOT_OURS):
            return original(*args, **kwargs)
        with _everywhere(load_dataset, original):  # what is called from here is the library's own
            return _found(asked, task, data)

    with _everywhere(original, load_dataset):
        yield


def _found(asked: dict[str, Any], task: TaskConfig, data: DataConfig) -> Any:
    import datasets

    path, name, split = asked.pop("path"), asked.pop("name", None), asked.pop("split", None)
    given = {key: value for key, value in asked.items() if value is not None}
    wanted = replace(task, dataset_path=path, dataset_name=name, dataset_kwargs=given)
    splits: Mapping[str, Any] = load(source_of(wanted, data), retries=data.retries).splits
    if split is None:
        return datasets.DatasetDict(splits)
    return splits[split] if split in splits else _sliced(splits, str(split), wanted)


def _sliced(splits: Mapping[str, Any], split: str, task: TaskConfig) -> Any:
    """`train[:100]` and the like, of one split."""
    base, bracket, slice_ = split.partition("[")
    if not bracket or base not in splits:
        raise ValueError(f"'{task.dataset_path}' has no split '{split}'; splits: {', '.join(splits)}")
    rows = splits[base]
    first, _, last = slice_.rstrip("]").partition(":")
    return rows.select(range(len(rows))[_bound(first, len(rows)) : _bound(last, len(rows))])


def _bound(text: str, rows: int) -> int | None:
    if not text:
        return None
    return round(float(text.rstrip("%")) * rows / 100) if text.endswith("%") else int(text)


@contextmanager
def _everywhere(old: Callable[..., Any], new: Callable[..., Any]) -> Iterator[None]:
    """`new` in place of `old` in every module that holds it: task code imports the function by name, too."""
    holders = [module for module in list(sys.modules.values()) if getattr(module, "__dict__", {}).get(NAME) is old]
    for module in holders:
        setattr(module, NAME, new)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, NAME, old)
