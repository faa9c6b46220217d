"""Which rows the results table will have: selection × task × shots × seed × order of the choices × parameters."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.spec import shown_parameters
from hydra_eval.config.task_config import TaskConfig, shared_key, task_key
from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.tasks.asks import Ask, told_apart
from hydra_eval.tasks.shots import shot_counts, takes_shots

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One task with one number of shots, seed, order of choices and set of metric parameters: one row of results."""

    name: str
    """Unique in the run."""
    key: str
    """Of `config.tasks`."""
    shots: int
    seed: int | None = None
    """Of its examples; None: what the run or the task's kind takes by default."""
    order: int = 0
    """Which order of the choices: 0 is the task's own."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What its metrics are told: name → plain value."""
    asks: tuple[Ask, ...] = ()
    """What it answers; the rows of groups follow from them."""


class _Point(NamedTuple):
    """What makes a cell one of its own."""

    key: str
    shown: str
    """Its parameters as text."""
    shots: int
    seed: int | None
    order: int


def cells(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> list[Cell]:
    """Every cell of the run, without repeats, in the order asked for.

    A task's only cell keeps the plain name; of several each says what is its own: `name@k=v|n|seed=s|order=k`, and,
    where a group changed the task, the key instead of the name.
    """
    asked = _asked(config, tasks)
    of_key: dict[str, list[_Point]] = defaultdict(list)
    for point in asked:
        of_key[point.key].append(point)
    labels = _labels(of_key, tasks)
    found = [
        Cell(
            name=_name(labels[point.key], point, of_key[point.key]),
            key=point.key,
            shots=point.shots,
            seed=point.seed,
            order=point.order,
            parameters=config.selection[asks[0].spec].get("parameters", {}),
            asks=tuple(asks),
        )
        for point, asks in asked.items()
    ]
    _refuse_one_file_for_two(found)
    return found


def _asked(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> dict[_Point, list[Ask]]:
    wanted: dict[_Point, list[Ask]] = {}
    for text, spec in config.selection.items():
        _say_which_count(text, spec["shots"], config.fewshot.n)
        shown = shown_parameters(spec.get("parameters", {}))
        for key, name in spec["tasks"].items():
            if tasks[key].task != name:
                raise UserError(shared_key(key, name, tasks[key].task))
            counts = shot_counts(tasks[key], spec["shots"], config.fewshot)
            for ask in _asks(text, counts, config):
                seed = ask.seed if takes_shots(tasks[key]) else None
                order = ask.order if _has_orders(tasks[key]) else 0
                point = _Point(key, shown, counts[ask.shots], seed, order)
                wanted.setdefault(point, []).append(ask)
    return wanted


def _asks(spec: str, counts: Mapping[int | None, int], config: RunConfig) -> Iterator[Ask]:
    for shots, seed, order in product(counts, config.fewshot.seeds or [None], range(config.prompt.choice_orders)):
        yield Ask(spec, shots, seed, order)


def _has_orders(task: TaskConfig) -> bool:
    """Its choices are ours to order; a Python class and an entry of a TASKS_TABLE word theirs themselves."""
    return task.output_type == "multiple_choice" and task.python_class is None and task.table is None


def _say_which_count(spec: str, shots: int | None, listed: Any) -> None:
    if shots is not None and isinstance(listed, list) and listed != [shots]:
        log.info("task=%s: its own number of shots counts; fewshot.n=%s has no effect on it.", spec, listed)


def _labels(keys: Iterable[str], tasks: Mapping[str, TaskConfig]) -> dict[str, str]:
    """Key → the task's name, or the key itself where a group changed the task and another key has the name."""
    keys_of: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        keys_of[tasks[key].task].append(key)
    return {
        key: base if len(named) == 1 or key == task_key(base) else key
        for base, named in keys_of.items()
        for key in named
    }


def _name(label: str, point: _Point, of_task: Sequence[_Point]) -> str:
    """Seed and order are told where they vary among the task's cells."""
    if len(of_task) == 1:
        return label
    return told_apart(
        f"{label}{point.shown}",
        shots=point.shots,
        seed=point.seed if len({other.seed for other in of_task}) > 1 else None,
        order=point.order if len({other.order for other in of_task}) > 1 else None,
    )


def _refuse_one_file_for_two(found: Sequence[Cell]) -> None:
    owners: dict[str, Cell] = {}
    for cell in found:
        owner = owners.setdefault(samples_name(cell.name), cell)
        if owner is not cell:
            raise UserError(f"'{owner.name}' and '{cell.name}' would share one samples file; ask for them in two runs.")
