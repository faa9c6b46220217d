"""Which rows the results table will have: selection × task × shots × metric parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.spec import shown_parameters
from hydra_eval.config.task_config import TaskConfig, shared_key, task_key
from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.tasks.shots import shot_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One task with one number of shots and one set of metric parameters: one row of the results table."""

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
    specs: tuple[str, ...] = ()
    """The values of `task=` that asked for it; the rows of groups follow from them."""


def cells(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> list[Cell]:
    """Selection × task × shots × parameters, without repeats, in the order asked for.

    A task's only cell keeps the plain name; of several each says what is its own: `name@k=v|n`, and, where a group
    changed the task, the key instead of the name.
    """
    asked = _asked(config, tasks)
    keys_of: dict[str, set[str]] = {}
    for key, _, _ in asked:
        keys_of.setdefault(tasks[key].task, set()).add(key)
    counts = Counter(key for key, _, _ in asked)
    found = []
    for (key, shots, shown), specs in asked.items():
        base = tasks[key].task
        label = base if len(keys_of[base]) == 1 or key == task_key(base) else key
        found.append(
            Cell(
                name=label if counts[key] == 1 else f"{label}{shown}|{shots}",
                key=key,
                shots=shots,
                parameters=config.selection[specs[0]].get("parameters", {}),
                specs=tuple(specs),
            )
        )
    _refuse_one_file_for_two(found)
    return found


def _asked(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> dict[tuple[str, int, str], list[str]]:
    """(key, shots, parameters as text) → the SPECs that ask for it."""
    wanted: dict[tuple[str, int, str], list[str]] = {}
    for text, spec in config.selection.items():
        shown = shown_parameters(spec.get("parameters", {}))
        for key, name in spec["tasks"].items():
            if tasks[key].task != name:
                raise UserError(shared_key(key, name, tasks[key].task))
            shots = shot_count(tasks[key], spec["shots"], config.fewshot)
            wanted.setdefault((key, shots, shown), []).append(text)
    return wanted


def _refuse_one_file_for_two(found: Sequence[Cell]) -> None:
    owners: dict[str, Cell] = {}
    for cell in found:
        owner = owners.setdefault(samples_name(cell.name), cell)
        if owner is not cell:
            raise UserError(f"'{owner.name}' and '{cell.name}' would share one samples file; ask for them in two runs.")
