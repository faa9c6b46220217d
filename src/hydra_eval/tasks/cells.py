"""Which rows the results table will have: selection × task × shots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig, shared_key
from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.tasks.shots import shot_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One task with one number of shots: one row of the results table."""

    name: str
    key: str
    shots: int
    specs: tuple[str, ...] = ()
    """The values of `task=` that asked for it; the rows of groups follow from them."""


def cells(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> list[Cell]:
    """Selection × task × shots, without repeats; a task's only cell keeps the plain name."""
    wanted: dict[tuple[str, int], list[str]] = {}
    for text, spec in config.selection.items():
        for key, name in spec["tasks"].items():
            if tasks[key].task != name:
                raise UserError(shared_key(key, name, tasks[key].task))
            wanted.setdefault((key, shot_count(tasks[key], spec["shots"], config.fewshot)), []).append(text)
    keys = [key for key, _ in wanted]
    found = [
        Cell(
            name=tasks[key].task if keys.count(key) == 1 else f"{tasks[key].task}|{shots}",
            key=key,
            shots=shots,
            specs=tuple(specs),
        )
        for (key, shots), specs in wanted.items()
    ]
    _refuse_one_file_for_two(found)
    return found


def _refuse_one_file_for_two(found: Sequence[Cell]) -> None:
    owners: dict[str, str] = {}
    for cell in found:
        owner = owners.setdefault(samples_name(cell.name), cell.name)
        if owner != cell.name:
            raise UserError(f"'{owner}' and '{cell.name}' would share one samples file; ask for them in two runs.")
