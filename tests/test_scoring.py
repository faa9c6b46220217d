from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.build import build_pipelines
from hydra_eval.instances import make_instances
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import Doc, Response, SampleRow
from hydra_eval.scoring import NO_CHOICE, Answered, as_reply, check_filters, check_targets, outcome, score_documents
from hydra_eval.tasks.task import Task

from .toys import COLOURS, FRUIT, docs_of, reply, request, toy_task

DOC = docs_of(COLOURS)[1]  # of red and blue, blue is right


def with_template(task: Task, **changes: Any) -> Task:
    return replace(task, template=replace(task.template, **changes))


def metrics(output_type: str, *spec: Any) -> Any:
    return build_metrics(list(spec), output_type=output_type, has_process_results=False, where="t")


def scored(task: Task, *said: dict[str, Any], doc: Doc = DOC, prompt: Any = "Sky?") -> list[SampleRow]:
    """The rows of one document whose requests are answered in order."""
    instances = make_instances(task, doc, prompt, chat=False)
    answered = [reply(instance, **answer) for instance, answer in zip(instances, said, strict=True)]
    return score_documents(task, [Answered(doc, docs_of(FRUIT, split="train")[2:4], answered)])


RED, BLUE = {"logprob": -2.0, "is_greedy": False}, {"logprob": -1.0, "is_greedy": True}


def test_a_choice_row_holds_everything_that_was_asked_and_said() -> None:
    (row,) = scored(toy_task(), {**RED, "input_tokens": 5, "cut_tokens": 1}, {**BLUE, "input_tokens": 6})
    assert row == SampleRow(
        task="toy",
        doc_id=1,
        filter="none",
        doc=DOC.row,
        target=1,
        arguments=(("Sky?", " red"), ("Sky?", " blue")),
        resps=(((-2.0, False),), ((-1.0, True),)),
        filtered_resps=((-2.0, False), (-1.0, True)),
        scores={"acc": 1.0, "acc_norm": 1.0},
        shots=(2, 3),
        shots_used=2,
        input_tokens=(5, 6),
        output_tokens=(0, 0),
        cut_tokens=(1, 0),
        finish_reasons=(None, None),
    )


def test_a_row_holds_the_ids_of_each_request_where_they_were_kept() -> None:
    (row,) = scored(toy_task(), {**RED, "input_ids": (5, 6)}, {**BLUE, "input_ids": (5, 7)})
    assert row.input_ids == ((5, 6), (5, 7))


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        *((1, 1.0), (0, 0.0), ("blue", 1.0), ("red", 0.0), ([0, 1], 1.0), ([0], 0.0), (["blue", 0], 1.0), (-1, 0.0)),
        *((np.int32(1), 1.0), (np.float64(0), 0.0), (np.bool_(True), 1.0), ([np.int64(1)], 1.0)),
    ],
)
def test_a_gold_is_an_index_a_text_or_several(gold: Any, expected: float) -> None:
    (row,) = scored(with_template(toy_task(), target=lambda _: gold), RED, BLUE)
    assert row.scores["acc"] == expected


@pytest.mark.parametrize("gold", [2, 99, "green", [5], ["green"], -100, np.int32(2), 0.5])
def test_a_gold_that_is_no_choice_scores_zero(gold: Any) -> None:
    (row,) = scored(with_template(toy_task(), target=lambda _: gold), RED, BLUE)
    assert set(row.scores.values()) == {0.0}


@pytest.mark.parametrize("gold", [2, -1, "green", [0, 5]])
def test_golds_that_are_no_choices_are_told_once(gold: Any, caplog: pytest.LogCaptureFixture) -> None:
    check_targets(with_template(toy_task(), target=lambda row: gold if row["label"] else 0))
    assert caplog.messages == [
        "task 'toy': of 2 of 4 documents the right answer is not among the choices; the first is document 1."
    ]


def test_golds_that_are_choices_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    check_targets(toy_task())
    assert caplog.messages == []


@pytest.mark.parametrize("output_type", ["multiple_choice", "generate_until"])
def test_a_target_that_fails_is_found_before_the_model_is_asked(output_type: str) -> None:
    def target(row: Mapping[str, Any]) -> Any:
        return 1 / row["label"] and 0

    with pytest.raises(ZeroDivisionError) as caught:
        check_targets(with_template(toy_task(output_type=output_type), target=target))
    assert caught.value.__notes__ == ["in task 'toy', document 0"]


@pytest.mark.parametrize("gold", [None, {"a": 1}, [None]])
def test_a_gold_that_is_neither_index_nor_text(gold: Any) -> None:
    with pytest.raises(UserError, match="doc_to_target must give a choice's index or text, but gave"):
        scored(with_template(toy_task(), target=lambda _: gold), RED, BLUE)


