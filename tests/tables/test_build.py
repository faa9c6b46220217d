from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, FewshotConfig, GenerationOverrides, ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import load_encoder, load_tokenizer
from hydra_eval.pipeline import prepare, score
from hydra_eval.prompts.fitting import limits_of
from hydra_eval.prompts.style import Style
from hydra_eval.records import Instance, RequestKind, Response, SampleRow
from hydra_eval.tasks.task import Task

from ..toys import Rows, write_rows
from .files import (
    TEST,
    TRAIN,
    entry,
    number_of,
    shown_numbers,
    stand_in,
    table_task,
    table_tasks,
    write_split,
    write_table,
)

BOTH = "Metrics.loglikelihood_acc, Metrics.exact_match"
SAMPLED = GenerationOverrides(do_sample=True, temperature=1.0)


def asked(task: Task) -> list[Instance]:
    """The requests of the first document."""
    return list(prepare([task], Style(), batch_tokens=1000).requests_of[task.docs[0].key])


def answered(task: Task, text: str = " yes", likes: str = " yes") -> list[SampleRow]:
    """Rows of a model that says `text` and finds `likes` likeliest."""
    work = prepare([task], Style(), batch_tokens=1000)
    requests = [instance for of_document in work.requests_of.values() for instance in of_document]
    return score(work, [_response(instance, text, likes) for instance in requests]).rows


def _response(instance: Instance, text: str, likes: str) -> Response:
    if instance.kind is RequestKind.GENERATE:
        return Response(key=instance.key, text=text)
    liked = instance.continuation == likes
    return Response(key=instance.key, logprob=-1.0 if liked else -2.0, token_logprobs=(-1.0,), is_greedy=liked)


def test_documents_stand_in_lightevals_order(tmp_path: Path) -> None:
    task = table_task(write_table(tmp_path))
    assert [number_of(doc) for doc in task.all_docs] == [103, 101, 102, 104, 100, 105]
    assert [doc.origin for doc in task.all_docs][:2] == [("test", 3), ("test", 1)]


def test_a_limit_takes_the_first_of_that_order_and_changes_no_prompt(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(rest="few_shots_select='random_sampling',"))
    task = table_task(path, "pick|3", limit=2)
    assert [number_of(doc) for doc in task.docs] == [103, 101]
    assert shown_numbers(task)[:2] == [[3, 11, 2], [10, 8, 1]]


def test_the_files_own_order_under_lm_evals_rules(tmp_path: Path) -> None:
    task = table_task(write_table(tmp_path), fewshot=FewshotConfig(compat="lm_eval"))
    assert [number_of(doc) for doc in task.all_docs] == [100, 101, 102, 103, 104, 105]


@pytest.mark.parametrize(
    ("select", "fewshot", "first"),
    [
        ("None", FewshotConfig(n=3), [3, 8, 9]),
        ("None", FewshotConfig(n=3, seed=1), [1, 5, 10]),
        ("'sequential'", FewshotConfig(n=3, split="test", on_leak="allow"), [100, 101, 102]),
    ],
    ids=["balanced by default", "another seed", "another split"],
)
def test_picks(tmp_path: Path, select: str, fewshot: FewshotConfig, first: list[int]) -> None:
    task = table_task(write_table(tmp_path, entry(rest=f"few_shots_select={select},")), fewshot=fewshot)
    assert shown_numbers(task) == [first] * 6


@pytest.mark.parametrize(
    ("splits", "pool"),
    [
        ("hf_avail_splits=['dev', 'train_x', 'test']", "train_x"),
        ("hf_avail_splits=['validation', 'dev', 'test']", "dev"),
        ("hf_avail_splits=['validation', 'test']", "validation"),
        ("hf_avail_splits=['test'], few_shots_split='extra'", "extra"),
        ("hf_avail_splits=['test']", "test"),
    ],
)
def test_where_examples_come_from(tmp_path: Path, splits: str, pool: str) -> None:
    path = write_table(tmp_path, entry().replace("**DATA", f"**{{**DATA, **dict({splits})}}"))
    write_split(tmp_path, pool, TRAIN)
    assert table_task(path, "pick|1").shots.pool_split == pool


