"""What the run says of the examples of a task in YAML."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, FewshotConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, COLOURS, FRUIT, built, write_rows, write_task

NO_POOL = {"fewshot_split": None}
"""No split of its own for examples: those that are evaluated serve."""


def task_of(folder: Path, fewshot: Mapping[str, Any], changes: Mapping[str, Any] | None = None, **run: Any) -> Task:
    write_task(folder, {**CHOICE, **(changes or {})})
    (task,) = built(folder, fewshot=FewshotConfig(**fewshot), **run)
    return task


def things(picks: Picks) -> list[list[str]]:
    return [[shot.row["thing"] for shot in shots] for shots in picks.shots]


def prompts(task: Task) -> list[str]:
    requests = prepare([task], Style(), batch_tokens=8192).requests_of
    return [instance.context for of_document in requests.values() for instance in of_document]


# --- strategies that need more than their name ---


def test_fixed_rows(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"strategy": "fixed", "indices": [3, 1]})
    assert things(pick_shots(task)) == [["a carrot", "a plum"]] * 4


@pytest.mark.parametrize(
    ("fewshot", "missing"),
    [
        ({"strategy": "fixed"}, r"fewshot_strategy=fixed needs the rows to show, such as fewshot.indices=\[3,1,7\]"),
        ({"strategy": "samples"}, "fewshot_strategy=samples needs the rows to show: fewshot.samples="),
        ({"strategy": "samples", "samples": []}, "fewshot_strategy=samples needs the rows to show: fewshot.samples="),
        ({"strategy": "samples", "samples": ["a"]}, r"fewshot.samples: must be a list of rows \(mappings\)"),
    ],
    ids=["fixed", "samples", "no samples", "no rows"],
)
def test_what_a_strategy_shows_must_be_given(tmp_path: Path, fewshot: dict[str, Any], missing: str) -> None:
    with pytest.raises(UserError, match=missing):
        task_of(tmp_path, {"n": 1, **fewshot})


def test_samples_are_the_pool_and_no_split_is_read(tmp_path: Path) -> None:
    fewshot = {"strategy": "samples", "samples": [*FRUIT[3:], FRUIT[0]]}
    task = task_of(tmp_path, fewshot, {"fewshot_split": "none of the splits"})
    assert things(pick_shots(task)) == [["a carrot", "a beet", "a ripe banana"]] * 4
    assert (task.shots.pool_split, task.shots.from_eval) == (None, False)


def test_samples_of_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_samples.py").write_text(f"def rows():\n    return {list(FRUIT[:2])!r}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    task = task_of(tmp_path, {"strategy": "samples", "samples": "own_samples:rows", "n": 2})
    assert things(pick_shots(task)) == [["a ripe banana", "a plum"]] * 4


def test_a_function_of_samples_is_called_once_for_all_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"calls = []\n\ndef rows():\n    calls.append(1)\n    return {list(FRUIT[:2])!r}[: len(calls)]\n"
    (tmp_path / "counted_samples.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("one", "two"):
        write_task(tmp_path, {**CHOICE, "task": name})
    tasks = built(tmp_path, "one", "two", fewshot=FewshotConfig(strategy="samples", samples="counted_samples:rows"))
    assert [things(pick_shots(task)) for task in tasks] == [[["a ripe banana"]] * 4] * 2


def test_a_sample_that_lacks_a_column(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"strategy": "samples", "samples": [{"thin": "a fig"}]})
    with pytest.raises(UserError, match=r"'thing' is undefined\. Did you mean 'thin'\? Columns: thin"):
        pick_shots(task)


def test_a_function_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def last(pool, doc, n, seed):\n    return list(range(len(pool)))[-n:]\n"
    (tmp_path / "own_strategy.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    task = task_of(tmp_path, {"strategy": "own_strategy:last", "n": 2})
    assert things(pick_shots(task)) == [["a carrot", "a beet"]] * 4
    with pytest.raises(UserError, match=r"fewshot.strategy: .* has no 'lost'\. Did you mean 'last'\?"):
        task_of(tmp_path, {"strategy": "own_strategy:lost", "n": 2})


def test_a_sampler_class_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("class Mine:\n    pass\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"fewshot_config\.sampler=.*Mine.* must be a name.*fewshot\.strategy=package"):
        task_of(tmp_path, {"n": 1}, {"fewshot_config": {"sampler": "!function utils.Mine"}})


# --- lighteval's rules on a task in YAML ---


def test_lightevals_default_is_balanced_with_seed_0(tmp_path: Path) -> None:
    found = task_of(tmp_path, {"n": 3, "compat": "lighteval"})
    by_name = task_of(tmp_path, {"n": 3, "compat": "lighteval", "strategy": "balanced", "seed": 0})
    assert found.shots.seed == 0
    assert things(pick_shots(found)) == things(pick_shots(by_name))


def test_a_seed_that_is_given_counts(tmp_path: Path) -> None:
    assert task_of(tmp_path, {"n": 3, "compat": "lighteval", "seed": 7}).shots.seed == 7
    assert task_of(tmp_path, {"n": 3}, seed=7).shots.seed == 7


def test_documents_that_stand_in_lightevals_order_get_its_draws(tmp_path: Path) -> None:
    fewshot = {"n": 2, "compat": "lighteval", "strategy": "random_sampling"}
    file_order, shuffled = (task_of(tmp_path, fewshot, data=DataConfig(shuffle_seed=seed)) for seed in (None, 42))
    by_origin = [
        {doc.origin: shots for doc, shots in zip(task.docs, things(pick_shots(task)), strict=True)}
        for task in (file_order, shuffled)
    ]
    assert [doc.origin for doc in shuffled.docs] != [doc.origin for doc in file_order.docs]
    assert by_origin[0] == by_origin[1]


# --- the seed of the examples takes effect ---


def test_the_seed_counts_for_a_task_with_examples_of_its_own(tmp_path: Path) -> None:
    changes = {"num_fewshot": 3}
    one, again, other = (prompts(task_of(tmp_path, {"seed": seed}, changes)) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_saying_three_where_the_task_says_three_changes_nothing(tmp_path: Path) -> None:
    own, said = (prompts(task_of(tmp_path, {"seed": 1, "n": n}, {"num_fewshot": 3})) for n in (None, 3))
    assert own == said


# --- a pool of several splits ---


def test_examples_come_from_every_split_that_the_run_names(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"n": 1, "split": ["train", "test"]})
    assert [shot.row["thing"] for shot in task.shots.pool] == [row["thing"] for row in (*FRUIT, *COLOURS)]
    assert (task.shots.pool_split, task.shots.from_eval) == ("train+test", True)
    shown = zip(task.docs, pick_shots(task).shots, strict=True)
    assert all(shot.row != doc.row for doc, shots in shown for shot in shots)


# --- a pool that is evaluated ---


@pytest.mark.parametrize("seed", range(0, 100, 9))
@pytest.mark.parametrize("strategy", ["task", "lm_eval", "random", "random_per_doc", "nearest", "balanced"])
def test_three_documents_alone_never_show_themselves(tmp_path: Path, strategy: str, seed: int) -> None:
    write_task(tmp_path, {**CHOICE, **NO_POOL}, test=COLOURS[:3])
    (task,) = built(tmp_path, fewshot=FewshotConfig(n=2, seed=seed, strategy=strategy))
    questions = [f"What is the colour of {row['thing']}?" for row in COLOURS[:3]]
    for number, prompt in enumerate(prompts(task)[::2]):
        assert [prompt.count(question) for question in questions] == [1, 1, 1]
        assert prompt.endswith(questions[number])


def test_three_documents_alone_have_no_three_others(tmp_path: Path) -> None:
    write_task(tmp_path, {**CHOICE, **NO_POOL}, test=COLOURS[:3])
    (task,) = built(tmp_path, fewshot=FewshotConfig(n=3))
    with pytest.raises(UserError, match=r"3 examples are asked for, but only 2 other rows are in the pool \('test', 3"):
        pick_shots(task)


def test_a_twin_with_another_id_is_no_example(tmp_path: Path) -> None:
    rows = [{**COLOURS[0], "id": 1}, {**COLOURS[0], "id": 2}, {**COLOURS[1], "id": 3}]
    write_task(tmp_path, {**CHOICE, **NO_POOL}, test=rows, train=rows)
    (task,) = built(tmp_path, fewshot=FewshotConfig(n=1))
    picks = pick_shots(task)
    assert things(picks)[:2] == [["a clear sky"]] * 2


@pytest.mark.parametrize("changes", [NO_POOL, {"fewshot_split": "test"}, {"test_split": ["test", "train"]}])
def test_a_pool_that_is_evaluated_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, Any]
) -> None:
    task = task_of(tmp_path, {"n": 1}, changes)
    assert task.shots.from_eval
    (said,) = [text for text in caplog.messages if "evaluated" in text]
    assert said.startswith("toy: examples come from the split that is evaluated; no document is its own example.")


def test_several_tasks_and_cells_are_said_in_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("one", "two"):
        write_task(tmp_path, {**CHOICE, **NO_POOL, "task": name})
    built(tmp_path, "one|1", "one|2", "two|1", fewshot=FewshotConfig(on_leak="allow"))
    (said,) = [text for text in caplog.messages if "evaluated" in text]
    assert said.startswith("one, two: ") and "a document may be its own example" in said


@pytest.mark.parametrize(
    ("fewshot", "changes"),
    [
        ({"n": 1, "on_eval_split": "allow"}, NO_POOL),
        ({"n": 0}, NO_POOL),
        ({"n": 1}, {}),
        ({"strategy": "samples", "samples": [FRUIT[0]]}, NO_POOL),
    ],
    ids=["allowed", "no examples", "another split", "samples"],
)
def test_nothing_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fewshot: dict[str, Any], changes: dict[str, Any]
) -> None:
    with caplog.at_level(logging.WARNING):
        task_of(tmp_path, fewshot, changes)
    assert caplog.messages == []


def test_a_pool_that_is_evaluated_can_be_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"toy: examples come from .* which fewshot.on_eval_split=error refuses"):
        task_of(tmp_path, {"n": 1, "on_eval_split": "error"}, NO_POOL)


def test_a_split_beside_the_evaluated_one_is_not_it(tmp_path: Path) -> None:
    changes = {"dataset_kwargs": {"data_files": {"test": "test.jsonl", "validation": "dev.jsonl"}}}
    write_rows(tmp_path / "dev.jsonl", FRUIT)
    assert not task_of(tmp_path, {"n": 1, "on_eval_split": "error", "split": "validation"}, changes).shots.from_eval
