from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.config.schema import FewshotConfig, RunConfig
from hydra_eval.config.task_config import TaskConfig, fill_defaults
from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.tasks.asks import Ask
from hydra_eval.tasks.cells import Cell, cells

Spec = tuple[str, dict[str, str], int | None, dict[str, Any]]
"""(SPEC, tasks, shots, parameters)."""


def cells_of(
    *specs: Spec, n: Any = None, seeds: Any = None, orders: int = 1, task: Mapping[str, Any] | None = None
) -> list[Cell]:
    """The cells of a run; a task's file says one shot, unless `task` has it otherwise."""
    selection = {
        text: {"name": text, "tasks": tasks, "shots": shots, "parameters": parameters}
        for text, tasks, shots, parameters in specs
    }
    names = {key: name for _, tasks, _, _ in specs for key, name in tasks.items()}
    configs = {
        key: TaskConfig(**fill_defaults({"task": name, "num_fewshot": 1, **(task or {})}, path=Path("t.yaml")))
        for key, name in names.items()
    }
    prompt = PromptConfig(choice_orders=orders)
    return cells(RunConfig(selection=selection, fewshot=FewshotConfig(n=n, seeds=seeds), prompt=prompt), configs)


def names(*specs: Any, **asked: Any) -> list[str]:
    return [cell.name for cell in cells_of(*specs, **asked)]


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
    assert (first.key, first.shots, first.parameters) == ("a", 1, {"k": 4})
    assert first.asks == (Ask("a@k=4"), Ask("a@k=4|1", 1))
    assert (second.key, second.shots, second.parameters, second.asks) == ("a", 2, {}, (Ask("g|2", 2),))


CHOICE = {"output_type": "multiple_choice"}
ROLLING = {"output_type": "loglikelihood_rolling"}
ONE: Spec = ("a", A, None, {})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"n": [5]}, ["a"]),
        ({"n": [0, 5]}, ["a|0", "a|5"]),
        ({"seeds": [7]}, ["a"]),
        ({"seeds": [1, 2]}, ["a|1|seed=1", "a|1|seed=2"]),
        ({"n": [0, 5], "seeds": [2, 1]}, ["a|0|seed=2", "a|0|seed=1", "a|5|seed=2", "a|5|seed=1"]),
        ({"n": [0, 5], "seeds": [7]}, ["a|0", "a|5"]),
        ({"orders": 2, "task": CHOICE}, ["a|1|order=0", "a|1|order=1"]),
        ({"orders": 2}, ["a"]),
        ({"orders": 2, "task": CHOICE | {"table": "t.py"}}, ["a"]),
        ({"n": [2], "seeds": [3, 4], "orders": 2, "task": CHOICE},
         ["a|2|seed=3|order=0", "a|2|seed=3|order=1", "a|2|seed=4|order=0", "a|2|seed=4|order=1"]),
        ({"n": [0, 5], "seeds": [1, 2], "orders": 2, "task": ROLLING}, ["a"]),
    ],
    ids=["one count", "counts", "one seed", "seeds", "both", "counts and one seed", "orders", "orders of no choices",
         "a table words itself", "all", "whole texts"],
)  # fmt: skip
def test_lists_make_cells_that_say_what_varies(asked: dict[str, Any], expected: list[str]) -> None:
    assert names(ONE, **asked) == expected


def test_three_counts_and_three_seeds_are_nine_cells() -> None:
    found = cells_of(ONE, n=[0, 1, 5], seeds=[1, 2, 3])
    assert [(cell.shots, cell.seed) for cell in found] == [(n, seed) for n in (0, 1, 5) for seed in (1, 2, 3)]


def test_one_seed_of_a_list_is_the_seed() -> None:
    assert [cell.seed for cell in cells_of(ONE, seeds=[7])] == [7]


def test_a_count_of_its_own_leaves_the_list_out_and_a_line_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert names(("a|8", A, 8, {}), ("b", B, None, {}), n=[0, 5]) == ["a", "b|0", "b|5"]
    assert caplog.messages == ["task=a|8: its own number of shots counts; fewshot.n=[0, 5] has no effect on it."]


def test_a_cell_that_makes_no_difference_answers_for_all() -> None:
    (cell,) = cells_of(ONE, n=[0, 5], seeds=[1, 2], task=ROLLING)
    assert cell.asks == (Ask("a", 0, 1), Ask("a", 0, 2), Ask("a", 5, 1), Ask("a", 5, 2))
    assert (cell.shots, cell.seed) == (0, None)


COUNTS = st.lists(st.integers(0, 30), min_size=1, max_size=4, unique=True)
TASKS = st.dictionaries(st.sampled_from(["a", "g__a", "b_c"]), st.just("a"), min_size=1).map(
    lambda tasks: {key: "b.c" if key == "b_c" else name for key, name in tasks.items()}
)
PARAMETERS = st.sampled_from([{}, {"k": 4}, {"k": 8}, {"k": 4, "j": "x"}])
SPECS = st.lists(st.tuples(TASKS, st.none() | st.integers(0, 9), PARAMETERS), min_size=1, max_size=4)
ASKED = st.fixed_dictionaries(
    {
        "n": st.none() | st.integers(0, 9) | COUNTS,
        "seeds": st.none() | COUNTS,
        "orders": st.integers(1, 3),
        "task": st.sampled_from([CHOICE, ROLLING, {}]),
    }
)


def numbered(specs: Sequence[Any]) -> list[Spec]:
    return [(f"spec {number}", *spec) for number, spec in enumerate(specs)]


@given(specs=SPECS, asked=ASKED)
def test_names_are_unique_in_files_too_and_stable(specs: Any, asked: Any) -> None:
    found = names(*numbered(specs), **asked)
    assert found == names(*numbered(specs), **asked)
    assert len(found) == len(set(found)) == len({samples_name(name) for name in found})


@given(specs=SPECS, asked=ASKED)
def test_everything_asked_of_a_task_has_one_cell(specs: Any, asked: Any) -> None:
    found = cells_of(*numbered(specs), **asked)
    answered = [(cell.key, ask) for cell in found for ask in cell.asks]
    assert len(answered) == len(set(answered))
    assert {(key, ask.spec) for key, ask in answered} == {
        (key, spec) for spec, keys, *_ in numbered(specs) for key in keys
    }
    per_spec = Counter((key, ask.spec) for key, ask in answered)
    assert {
        key: count for key, count in per_spec.items() if count % (len(asked["seeds"] or [0]) * asked["orders"])
    } == {}


@given(specs=SPECS, asked=ASKED)
def test_cells_differ_in_what_they_compute(specs: Any, asked: Any) -> None:
    found = cells_of(*numbered(specs), **asked)
    computed = [
        (cell.key, cell.shots, cell.seed, cell.order, str(dict(sorted(cell.parameters.items())))) for cell in found
    ]
    assert len(computed) == len(set(computed))


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
