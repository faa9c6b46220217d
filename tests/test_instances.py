from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.instances import choices_of, identified, make_instances, request_arguments, requests_of
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import InstanceKey, RequestKind
from hydra_eval.tasks.task import Task

from .toys import COLOURS, GREEDY, docs_of, toy_task

DOC = docs_of(COLOURS)[1]


def with_template(task: Task, **changes: Any) -> Task:
    return replace(task, template=replace(task.template, **changes))


@pytest.mark.parametrize(
    ("output_type", "prompt", "expected"),
    [
        ("multiple_choice", "Sky?", [("Sky?", " red"), ("Sky?", " blue")]),
        ("loglikelihood", "Sky?", [("Sky?", "blue")]),
        ("loglikelihood_rolling", "", [("blue",)]),
        ("generate_until", "Sky?", [("Sky?", {"until": ["\n"], "max_gen_toks": 16})]),
    ],
)
def test_the_requests_of_each_output_type(output_type: str, prompt: str, expected: list[Any]) -> None:
    assert request_arguments(toy_task(output_type), DOC, prompt, chat=False) == expected


def test_contexts_that_differ_share_the_answer() -> None:
    task = with_template(toy_task(multiple_input=True), target=lambda row: "is common")
    assert request_arguments(task, DOC, ["A red", "A blue"], chat=False) == [
        ("A red", " is common"),
        ("A blue", " is common"),
    ]


def test_mutual_information_asks_for_each_choice_alone_too() -> None:
    spec = [{"metric": "acc"}, {"metric": "acc_mutual_info"}]
    metrics = build_metrics(spec, output_type="multiple_choice", has_process_results=False, where="t")
    requests = request_arguments(toy_task(metrics=metrics), DOC, "Sky?", chat=False)
    assert requests == [("Sky?", " red"), ("Sky?", " blue"), ("", " red"), ("", " blue")]


@pytest.mark.parametrize(
    ("chat", "prefix", "first"),
    [
        (False, None, " red"),
        (False, "It is", " red"),
        (False, "It is ", " red"),
        (True, None, "red"),
        (True, "It is", " red"),
        (True, "It is ", "red"),
    ],
)
def test_no_blank_after_a_chat_templates_header(chat: bool, prefix: str | None, first: str) -> None:
    task = replace(with_template(toy_task(), gen_prefix=lambda row: prefix), config={"gen_prefix": prefix})
    assert request_arguments(task, DOC, "Sky?", chat=chat)[0] == ("Sky?", first)


def test_a_likelihoods_target_stays_as_it_is_under_a_chat_template() -> None:
    task = with_template(toy_task("loglikelihood"), target=lambda row: " blue")
    assert request_arguments(task, DOC, "Sky?", chat=True) == [("Sky?", " blue")]


def spaced(task: Task, context: Any, space: str, *, chat: bool = False) -> list[tuple[str, str, bool]]:
    """(context, continuation, moves_blanks) of each request."""
    requests = requests_of(task, DOC, context, chat=chat, choice_space=space)
    instances = identified(task, DOC, requests)
    return [(instance.context, instance.continuation or "", instance.moves_blanks) for instance in instances]


@pytest.mark.parametrize(
    ("chat", "prefix", "context", "space", "expected"),
    [
        (False, None, "Sky?", "keep", ("Sky?", " red", True)),
        (False, None, "Sky? ", "keep", ("Sky? ", " red", True)),
        (False, None, "Sky? ", "strip", ("Sky?", " red", True)),
        (False, None, "Sky? ", "add", ("Sky?", " red", True)),
        (True, None, "<bot>\n", "keep", ("<bot>\n", "red", True)),
        (True, None, "<bot>\n", "strip", ("<bot>\n", "red", False)),
        (True, None, "<bot>\n", "add", ("<bot>\n", " red", False)),
        (True, None, "<bot> ", "strip", ("<bot> ", "red", False)),
        (True, "It is", "<bot>It is", "keep", ("<bot>It is", " red", True)),
        (True, "It is ", "<bot>It is ", "keep", ("<bot>It is ", "red", True)),
        (True, "It is", "<bot>It is", "strip", ("<bot>It is", " red", True)),
        (True, "It is ", "<bot>It is ", "strip", ("<bot>It is", " red", True)),
        (True, "It is ", "<bot>It is ", "add", ("<bot>It is", " red", True)),
    ],
)
def test_white_space_before_a_choice(
    chat: bool, prefix: str | None, context: str, space: str, expected: tuple[str, str, bool]
) -> None:
    task = replace(with_template(toy_task(), gen_prefix=lambda row: prefix), config={"gen_prefix": prefix})
    assert spaced(task, context, space, chat=chat)[0] == expected