def test_of_several_golds_the_one_that_is_no_choice_is_marked() -> None:
    seen = outcome(with_template(toy_task(), target=lambda _: [1, 7]), DOC, [(-2.0, False), (-1.0, True)])
    assert seen.gold == [1, NO_CHOICE]  # type: ignore[union-attr]


def test_the_gold_of_contexts_per_choice_is_the_text_field() -> None:
    task = with_template(toy_task(multiple_input=True), text=lambda row: row["label"], target=lambda _: "so")
    (row,) = scored(task, RED, BLUE, prompt=["red sky", "blue sky"])
    assert (row.scores["acc"], row.target) == (1.0, "so")


def test_mutual_information_takes_the_second_half_as_unconditional() -> None:
    task = toy_task(metrics=metrics("multiple_choice", {"metric": "acc"}, {"metric": "acc_mutual_info"}))
    (row,) = scored(task, BLUE, RED, {"logprob": -0.5}, {"logprob": -3.0})
    assert row.scores == {"acc": 0.0, "acc_mutual_info": 1.0}


@pytest.mark.parametrize(
    ("output_type", "said", "scores"),
    [
        ("loglikelihood", {"logprob": -1.5, "is_greedy": True}, {"perplexity": -1.5, "acc": 1}),
        (
            "loglikelihood_rolling",
            {"logprob": -8.0},
            {"word_perplexity": (-8.0, 1), "byte_perplexity": (-8.0, 4), "bits_per_byte": (-8.0, 4)},
        ),
        ("generate_until", {"text": "blue"}, {"exact_match": 1.0}),
        ("generate_until", {"text": "Blue"}, {"exact_match": 0.0}),
    ],
)
def test_scores_of_the_other_output_types(output_type: str, said: dict[str, Any], scores: dict[str, Any]) -> None:
    (row,) = scored(toy_task(output_type), said)
    assert row.scores == scores


@pytest.mark.parametrize(
    ("target", "said", "score"),
    [(7, "7", 1.0), (7, "8", 0.0), (1.5, "1.5", 1.0), (True, "True", 1.0), (["x", "blue"], "blue", 1.0)],
)
def test_a_generation_is_compared_with_the_target_as_text(target: Any, said: str, score: float) -> None:
    task = toy_task("generate_until", multiple_target=isinstance(target, list))
    (row,) = scored(with_template(task, target=lambda _: target), {"text": said})
    assert (row.scores, row.target) == ({"exact_match": score}, target)


@pytest.mark.parametrize("left", [None, 3], ids=repr)
def test_a_reply_that_filters_make_something_else_of_names_it(left: Any) -> None:
    filters = build_pipelines(
        [{"name": "x", "filter": [{"function": "custom", "filter_fn": lambda resps, docs: [left] * len(resps)}]}],
        where="t",
    )
    with pytest.raises(UserError, match=rf"^the filters leave {left}, .* target 'blue'.* \(task 'toy', document 1\)$"):
        scored(toy_task("generate_until", filters=filters), {"text": "blue"})


@pytest.mark.parametrize(("target", "score"), [(1, 1.0), (0, 0.0), (-1, 1.0)])
def test_a_generation_beside_choices_has_an_index_as_target(target: int, score: float) -> None:
    task = with_template(toy_task("generate_until"), choices=lambda row: row["colours"], target=lambda _: target)
    assert scored(task, {"text": "blue"})[0].scores == {"exact_match": score}


@pytest.mark.parametrize("target", [2, "blue", None])
def test_a_generation_beside_choices_with_a_target_that_is_none(target: Any) -> None:
    task = with_template(toy_task("generate_until"), choices=lambda row: row["colours"], target=lambda _: target)
    with pytest.raises(UserError, match="doc_to_target must give the index of one of 2 choices, but gave"):
        scored(task, {"text": "blue"})


def test_one_row_per_pipeline_each_from_the_raw_replies() -> None:
    filters = build_pipelines({"raw": ["take_first"], "low": ["lowercase", "take_first"]}, where="t")
    rows = scored(toy_task("generate_until", filters=filters), {"text": "BLUE", "finish_reason": "stop"})
    assert [(row.filter, row.resps, row.filtered_resps, row.scores) for row in rows] == [
        ("raw", (("BLUE",),), ("BLUE",), {"exact_match": 0.0}),
        ("low", (("BLUE",),), ("blue",), {"exact_match": 1.0}),
    ]
    assert rows[0].finish_reasons == ("stop",)


def test_repeats_are_kept_and_the_first_is_scored() -> None:
    (row,) = scored(toy_task("generate_until", repeats=3), {"text": "blue"}, {"text": "red"}, {"text": "red"})
    assert (row.resps, row.filtered_resps, row.scores) == ((("blue", "red", "red"),), ("blue",), {"exact_match": 1.0})
    assert len(row.output_tokens) == 3


