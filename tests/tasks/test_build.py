from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.functions import resolve_function
from hydra_eval.config.schema import FewshotConfig, GenerationOverrides
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import pick_shots
from hydra_eval.pipeline import prepare, score
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.style import Style
from hydra_eval.records import Response
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.cells import cells

from ..toys import CHOICE, COLOURS, FRUIT, built, composed, write_rows, write_task

GENERATE: Mapping[str, Any] = {
    **CHOICE,
    "output_type": "generate_until",
    "doc_to_choice": None,
    "doc_to_target": "colour",
}


def config_of(*specs: str, folder: Path, **changes: Any) -> Any:
    return composed(folder, *specs, **changes)


@pytest.mark.parametrize(
    ("specs", "n", "names"),
    [
        (["toy"], None, ["toy"]),
        (["toy|5"], None, ["toy"]),
        (["toy|0", "toy|5"], None, ["toy|0", "toy|5"]),
        (["toy", "toy|3"], 3, ["toy"]),
        (["toy", "toy|2"], 1, ["toy|1", "toy|2"]),
        (["toy", "other|2", "toy|1"], None, ["toy|0", "other", "toy|1"]),
    ],
)
def test_a_tasks_only_cell_keeps_the_plain_name(
    tmp_path: Path, specs: list[str], n: int | None, names: list[str]
) -> None:
    write_task(tmp_path)
    write_task(tmp_path, {**CHOICE, "task": "other"})
    config = composed(tmp_path, *specs, fewshot=FewshotConfig(n=n))
    checked = {key: TaskConfig(**content) for key, content in config.tasks.items()}
    assert [cell.name for cell in cells(config, checked)] == names


def test_two_names_with_one_key_in_one_run_are_refused(tmp_path: Path) -> None:
    write_task(tmp_path, {**CHOICE, "task": "to.y"})
    write_task(tmp_path, {**CHOICE, "task": "to_y"})
    with pytest.raises(UserError, match=r"'to.y' and 'to_y' have the same key, tasks.to_y"):
        built(tmp_path, "to.y", "to_y")


def test_no_task_chosen(tmp_path: Path) -> None:
    write_task(tmp_path)
    config = composed(tmp_path)
    config.selection.clear()
    with pytest.raises(UserError, match="No task chosen: write task=NAME"):
        build_tasks(config)


@pytest.mark.parametrize(
    ("limit", "left"), [(None, 4), (1, 1), (3, 3), (9, 4), (0.5, 2), (0.3, 2), (0.01, 1), (1.0, 1)]
)
def test_a_limit_is_a_count_or_a_share_and_leaves_the_pool_of_documents(tmp_path: Path, limit: Any, left: int) -> None:
    write_task(tmp_path)
    (task,) = built(tmp_path, limit=limit)
    assert (len(task.docs), len(task.all_docs)) == (left, 4)
    assert task.docs == task.all_docs[:left]


def test_documents_keep_their_place_and_their_row(tmp_path: Path) -> None:
    write_task(tmp_path)
    (task,) = built(tmp_path)
    assert [(doc.task, doc.split, doc.index, doc.row) for doc in task.docs] == [
        ("toy", "test", index, row) for index, row in enumerate(COLOURS)
    ]


@pytest.mark.parametrize(
    ("splits", "evaluated"),
    [
        ({"test_split": "test", "validation_split": "train"}, COLOURS),
        ({"test_split": None, "validation_split": "train"}, FRUIT),
    ],
)
def test_the_test_split_is_evaluated_else_the_validation_split(
    tmp_path: Path, splits: dict[str, Any], evaluated: Any
) -> None:
    write_task(tmp_path, {**CHOICE, **splits})
    assert [doc.row for doc in built(tmp_path)[0].docs] == list(evaluated)


