from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig, RunConfig
from hydra_eval.config.task_config import TaskConfig, fill_defaults
from hydra_eval.errors import UserError
from hydra_eval.tasks.cells import Cell, cells


def cells_of(*specs: tuple[str, dict[str, str], int | None, dict[str, Any]], n: int | None = None) -> list[Cell]:
    """The cells of `(SPEC, tasks, shots, parameters)`; a task's file says one shot."""
    selection = {
        text: {"name": text, "tasks": tasks, "shots": shots, "parameters": parameters}
        for text, tasks, shots, parameters in specs
    }
    names = {key: name for _, tasks, _, _ in specs for key, name in tasks.items()}
    configs = {
        key: TaskConfig(**fill_defaults({"task": name, "num_fewshot": 1}, path=Path("t.yaml")))
        for key, name in names.items()
    }
    return cells(RunConfig(selection=selection, fewshot=FewshotConfig(n=n)), configs)


def names(*specs: Any, n: int | None = None) -> list[str]:
    return [cell.name for cell in cells_of(*specs, n=n)]


A, B, CHANGED = {"a": "a"}, {"b": "b"}, {"g__a": "a"}


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ([("a", A, None, {})], ["a"]),
        ([("a|5", A, 5, {}), ("b", B, None, {})], ["a", "b"]),
        ([("a|5", A, 5, {}), ("a|0", A, 0, {})], ["a|5", "a|0"]),
        ([("a", A, None, {}), ("a|1", A, 1, {})], ["a"]),
        ([("a@k=4", A, None, {"k": 4})], ["a"]),
        ([("a@k=4", A, None, {"k": 4}), ("a@k=8", A, None, {"k": 8})], ["a@k=4|1", "a@k=8|1"]),
        ([("a", A, None, {}), ("a@k=8@j='x'", A, None, {"k": 8, "j": "x"})], ["a|1", "a@j='x'@k=8|1"]),
        ([("x", A, None, {"k": 1, "j": 2}), ("y", A, None, {"j": 2, "k": 1})], ["a"]),
        ([("g", CHANGED, None, {})], ["a"]),
        ([("g", CHANGED, None, {}), ("a", A, None, {})], ["g__a", "a"]),
        ([("g", CHANGED, None, {}), ("a", A, None, {}), ("a|2", A, 2, {})], ["g__a", "a|1", "a|2"]),
        ([("g", CHANGED | {"g__a_2": "a"}, None, {})], ["g__a", "g__a_2"]),
        ([("g", {"a_b": "a.b"}, 3, {}), ("h", {"a_b": "a.b"}, 4, {})], ["a.b|3", "a.b|4"]),
    ],
)
def test_names_say_what_tells_the_cells_apart(specs: Any, expected: list[str]) -> None:
    assert names(*specs) == expected


def test_a_cell_knows_what_it_was_asked_with_and_by_whom() -> None:
    first, second = cells_of(("a@k=4", A, None, {"k": 4}), ("g|2", A | B, 2, {}), ("a@k=4|1", A, 1, {"k": 4}))[:2]
    assert (first.key, first.shots, first.parameters, first.specs) == ("a", 1, {"k": 4}, ("a@k=4", "a@k=4|1"))
    assert (second.key, second.shots, second.parameters, second.specs) == ("a", 2, {}, ("g|2",))


def test_a_task_that_two_groups_share_is_computed_once() -> None:
    assert names(("g", A | B, None, {}), ("h", B | {"c": "c"}, None, {})) == ["a", "b", "c"]


def test_the_order_is_that_of_the_request() -> None:
    assert names(("b", B, None, {}), ("a", A, None, {})) == ["b", "a"]


def test_a_config_saved_before_there_were_parameters_still_runs() -> None:
    config = TaskConfig(**fill_defaults({"task": "a"}, path=Path("t.yaml")))
    (cell,) = cells(RunConfig(selection={"a": {"name": "a", "tasks": A, "shots": None}}), {"a": config})
    assert cell.parameters == {}


def test_two_cells_with_one_samples_file_are_refused() -> None:
    with pytest.raises(UserError, match=r"'a\|5' and 'a_5' would share one samples file"):
        names(("a|5", A, 5, {}), ("a|6", A, 6, {}), ("x", {"a_5": "a_5"}, None, {}))


def test_one_key_for_two_names_is_refused() -> None:
    with pytest.raises(UserError, match=r"'a\.b' and 'a_b' have the same key, tasks\.a_b"):
        names(("a.b", {"a_b": "a.b"}, None, {}), ("a_b", {"a_b": "a_b"}, None, {}))