def test_white_space_before_an_answer_that_contexts_share() -> None:
    task = with_template(toy_task(multiple_input=True), target=lambda row: "  is common")
    assert spaced(task, ["A red ", "A blue"], "strip") == [
        ("A red", " is common", True),
        ("A blue", " is common", True),
    ]


def test_white_space_before_choices_alone() -> None:
    spec = [{"metric": "acc"}, {"metric": "acc_mutual_info"}]
    metrics = build_metrics(spec, output_type="multiple_choice", has_process_results=False, where="t")
    task = with_template(toy_task(metrics=metrics), choices=lambda row: ["  red"], target_delimiter="")
    assert [continuation for _, continuation, _ in spaced(task, "Sky?", "add")] == [" red", " red"]


@pytest.mark.parametrize("output_type", ["loglikelihood", "generate_until", "loglikelihood_rolling"])
def test_only_choices_are_given_other_white_space(output_type: str) -> None:
    task = toy_task(output_type)
    assert requests_of(task, DOC, "Sky? ", chat=False, choice_space="strip") == requests_of(
        task, DOC, "Sky? ", chat=False
    )


def test_keys_count_requests_and_repeats_side_by_side() -> None:
    instances = make_instances(toy_task(repeats=2), DOC, "Sky?", chat=False)
    assert [instance.key for instance in instances] == [
        InstanceKey("toy", 1, 0, 0),
        InstanceKey("toy", 1, 0, 1),
        InstanceKey("toy", 1, 1, 0),
        InstanceKey("toy", 1, 1, 1),
    ]
    assert [instance.continuation for instance in instances] == [" red", " red", " blue", " blue"]


@pytest.mark.parametrize(
    ("output_type", "prompt", "kind", "context", "continuation"),
    [
        ("multiple_choice", "Sky?", RequestKind.LOGLIKELIHOOD, "Sky?", " red"),
        ("loglikelihood", "Sky?", RequestKind.LOGLIKELIHOOD, "Sky?", "blue"),
        ("loglikelihood_rolling", "", RequestKind.ROLLING, "", "blue"),
        ("generate_until", "Sky?", RequestKind.GENERATE, "Sky?", None),
    ],
)
def test_what_the_model_is_given(
    output_type: str, prompt: str, kind: RequestKind, context: str, continuation: str | None
) -> None:
    first = make_instances(toy_task(output_type), DOC, prompt, chat=False)[0]
    assert (first.kind, first.context, first.continuation) == (kind, context, continuation)
    assert first.generation == (GREEDY if kind is RequestKind.GENERATE else None)


def test_one_requests_options_can_be_changed_without_the_tasks() -> None:
    task = toy_task("generate_until")
    request_arguments(task, DOC, "Sky?", chat=False)[0][1]["until"] = []
    assert task.generation_kwargs == {"until": ["\n"], "max_gen_toks": 16}


@pytest.mark.parametrize("choices", [[], "AB", [1, 2], None, ["a", None]])
def test_choices_that_are_no_list_of_strings(choices: Any) -> None:
    task = with_template(toy_task(), choices=lambda row: choices)
    with pytest.raises(UserError, match=r"toy.yaml: doc_to_choice must give a list of strings, but gave "):
        choices_of(task, DOC)


def test_multiple_choice_without_choices() -> None:
    with pytest.raises(UserError, match=r"toy.yaml: a multiple_choice task needs 'doc_to_choice'"):
        choices_of(with_template(toy_task(), choices=None), DOC)


@pytest.mark.parametrize("output_type", ["loglikelihood", "loglikelihood_rolling"])
@pytest.mark.parametrize("target", [1, ["blue"], None])
def test_a_target_to_score_must_be_text(output_type: str, target: Any) -> None:
    task = with_template(toy_task(output_type), target=lambda row: target)
    with pytest.raises(UserError, match="doc_to_target must give the text to score, but gave "):
        request_arguments(task, DOC, "Sky?", chat=False)