def test_several_splits_are_evaluated_as_one(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry().replace("**DATA", "**{**DATA, 'evaluation_splits': ['train', 'test']}"))
    task = table_task(path)
    assert len(task.docs) == len(TEST) + len(TRAIN)
    assert sorted(doc.origin for doc in task.docs)[:2] == [("test", 0), ("test", 1)]


BODY = """
def odd(line, task_name=None):
    return pick(line) if line["number"] % 2 else None

def none(line, task_name=None):
    return []

def flagged(line, task_name=None):
    return Doc(query=f"{line['__index']} {line['__few_shots']} {task_name}", choices=CHOICES, gold_index=0)

def drawn(line, task_name=None):
    return Doc(query="", choices=CHOICES, gold_index=0, images=[1])

def raises(line, task_name=None):
    return line["nothing"]

def silent(line, task_name=None):
    return Doc(query=None, choices=CHOICES, gold_index=0)

def strange(line, task_name=None):
    return "text"

def textless(line, task_name=None):
    return Doc(query="x", choices=[1, 2], gold_index=0)
"""


def test_rows_that_are_left_out_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    task = table_task(write_table(tmp_path, entry(function="odd"), body=BODY))
    assert sorted(number_of(doc) for doc in task.docs) == [101, 103, 105]
    assert "split 'test': 3 of 6 rows left out" in caplog.text


def test_a_filter_of_rows_counts_before_the_prompt_function(tmp_path: Path) -> None:
    path = write_table(
        tmp_path, entry(function="flagged", rest="hf_filter=lambda row: row['number'] > 103,"), body=BODY
    )
    assert sorted(doc.row["query"] for doc in table_task(path).docs) == ["0 False pick", "1 False pick"]