def test_reasoning_is_kept_apart_from_what_is_scored() -> None:
    replies = ({"text": "blue", "reasoning": "red, no</think>"}, {"text": "red"})
    (row,) = scored(toy_task("generate_until", repeats=2), *replies)
    assert (row.resps, row.reasoning) == ((("blue", "red"),), ("red, no</think>", None))
    assert scored(toy_task("generate_until"), {"text": "blue"})[0].reasoning == ()


def test_process_results_sees_row_and_outputs_and_replaces_everything() -> None:
    seen: list[Any] = []

    def process_results(row: Any, outputs: list[Any]) -> dict[str, Any]:
        seen.append((row, outputs))
        return {"own": 0.5, "pair": (1, 2)}

    (row,) = scored(toy_task(process_results=process_results), RED, BLUE)
    assert row.scores == {"own": 0.5, "pair": (1, 2)}
    assert seen == [(DOC.row, [(-2.0, False), (-1.0, True)])]


def test_a_metric_that_gives_a_mapping_stands_under_its_keys() -> None:
    def pass_at(references: Any, predictions: Any) -> dict[str, float]:
        return {"pass@1": 1.0, "pass@4": 0.25}

    task = toy_task("generate_until", metrics=metrics("generate_until", {"metric": "exact_match"}, {"metric": pass_at}))
    (row,) = scored(task, {"text": "blue"})
    assert row.scores == {"exact_match": 1.0, "pass@1": 1.0, "pass@4": 0.25}
    assert row.metric_of == {"pass@1": "pass_at", "pass@4": "pass_at"}


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("GENERATE", {"text": "x"}, "x"),
        ("ROLLING", {"logprob": -3.0, "is_greedy": True}, -3.0),
        ("LOGLIKELIHOOD", {"logprob": -3.0, "is_greedy": True}, (-3.0, True)),
    ],
)
def test_what_filters_see_of_a_reply(kind: str, said: dict[str, Any], expected: Any) -> None:
    from hydra_eval.records import RequestKind

    asked = request(kind=RequestKind[kind])
    assert as_reply(asked, Response(key=asked.key, **said)) == expected


@pytest.mark.parametrize("given", [None, 1.0, [1, 2], {3: 1.0}], ids=repr)
def test_process_results_that_gives_no_mapping_of_names(given: Any) -> None:
    with pytest.raises(UserError, match=r"toy.yaml: process_results must give a mapping"):
        scored(toy_task(process_results=lambda row, outputs: given), RED, BLUE)


@pytest.mark.parametrize("output_type", ["multiple_choice", "loglikelihood", "loglikelihood_rolling"])
@pytest.mark.parametrize("steps", [[], ["lowercase"], ["majority_vote"]], ids=["empty", "text", "list"])
def test_filters_that_leave_no_likelihoods_are_found_before_the_model_loads(output_type: str, steps: list[str]) -> None:
    task = toy_task(output_type, filters=build_pipelines({"x": steps}, where="t"))
    with pytest.raises(UserError, match=r"toy.yaml: filter pipeline 'x'"):
        check_filters(task, make_instances(task, task.docs[0], "", chat=False))


def check(task: Task) -> None:
    check_filters(task, make_instances(task, task.docs[0], "", chat=False))


def test_a_filter_for_text_on_choices_is_named_with_what_it_was_given() -> None:
    task = toy_task(filters=build_pipelines({"strip": ["remove_whitespace", "take_first"]}, where="t"))
    with pytest.raises(UserError) as caught:
        check(task)
    assert str(caught.value) == (
        "toy.yaml: filter pipeline 'strip': filter 'remove_whitespace' takes text, but was given (-1.0, False). For "
        "multiple_choice the model gives log-likelihoods."
    )


VOTE = ["majority_vote"]


def joined(resps: Any, docs: Any) -> list[Any]:
    return [["".join(entry)] for entry in resps]


@pytest.mark.parametrize(
    ("steps", "spec", "message"),
    [
        pytest.param([], {"metric": "exact_match"}, "leaves a list of replies, and metric 'exact_match'", id="raw"),
        pytest.param(VOTE, {"metric": "exact_match"}, "leaves a list of replies, and metric 'exact_match'", id="vote"),
        pytest.param(["all"], {"metric": "bleu"}, "leaves a list of replies, and metric 'bleu'", id="pairs"),
        pytest.param(
            VOTE, {"metric": "pass@k", "k": 2}, "leaves 1 reply, and metric 'pass@k:k=2' needs 2", id="one_for_two"
        ),
        pytest.param(
            ["multi_choice_regex"], {"metric": "exact_match"}, "filter 'multi_choice_regex' needs a column", id="column"
        ),
        pytest.param(
            [{"function": "take_first_k", "k": 5}], {"metric": "pass@k", "k": 2}, "filter 'take_first_k': k=5", id="k"
        ),
    ],
)
def test_filters_that_do_not_suit_generated_text(steps: list[Any], spec: Any, message: str) -> None:
    filters = build_pipelines({"x": steps}, where="t")
    task = toy_task("generate_until", repeats=3, filters=filters, metrics=metrics("generate_until", spec))
    with pytest.raises(UserError) as caught:
        check(task)
    assert f"toy.yaml: filter pipeline 'x'{'' if 'leaves' in message else ':'} {message}" in str(caught.value)


