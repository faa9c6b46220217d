"""What a run asks of each task: how many documents, or which."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hydra_eval.config.schema import RunConfig, check_ids
from hydra_eval.errors import UserError, did_you_mean, known_names

NamesOf: TypeAlias = Mapping[str, Sequence[str]]
"""Cell → the names it answers to: its own, its task's, its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """A seeded choice."""

    n: Any
    """A count, or a share below 1."""
    seed: int
    stratify: str | None
    """Column whose values keep their shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a run asks of one task; of limit, ids and subset at most one."""

    limit: Any = None
    """A count, or a share below 1."""
    ids: tuple[int, ...] | None = None
    subset: Subset | None = None
    dedupe: bool = False

    @property
    def name(self) -> str | None:
        """The key of the run's config that chooses."""
        given = {"limit": self.limit, "sample_ids": self.ids, "subset": self.subset}
        return next((name for name, value in given.items() if value is not None), None)


def choices(tasks: NamesOf, config: RunConfig) -> dict[str, Choice]:
    """Cell → its choice. Raises UserError for a name in `limit` or `sample_ids` that is no task of the run."""
    limits = config.limit if isinstance(config.limit, Mapping) else None
    ids = _numbers(config.sample_ids, tasks)
    for given, where in ((limits, "limit"), (ids, "sample_ids")):
        _check_names(given or {}, tasks, where)
    return {
        cell: Choice(
            limit=config.limit if limits is None else _of(names, limits),
            ids=_of(names, ids or {}),
            subset=_subset(config),
            dedupe=config.data.dedupe,
        )
        for cell, names in tasks.items()
    }


def _subset(config: RunConfig) -> Subset | None:
    asked = config.subset
    if asked.n is None:
        return None
    return Subset(n=asked.n, seed=config.seed if asked.seed is None else asked.seed, stratify=asked.stratify)


def _of(names: Sequence[str], given: Mapping[str, Any]) -> Any:
    return next((given[name] for name in names if name in given), None)


def _check_names(given: Iterable[str], tasks: NamesOf, where: str) -> None:
    known = _known(tasks)
    for name in given:
        if name not in known:
            near = did_you_mean(str(name), known)
            raise UserError(f"{where}: '{name}' is no task of this run.{near} Tasks: {known_names(tasks)}.")


def _known(tasks: NamesOf) -> set[str]:
    return {name for names in tasks.values() for name in names}


def _numbers(given: Any, tasks: NamesOf) -> dict[str, tuple[int, ...]] | None:
    """Task → document numbers; of a file, which may come from a larger run, the tasks of this one."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {name: tuple(ids) for name, ids in given.items()}
    content = _read(Path(given))
    found = {name: ids for name, ids in content.items() if name in _known(tasks)}
    for name, ids in found.items():
        check_ids(f"sample_ids={given}, '{name}'", ids)
    if not found:
        raise UserError(f"sample_ids={given}: has none of this run's tasks. Its tasks: {known_names(content)}.")
    return {name: tuple(ids) for name, ids in found.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.expanduser().read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UserError(f"sample_ids={path}: cannot be read: {error}.") from error
    if not isinstance(content, dict):
        raise UserError(f"sample_ids={path}: must hold a JSON object, task → list of document numbers.")
    return content