@pytest.mark.parametrize(
    ("fewshot", "kept", "pool_split", "pool"),
    [
        ({}, {}, "train", FRUIT),
        ({"split": "test"}, {}, "test", COLOURS),
        ({}, {"fewshot_config": {"split": "test"}}, "test", COLOURS),
        ({"split": "train"}, {"fewshot_config": {"split": "test"}}, "train", FRUIT),
        ({}, {"fewshot_split": None}, "test", COLOURS),
        ({}, {"fewshot_split": None, "training_split": "train"}, "train", FRUIT),
        ({}, {"fewshot_split": None, "fewshot_config": {"samples": [FRUIT[1]]}}, None, FRUIT[1:2]),
        ({}, {"fewshot_config": {"samples": [FRUIT[1]]}}, "train", FRUIT),
        ({"split": "test"}, {"fewshot_split": None, "fewshot_config": {"samples": [FRUIT[1]]}}, "test", COLOURS),
    ],
)
def test_where_examples_come_from(
    tmp_path: Path, fewshot: dict[str, Any], kept: dict[str, Any], pool_split: str | None, pool: Any
) -> None:
    write_task(tmp_path, {**CHOICE, **kept})
    (task,) = built(tmp_path, "toy|1", fewshot=FewshotConfig(**fewshot))
    assert task.shots.pool_split == pool_split
    assert [shot.row for shot in task.shots.pool] == list(pool)


@pytest.mark.parametrize(
    ("changes", "excludes"),
    [
        ({}, False),
        ({"fewshot_split": "test"}, True),
        ({"fewshot_split": None}, False),
        ({"fewshot_split": None, "test_split": None, "validation_split": "test"}, True),
        ({"fewshot_config": {"split": "test"}}, True),
    ],
)
def test_the_document_is_excluded_where_lm_eval_excludes_it(
    tmp_path: Path, changes: dict[str, Any], excludes: bool
) -> None:
    write_task(tmp_path, {**CHOICE, **changes})
    assert built(tmp_path, "toy|1")[0].shots.excludes_doc is excludes


@pytest.mark.parametrize(
    ("run", "seeds"),
    [({}, (1234, 1234)), ({"seed": 5}, (5, 5)), ({"seed": 5, "fewshot": FewshotConfig(seed=0)}, (0, 5))],
)
def test_seeds_follow_the_runs_unless_given_by_themselves(tmp_path: Path, run: Any, seeds: tuple[int, int]) -> None:
    write_task(tmp_path, GENERATE)
    (task,) = built(tmp_path, **run)
    assert task.generation is not None
    assert (task.shots.seed, task.generation.seed) == seeds


def test_a_generation_seed_of_zero_counts(tmp_path: Path) -> None:
    write_task(tmp_path, GENERATE)
    (task,) = built(tmp_path, generation=GenerationOverrides(seed=0))
    assert task.generation is not None and task.generation.seed == 0


SAMPLED = {"generation_kwargs": {"until": ["x"], "do_sample": True, "temperature": 0.7}}


@pytest.mark.parametrize(("own", "n", "repeats"), [(1, None, 1), (3, None, 3), (3, 2, 2)])
def test_replies_per_request(tmp_path: Path, own: int, n: int | None, repeats: int) -> None:
    write_task(tmp_path, {**GENERATE, **SAMPLED, "repeats": own})
    assert built(tmp_path, generation=GenerationOverrides(n=n))[0].repeats == repeats


def test_several_replies_are_not_asked_where_nothing_is_generated(tmp_path: Path) -> None:
    write_task(tmp_path)
    assert built(tmp_path, generation=GenerationOverrides(n=4))[0].repeats == 1


@pytest.mark.parametrize(("sampled", "warned"), [(True, False), (False, True), (None, True)])
def test_a_task_that_asks_for_several_greedy_replies_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sampled: bool | None, warned: bool
) -> None:
    write_task(tmp_path, {**GENERATE, "generation_kwargs": {"until": ["x"]}, "repeats": 4})
    built(tmp_path, generation=GenerationOverrides(temperature=0.7 if sampled else None, do_sample=sampled))
    assert any("4 replies" in message and "greedy" in message for message in caplog.messages) is warned