def test_the_prompt_function_knows_examples_from_documents(tmp_path: Path) -> None:
    task = table_task(write_table(tmp_path, entry(function="flagged"), body=BODY), "pick|1")
    assert task.shots.pool[3].row["query"] == "3 True pick"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("none", "leaves out all 6 rows of split 'test'"),
        ("drawn", "images are not supported yet"),
        ("strange", "must give a Doc with a text as query, but gave 'text' for row 0"),
        ("silent", r"must give a Doc with a text as query, but gave Doc\(query=None"),
    ],
)
def test_what_a_prompt_function_may_not_give(tmp_path: Path, function: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        table_task(write_table(tmp_path, entry(function=function), body=BODY))


def test_an_error_in_a_prompt_function_names_the_row(tmp_path: Path) -> None:
    with pytest.raises(KeyError) as caught:
        table_task(write_table(tmp_path, entry(function="raises"), body=BODY))
    assert "in the prompt_function of" in caught.value.__notes__[0]
    assert caught.value.__notes__[0].endswith("task 'pick', split 'test', row 0")


def test_choices_must_be_texts(tmp_path: Path) -> None:
    task = table_task(write_table(tmp_path, entry(function="textless"), body=BODY))
    with pytest.raises(UserError, match=r"must give choices, a list of texts, but gave \[1, 2\]"):
        asked(task)


@pytest.mark.parametrize(
    ("compat", "kept"),
    [(None, 3), ("lm_eval", 1)],
    ids=["lighteval tells equal rows apart by their numbers", "lm_eval"],
)
def test_removing_duplicates(tmp_path: Path, compat: str | None, kept: int) -> None:
    same: Rows = [{"number": 1, "answer": 0}] * 3
    path = write_table(tmp_path, entry(rest="must_remove_duplicate_docs=True,"), test=same)
    assert len(table_task(path, fewshot=FewshotConfig(compat=compat)).docs) == kept


def test_each_kind_of_request_is_asked_once(tmp_path: Path) -> None:
    rest = "generation_size=5, stop_sequence=['\\n'],"
    task = table_task(write_table(tmp_path, entry(metrics=BOTH, rest=rest)))
    requests = asked(task)
    assert [instance.kind.value for instance in requests] == ["loglikelihood"] * 3 + ["generate_until"]
    assert [instance.continuation for instance in requests[:3]] == [" no", " yes", " maybe"]
    assert requests[3].generation is not None
    assert (requests[3].generation.max_new_tokens, requests[3].generation.stop) == (5, ("\n",))


def test_both_kinds_are_scored(tmp_path: Path) -> None:
    task = table_task(write_table(tmp_path, entry(metrics=BOTH)))
    scores = {row.doc["gold_index"]: dict(row.scores) for row in answered(task, text=" no", likes=" yes")}
    assert scores == {0: {"acc": 0, "em": 1}, 1: {"acc": 1, "em": 0}, 2: {"acc": 0, "em": 0}}


def test_several_replies_are_asked_of_text_alone(tmp_path: Path) -> None:
    metrics = "Metrics.loglikelihood_acc, Metrics.pass_at_k(sample_params={'k': 1, 'n': 4})"
    task = table_task(write_table(tmp_path, entry(metrics=metrics)), generation=SAMPLED)
    kinds = [instance.kind.value for instance in asked(task)]
    assert (kinds.count("loglikelihood"), kinds.count("generate_until")) == (3, 4)
    assert answered(task)[0].scores.keys() == {"acc", "pass@k:k=1&n=4"}


def test_the_query_itself_is_scored_for_perplexity(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(metrics="Metrics.word_perplexity, Metrics.bits_per_byte"))
    (request,) = asked(table_task(path))
    assert (request.kind, request.arguments) == (RequestKind.ROLLING, ("Q: 103\nA:",))


def test_choices_after_the_unconditioned_query(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(metrics="LogLikelihoodAccMetric(LogProbPMINorm()), Metrics.recall_at_k"))
    task = table_task(path)
    assert [instance.context for instance in asked(task)] == ["Q: 103\nA:"] * 3 + [""] * 3
    assert answered(task)[0].scores == {"acc_norm_pmi": 0, "recall": 1}


def test_a_supersets_members(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry("set:b"), entry("set:a"), entry("other"))
    assert [task.name for task in table_tasks(path, "set|2")] == ["set:a", "set:b"]


def test_overrides_reach_the_entry(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(metrics="Metrics.exact_match", function="say"))
    task = table_task(path, generation=GenerationOverrides(max_new_tokens=3, stop=["!"]))
    assert task.generation is not None
    assert (task.generation.max_new_tokens, task.generation.stop) == (3, ("!",))


@pytest.mark.parametrize(
    ("spec", "key", "repeats"),
    [("pick@k=2", "pass@k:k=2", 2), ("pick@k=2@n=8", "pass@k:k=2&n=8", 8), ("pick@n=8@k=2|1", "pass@k:n=8&k=2", 8)],
)
def test_parameters_of_a_metric(tmp_path: Path, spec: str, key: str, repeats: int) -> None:
    task = table_task(write_table(tmp_path, entry(metrics="Metrics.pass_at_k")), spec, generation=SAMPLED)
    assert ([metric.name for metric in task.metrics], task.repeats) == ([key], repeats)


@pytest.mark.parametrize(
    ("spec", "metrics", "generation", "message"),
    [
        ("pick", "Metrics.pass_at_k", SAMPLED, "metric 'pass@k' needs 'k': write the task as name@k=4"),
        ("pick@m=3", "Metrics.pass_at_k", SAMPLED, "PassAtK has no parameter 'm'"),
        ("pick@k=4@n=2", "Metrics.pass_at_k", SAMPLED, "k=4 of n=2 replies"),
        ("pick@k=4", "Metrics.exact_match", SAMPLED, "none of its metrics takes parameters, but '@k=…' is given"),
        ("pick@k=4", "Metrics.pass_at_k", None, "4 replies per prompt are asked for, but greedy decoding gives one"),
        (
            "pick@k=4",
            "Metrics.pass_at_k",
            GenerationOverrides(n=2, do_sample=True, temperature=1.0),
            "scores 4 replies, but only 2 are asked for",
        ),
    ],
    ids=["missing", "unknown", "k above n", "no metric takes any", "greedy", "fewer replies"],
)
def test_parameters_that_cannot_be(
    tmp_path: Path, spec: str, metrics: str, generation: GenerationOverrides | None, message: str
) -> None:
    path = write_table(tmp_path, entry(metrics=metrics))
    with pytest.raises(UserError, match=message):
        table_task(path, spec, generation=generation or GenerationOverrides())


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            "Metrics.simpleqa_judge, Metrics.exact_match",
            r"task 'pick': metric \['simpleqa_judge'\] needs a model as judge",
        ),
        pytest.param(
            "Metrics.bleurt", r"metric bleurt needs a scorer model \(BLEURT\), which is not supported", marks=stand_in
        ),
        ("", "the task has no metrics"),
    ],
    ids=["judge", "scorer", "none"],
)
def test_what_cannot_be_scored_is_refused_before_the_data(tmp_path: Path, metrics: str, message: str) -> None:
    path = write_table(tmp_path, entry(metrics=metrics))
    shutil.rmtree(tmp_path / "org")
    with pytest.raises(UserError, match=message):
        table_task(path)