@pytest.mark.parametrize(
    ("steps", "spec"),
    [
        pytest.param(["take_first"], {"metric": "pass@k", "k": 3}, id="all_before_the_choice"),
        pytest.param(["all"], {"metric": "pass@k", "k": 3}, id="all"),
        pytest.param(["take_last"], {"metric": "exact_match"}, id="last"),
        pytest.param([*VOTE, "take_first"], {"metric": "exact_match"}, id="vote"),
        pytest.param(["format_span"], {"metric": "f1", "aggregation": len}, id="list_for_an_own_aggregation"),
        pytest.param(
            [{"function": "custom", "filter_fn": joined}], {"metric": "exact_match"}, id="own_filter_is_not_tried"
        ),
    ],
)
def test_filters_that_suit_generated_text(steps: list[Any], spec: Any) -> None:
    filters = build_pipelines({"x": steps}, where="t")
    check(toy_task("generate_until", repeats=3, filters=filters, metrics=metrics("generate_until", spec)))


SAID = ({"text": "blue"}, {"text": "RED"}, {"text": "blue"})


@pytest.mark.parametrize("steps", [["lowercase", "take_first"], ["lowercase", "all"]], ids=["take_first", "all"])
def test_a_metric_over_several_replies_sees_all_and_the_row_shows_them(steps: list[str]) -> None:
    task = toy_task(
        "generate_until",
        repeats=3,
        filters=build_pipelines({"x": steps}, where="t"),
        metrics=metrics("generate_until", {"metric": "avg@n"}, {"metric": "maj@n", "n": 2}),
    )
    (row,) = scored(task, *SAID)
    assert row.scores == {"avg@n": pytest.approx(2 / 3), "maj@n:n=2": 1.0}
    assert (row.resps, row.filtered_resps) == ((("blue", "RED", "blue"),), (["blue", "red", "blue"],))


def test_beside_it_the_first_reply_is_scored_alone() -> None:
    both = metrics("generate_until", {"metric": "exact_match"}, {"metric": "pass@k", "k": 1})
    (row,) = scored(toy_task("generate_until", repeats=3, metrics=both), {"text": "red"}, *SAID[:2])
    assert row.scores == {"exact_match": 0.0, "pass@k:k=1": pytest.approx(1 / 3)}


def test_a_number_as_target_is_compared_with_each_reply_as_text() -> None:
    task = toy_task("generate_until", repeats=2, metrics=metrics("generate_until", {"metric": "avg@n"}))
    task = replace(task, filters=build_pipelines({"x": ["all"]}, where="t"))
    (row,) = scored(with_template(task, target=lambda _: 7), {"text": "7"}, {"text": "8"})
    assert row.scores == {"avg@n": 0.5}


def test_reasoning_is_taken_out_for_every_metric_and_stays_in_the_raw_reply() -> None:
    task = toy_task(
        "generate_until",
        repeats=2,
        filters=build_pipelines({"answer": ["strip_reasoning", "take_first"]}, where="t"),
        metrics=metrics("generate_until", {"metric": "exact_match"}, {"metric": "avg@n"}),
    )
    (row,) = scored(task, {"text": "<think>sky</think> blue"}, {"text": "hm</think>red"})
    assert row.scores == {"exact_match": 1.0, "avg@n": 0.5}
    assert (row.resps, row.filtered_resps) == ((("<think>sky</think> blue", "hm</think>red"),), (["blue", "red"],))


def test_all_answers_of_a_question_are_told_by_the_document() -> None:
    task = toy_task(metrics=metrics("multiple_choice", {"metric": "acc_all", "group_by": "thing"}))
    assert scored(task, RED, BLUE)[0].scores == {"acc_all": (True, ("a clear sky",))}


@pytest.mark.parametrize("output_type", ["multiple_choice", "loglikelihood", "loglikelihood_rolling", "generate_until"])
def test_the_usual_filter_suits_every_output_type(output_type: str) -> None:
    task = toy_task(output_type)
    check_filters(task, make_instances(task, task.docs[0], "", chat=False))