@pytest.mark.parametrize(
    "run",
    [{"generation": GenerationOverrides(n=4)}, {"metrics": {"pass@k": {"k": 2}}}],
    ids=["generation_n", "metric"],
)
def test_a_command_line_that_asks_for_several_greedy_replies_is_refused(tmp_path: Path, run: dict[str, Any]) -> None:
    write_task(tmp_path, GENERATE)
    with pytest.raises(UserError, match=r"greedy decoding gives only one. Add generation.do_sample=true"):
        built(tmp_path, **run)


@pytest.mark.parametrize(
    ("options", "own", "repeats"),
    [({"k": 2, "n": 5}, 1, 5), ({"k": 3}, 1, 3), ({"k": 2}, 6, 6)],
    ids=["n", "k", "task"],
)
def test_a_metric_over_several_replies_asks_for_them(
    tmp_path: Path, options: dict[str, int], own: int, repeats: int
) -> None:
    write_task(tmp_path, {**GENERATE, **SAMPLED, "repeats": own})
    assert built(tmp_path, metrics={"pass@k": options})[0].repeats == repeats


def test_fewer_replies_than_a_metric_needs(tmp_path: Path) -> None:
    write_task(tmp_path, {**GENERATE, **SAMPLED})
    with pytest.raises(UserError, match=r"metric 'pass@k:k=2&n=5' needs 5 replies, but generation.n=3"):
        built(tmp_path, metrics={"pass@k": {"k": 2, "n": 5}}, generation=GenerationOverrides(n=3))


@pytest.mark.parametrize("key", ["grammar", "generation_grammar", "response_format"])
@pytest.mark.parametrize("place", ["task", "run"])
def test_constraints_on_what_is_generated_are_refused_by_name(tmp_path: Path, key: str, place: str) -> None:
    own = {"generation_kwargs": {"until": ["x"], key: "json"}} if place == "task" else {}
    write_task(tmp_path, {**GENERATE, **own})
    with pytest.raises(UserError, match=rf"{key}: generation constrained by a grammar"):
        built(tmp_path, generation=GenerationOverrides(extra={key: "json"} if place == "run" else {}))


def test_several_dialogue_turns_are_refused_by_name(tmp_path: Path) -> None:
    write_task(tmp_path, {**GENERATE, "turns": ["Hello", "And now?"]})
    with pytest.raises(UserError, match="'turns': dialogues in which the model answers several times"):
        built(tmp_path)


def test_metric_parameters_come_from_the_name_and_are_checked_before_the_data_is_read(tmp_path: Path) -> None:
    write_task(tmp_path, {**GENERATE, **SAMPLED, "metric_list": [{"metric": "pass@k"}]})
    tasks = built(tmp_path, "toy@k=1@n=4", "toy@k=2@n=4")
    assert [[metric.name for metric in task.metrics] for task in tasks] == [["pass@k:k=1&n=4"], ["pass@k:k=2&n=4"]]
    (tmp_path / "test.jsonl").unlink()
    with pytest.raises(UserError, match=r"metric 'pass@k' needs the option 'k'"):
        built(tmp_path, "toy")


def test_the_runs_filters_and_metrics_replace_the_tasks(tmp_path: Path) -> None:
    own = {"metric_list": [{"metric": "exact_match"}], "filter_list": [{"name": "own", "filter": ["take_first"]}]}
    write_task(tmp_path, {**GENERATE, **own})
    (task,) = built(tmp_path)
    assert ([m.name for m in task.metrics], [p.name for p in task.filters]) == (["exact_match"], ["own"])
    (task,) = built(tmp_path, filters={"strip": ["remove_whitespace", "take_first"]}, metrics={"bypass": {}})
    assert ([m.name for m in task.metrics], [p.name for p in task.filters]) == (["bypass"], ["strip"])