def test_keys_of_yaml_tasks_are_refused(tmp_path: Path) -> None:
    path = write_table(tmp_path)
    with pytest.raises(UserError, match="'metrics' is for tasks in YAML"):
        table_task(path, metrics={"acc": {}})


def test_a_grammar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="generation_grammar is not supported yet"):
        table_task(write_table(tmp_path, entry(rest="generation_grammar={'type': 'regex'},")))


def test_filters_see_the_replies_alone(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry(metrics=BOTH))
    task = table_task(path, filters={"small": ["lowercase", "take_first"]})
    assert answered(task, text=" NO")[0].filtered_resps[3:] == (" no",)


def test_an_unknown_split_names_those_there_are(tmp_path: Path) -> None:
    path = write_table(tmp_path, entry().replace("**DATA", "**{**DATA, 'evaluation_splits': ['valid']}"))
    with pytest.raises(UserError, match=r"the data set has no split 'valid'\. Splits: test, train"):
        table_task(path)


@stand_in
def test_files_beside_the_table(tmp_path: Path) -> None:
    data = "hf_repo='json', hf_data_files={'test': 'rows.jsonl'}, evaluation_splits=['test']"
    path = write_table(tmp_path, entry().replace("**DATA", data))
    write_rows(tmp_path / "rows.jsonl", TEST)
    assert len(table_task(path, data=DataConfig()).docs) == len(TEST)


def test_rows_reach_another_process_as_plain_mappings(tmp_path: Path) -> None:
    import pickle

    row: Any = pickle.loads(pickle.dumps(table_task(write_table(tmp_path)).docs[0].row))
    assert type(row) is dict
    assert row == {"query": "Q: 103\nA:", "choices": [" no", " yes", " maybe"], "gold_index": 1}


@pytest.mark.parametrize("spoken", [False, True], ids=["plain", "chat"])
def test_an_entry_shows_as_many_of_its_examples_as_fit(spoken: bool, tmp_path: Path) -> None:
    def chat(messages: list[dict[str, str]], add_generation_prompt: bool) -> str:
        return " ".join(message["content"] for message in messages)

    style = Style(chat=chat) if spoken else Style()
    model = ModelConfig(kind="dummy", max_length=11)
    limits = limits_of("drop_shots", load_encoder(model, load_tokenizer(model)))
    path = write_table(tmp_path, entry(function="told"))
    dropped = prepare([table_task(path, "pick|3")], style, batch_tokens=1000, limits=limits)
    assert [len(one.shots) for one in dropped.asked.values()] == [1] * 6
    assert {one.requests[0].context.count("INSTR") for one in dropped.asked.values()} == {1}
    assert {len(one.requests[0].context.split()) for one in dropped.asked.values()} == {1 + 4 + 3}