def test_hooks_are_found_beside_the_task(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(
        "def keep(dataset):\n    return dataset.filter(lambda row: row['label'] == 1)\n"
        "def text(doc):\n    return doc['thing'].upper()\n"
        "def samples():\n    return [{'thing': 'mine', 'colours': ['a', 'b'], 'label': 1}]\n",
        encoding="utf-8",
    )
    hooks = {
        "process_docs": "!function utils.keep",
        "doc_to_text": "!function utils.text",
        "fewshot_split": None,
        "fewshot_config": {"samples": "!function utils.samples"},
    }
    write_task(tmp_path, {**CHOICE, **hooks})
    (task,) = built(tmp_path, "toy|1")
    assert [doc.row["thing"] for doc in task.docs] == ["a clear sky", "coal"]
    assert [doc.index for doc in task.docs] == [0, 1]
    assert render_prompt(task, task.docs[0], pick_shots(task).shots[0], Style()) == "MINE b\n\nA CLEAR SKY"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_split": "tset"}, r"no split 'tset'. Did you mean 'test'\? Splits: train, test"),
        ({"test_split": None}, "neither 'test_split' nor 'validation_split' says what to evaluate"),
        ({"fewshot_split": "dev"}, "no split 'dev'. Splits: train, test"),
        ({"fewshot_config": {"smaples": []}}, r"fewshot_config has no key 'smaples'. Did you mean 'samples'\?"),
        ({"doc_to_text": "{{thingg}}"}, "'thingg' is undefined. Did you mean 'thing'"),
        ({"doc_to_text": None}, "doc_to_text: needs a column, a template or a !function, but is None"),
        ({"doc_to_target": None}, "doc_to_target: needs a column"),
        ({"process_docs": "!function utils.none"}, "wants the file .*utils.py, which does not exist"),
        ({"process_docs": "clean"}, "process_docs='clean' must be a !function"),
        ({"process_results": "score"}, "process_results='score' must be a !function"),
        ({"fewshot_config": {"process_docs": "clean"}}, "fewshot_config.process_docs='clean' must be a !function"),
        ({"fewshot_split": None, "fewshot_config": {"samples": "mine"}}, "fewshot_config.samples.*a list of rows"),
        ({"metric_list": [{"metric": "acx"}]}, "unknown metric of multiple_choice 'acx'"),
        ({"filter_list": [{"name": "x", "filter": ["regexx"]}]}, "unknown filter 'regexx'. Did you mean 'regex'"),
        ({"metadata": {"version": 1}, "doc_to_txt": "x"}, "unknown key 'doc_to_txt'"),
    ],
)
def test_what_is_wrong_with_a_task_is_said_with_its_file(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_task(tmp_path, {**CHOICE, **changes})
    with pytest.raises(UserError, match=rf"(?s)toy.yaml.*{message}"):
        built(tmp_path, "toy|1")


def test_a_split_without_documents(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("def none(dataset):\n    return dataset.select([])\n", encoding="utf-8")
    write_task(tmp_path, {**CHOICE, "process_docs": "!function utils.none"})
    with pytest.raises(UserError, match="the split 'test' has no documents left to evaluate"):
        built(tmp_path)


@pytest.mark.parametrize(
    ("changes", "shape"),
    [
        ({}, (False, False)),
        ({"doc_to_target": "{{[label, 1]}}"}, (False, True)),
        ({"doc_to_text": "label", "doc_to_target": "colour"}, (True, False)),
        ({"doc_to_text": "{{label}}"}, (True, False)),
    ],
)
def test_the_shape_of_a_task_is_told_from_its_first_document(
    tmp_path: Path, changes: dict[str, Any], shape: tuple[bool, bool]
) -> None:
    write_task(tmp_path, {**CHOICE, **changes})
    (task,) = built(tmp_path)
    assert (task.multiple_input, task.multiple_target) == shape


@pytest.mark.parametrize(
    ("metadata", "version"), [({"version": 2.0}, 2.0), ({"version": "1.0.2"}, "1.0.2"), ({}, "Yaml")]
)
def test_the_version_is_the_metadatas(tmp_path: Path, metadata: dict[str, Any], version: Any) -> None:
    write_task(tmp_path, {**CHOICE, "metadata": metadata})
    assert built(tmp_path)[0].version == version


def test_the_shown_config_says_what_the_run_changed(tmp_path: Path) -> None:
    path = write_task(tmp_path, {**GENERATE, "metadata": {"version": 1}})
    (task,) = built(tmp_path, "toy|2", generation=GenerationOverrides(max_new_tokens=5))
    assert task.config["num_fewshot"] == 2
    assert task.config["generation_kwargs"] == {
        "temperature": 0.0,
        "do_sample": False,
        "max_gen_toks": 5,
        "until": ["\n\n"],
    }
    assert task.config["metadata"] == {"version": 1, "config_source": str(path)}
    assert not task.config.keys() & {"file", "options", "validation_split"}


def test_the_shown_config_has_the_examples_wording_in_full(tmp_path: Path) -> None:
    write_task(tmp_path, {**CHOICE, "fewshot_config": {"sampler": "first_n", "doc_to_target": "colour"}})
    (task,) = built(tmp_path)
    assert task.config["fewshot_config"] == {
        "sampler": "first_n",
        "split": "train",
        "process_docs": None,
        "fewshot_indices": None,
        "samples": None,
        "doc_to_text": CHOICE["doc_to_text"],
        "doc_to_choice": "colours",
        "doc_to_target": "colour",
        "gen_prefix": None,
        "fewshot_delimiter": "\n\n",
        "target_delimiter": " ",
    }


def test_a_rolling_task_needs_no_doc_to_text(tmp_path: Path) -> None:
    rolling = {"output_type": "loglikelihood_rolling", "doc_to_text": None, "doc_to_choice": None}
    write_task(tmp_path, {**CHOICE, **rolling, "doc_to_target": "thing"})
    (task,) = built(tmp_path, "toy|3")
    assert (task.shots.n, task.template.target(COLOURS[0])) == (0, "grass")


def test_two_folders_with_a_utils_do_not_mix(tmp_path: Path) -> None:
    for name in ("one", "two"):
        content = {**CHOICE, "task": name, "doc_to_text": "!function utils.text"}
        write_task(tmp_path / name, content)
        (tmp_path / name / "utils.py").write_text(f"def text(doc):\n    return '{name}'\n", encoding="utf-8")
    assert [task.template.text({}) for task in built(tmp_path, "one", "two")] == ["one", "two"]


def test_json_rows_of_a_list_file(tmp_path: Path) -> None:
    write_task(tmp_path)
    write_rows(tmp_path / "test.jsonl", COLOURS[:1])
    assert len(built(tmp_path)[0].docs) == 1


COUNTING = """
from collections import Counter

calls = Counter()


def text(doc):
    calls["text", doc["thing"]] += 1
    return doc["thing"]


def target(doc):
    calls["target", doc["thing"]] += 1
    return doc["label"]


def choices(doc):
    calls["choices", doc["thing"]] += 1
    return doc["colours"]


def process(dataset):
    calls["process", dataset.num_rows] += 1
    return dataset
"""


def test_each_hook_runs_once_per_row_and_purpose(tmp_path: Path) -> None:
    """From building to scores, with two pipelines and the same examples before all documents."""
    hooks = {f"doc_to_{name}": f"!function count.{name}" for name in ("text", "target", "choice")}
    hooks["doc_to_choice"] = "!function count.choices"
    filters = [{"name": name, "filter": [{"function": "take_first"}]} for name in ("one", "two")]
    shots = {"fewshot_config": {"sampler": "first_n"}, "filter_list": filters}
    write_task(tmp_path, {**CHOICE, **hooks, **shots, "process_docs": "!function count.process"})
    (tmp_path / "count.py").write_text(COUNTING, encoding="utf-8")
    (task,) = built(tmp_path, "toy|2")
    work = prepare([task], Style(), batch_tokens=64)
    replies = [Response(key=each.key, logprob=-1.0, is_greedy=False) for p in work.packets for each in p.instances]
    assert len(score(work, replies).rows) == 8
    counts = resolve_function("!function count.calls", where=task.source)
    assert set(counts.values()) == {1}
    assert {purpose for purpose, _ in counts} == {"text", "target", "choices", "process"}
