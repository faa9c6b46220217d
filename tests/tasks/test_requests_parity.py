"""The same toy YAML through lm-eval and through us: the same requests, to the byte."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.fewshot import pick_shots
from hydra_eval.instances import request_arguments
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, COLOURS, FRUIT, Rows, built, oracle_task, write_task

pytestmark = pytest.mark.parity

UTILS = """
def process(dataset):
    return dataset.filter(lambda row: row["thing"] != "coal").map(lambda row: {"loud": row["thing"].upper()})

def text(doc):
    return f"{doc['thing']}?"

def target(doc):
    return doc["colours"].index(doc["colour"])

def choices(doc):
    return [colour.title() for colour in doc["colours"]]

def samples():
    return [
        {"thing": "a rose", "colours": ["red", "blue"], "label": 0, "colour": "red"},
        {"thing": "a leaf", "colours": ["green", "blue"], "label": 0, "colour": "green"},
    ]
"""
GENERATE = {"output_type": "generate_until", "doc_to_choice": None, "doc_to_target": "colour"}
LIKELIHOOD = {"output_type": "loglikelihood", "doc_to_choice": None, "doc_to_target": " {{colour}}"}
ROLLING = {
    "output_type": "loglikelihood_rolling",
    "doc_to_choice": None,
    "doc_to_text": "",
    "doc_to_target": "{{thing}}.",
}
CONTEXTS = {"doc_to_text": "label", "doc_to_choice": "{{[thing + ' is ' + colours[0], thing + ' is ' + colours[1]]}}"}

CASES: dict[str, Mapping[str, Any]] = {
    "plain": {},
    "description": {"description": "Name the colour.\n\n"},
    "description without white space": {"description": "Name the colour."},
    "description from the document": {"description": "About {{thing}}:\n"},
    "description is a column": {"description": "thing"},
    "column as text": {"doc_to_text": "thing"},
    "literal text": {"doc_to_text": "Which colour?"},
    "empty text": {"doc_to_text": ""},
    "templated index": {"doc_to_target": "{{label}}"},
    "target is a choice's text": {"doc_to_target": "colour"},
    "literal index": {"doc_to_target": 1},
    "literal choices": {"doc_to_choice": ["{{thing}}", "b"]},
    "mapped choices": {"doc_to_choice": {"A": "yes", "B": "no"}},
    "no target delimiter": {"target_delimiter": ""},
    "target delimiter is a line end": {"target_delimiter": "\n"},
    "target delimiter is a colon": {"target_delimiter": ":"},
    "fewshot delimiter": {"fewshot_delimiter": "\n"},
    "no fewshot delimiter": {"fewshot_delimiter": ""},
    "several right choices": {"doc_to_target": "{{[label, 1]}}", "fewshot_config": {"doc_to_target": "label"}},
    "mutual information": {"metric_list": [{"metric": "acc"}, {"metric": "acc_mutual_info"}]},
    "repeats": {"repeats": 2},
    "contexts per choice": {**CONTEXTS, "doc_to_target": "in truth"},
    "contexts per choice, colon": {**CONTEXTS, "doc_to_target": "in truth", "target_delimiter": ":"},
    "contexts per choice, prefix": {**CONTEXTS, "doc_to_target": "in truth", "gen_prefix": "So"},
    "contexts per choice, description": {**CONTEXTS, "doc_to_target": "so", "description": "Well.\n"},
    "hooks": {
        "process_docs": "!function utils.process",
        "doc_to_text": "!function utils.text",
        "doc_to_target": "!function utils.target",
        "doc_to_choice": "!function utils.choices",
    },
    "column made by process_docs": {"process_docs": "!function utils.process", "doc_to_text": "loud"},
    "prefix on choices": {"gen_prefix": "It is"},
    "prefix with a blank on choices": {"gen_prefix": "It is "},
    "templated prefix on choices": {"gen_prefix": "{{thing}} is"},
    "templated prefix that ends in a blank": {"gen_prefix": "{{thing + ' is '}}"},
    "prefix is a column": {"gen_prefix": "thing"},
    "generation": GENERATE,
    "generation, options": {**GENERATE, "generation_kwargs": {"until": ["."], "temperature": 0, "max_gen_toks": 3}},
    "generation, delimiter as stop": {**GENERATE, "fewshot_delimiter": "\n###\n"},
    "generation, prefix": {**GENERATE, "gen_prefix": "The best answer is"},
    "generation, prefix with a blank": {**GENERATE, "gen_prefix": "The best answer is "},
    "generation, prefix after white space": {**GENERATE, "doc_to_text": "{{thing}}?\n", "gen_prefix": "It is"},
    "generation, several targets": {**GENERATE, "doc_to_target": "{{[colour, thing]}}"},
    "generation, targets in a column": {**GENERATE, "doc_to_target": "colours"},
    "generation, list-like text": {**GENERATE, "doc_to_target": "[{{colour}}]"},
    "generation, index into choices": {**GENERATE, "doc_to_choice": "colours", "doc_to_target": "label"},
    "likelihood": LIKELIHOOD,
    "likelihood, prefix": {**LIKELIHOOD, "gen_prefix": "It is"},
    "rolling": ROLLING,
    "rolling, description": {**ROLLING, "description": "Read.\n"},
    "first n": {"fewshot_config": {"sampler": "first_n"}},
    "examples have an empty target": {**GENERATE, "fewshot_config": {"doc_to_target": "", "sampler": "first_n"}},
    "examples have texts of their own": {
        "fewshot_config": {"doc_to_text": "{{thing}}:", "doc_to_target": "{{label}}", "doc_to_choice": "colours"}
    },
    "examples have an answer of their own": {
        **GENERATE,
        "fewshot_config": {"doc_to_text": "!function utils.text", "doc_to_target": "It is {{colour}}."},
    },
    "examples have delimiters of their own": {
        "fewshot_config": {"target_delimiter": " -> ", "fewshot_delimiter": "\n--\n", "gen_prefix": "See: "}
    },
    "examples have a split of their own": {"fewshot_config": {"split": "test"}},
    "examples have a hook of their own": {"fewshot_config": {"process_docs": "!function utils.process"}},
    "samples in the file": {"fewshot_split": None, "fewshot_config": {"samples": [*FRUIT], "sampler": "first_n"}},
    "samples drawn": {"fewshot_split": None, "fewshot_config": {"samples": [*FRUIT]}},
    "samples of a function": {
        "fewshot_split": None,
        "fewshot_config": {"samples": "!function utils.samples", "sampler": "first_n"},
    },
    "training split as pool": {"fewshot_split": None, "training_split": "train"},
    "training split as pool, validation evaluated": {
        "fewshot_split": None,
        "training_split": "train",
        "test_split": None,
        "validation_split": "test",
    },
    "pool is the evaluated split": {"fewshot_split": "test"},
}

STYLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "system": {"system": "You are brief."},
    "chat": {"chat": True},
    "chat, one turn": {"chat": True, "multiturn": False, "system": "You are brief."},
}


def chat(messages: list[dict[str, str]], add_generation_prompt: bool) -> str:
    turns = "".join(f"<|{message['role']}|>\n{message['content']}</s>\n" for message in messages)
    return turns + "<|assistant|>\n" if add_generation_prompt else turns.removesuffix("</s>\n")


def theirs(task: Any, style: Mapping[str, Any]) -> list[list[Any]]:
    """The arguments of every request, by document."""
    task.set_fewshot_seed(1234)
    task.build_all_requests(
        system_instruction=style.get("system"),
        apply_chat_template=style.get("chat", False),
        fewshot_as_multiturn=style.get("multiturn", True),
        chat_template=chat if style.get("chat") else None,
    )
    by_doc = groupby(task.instances, key=lambda instance: instance.doc_id)
    return [[instance.arguments for instance in instances] for _, instances in by_doc]


def ours(task: Task, style: Mapping[str, Any]) -> list[list[Any]]:
    given = Style(
        chat=chat if style.get("chat") else None, multiturn=style.get("multiturn", True), system=style.get("system")
    )
    shots = pick_shots(task).shots
    return [
        request_arguments(task, doc, render_prompt(task, doc, shots[doc.index], given), chat=given.chat is not None)
        for doc in task.docs
    ]


def compare(path: Path, n: int, *, on_leak: str = "replace") -> None:
    (task,) = built(path.parent, f"toy|{n}", fewshot=FewshotConfig(on_leak=on_leak))
    oracle = oracle_task(path, n=n)
    for name, style in STYLES.items():
        assert ours(task, style) == theirs(oracle, style), f"{n} shots, {name}"


@pytest.mark.parametrize("n", [0, 2], ids=["0 shots", "2 shots"])
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_the_same_requests(tmp_path: Path, changes: Mapping[str, Any], n: int) -> None:
    path = write_task(tmp_path, {**CHOICE, **changes})
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    compare(path, n)


def test_the_same_requests_where_texts_are_digits(tmp_path: Path) -> None:
    """Two digits are all texts, so that most examples say what the document says."""
    changes = {**GENERATE, "doc_to_target": "{{label}}", "doc_to_text": "{{label}}"}
    compare(write_task(tmp_path, {**CHOICE, **changes}), 2, on_leak="allow")


EDGES: dict[str, tuple[Mapping[str, Any], Rows]] = {
    "empty choice": ({}, [{"thing": "x", "colours": ["", "y"], "label": 0, "colour": "z"}] * 3),
    "first of several targets is empty": (
        {**GENERATE, "doc_to_target": "colours"},
        [{"thing": "x", "colours": ["", "y"], "label": 0, "colour": "z"}] * 3,
    ),
    "empty column": ({**GENERATE}, [{"thing": "", "colours": ["a"], "label": 0, "colour": ""}] * 3),
    "white space everywhere": ({}, [{"thing": " \n", "colours": [" a", "b\n"], "label": 1, "colour": " "}] * 3),
    "characters": ({}, [{"thing": "${x} \\n {{y}} é日", "colours": ["<b>", "&"], "label": 0, "colour": "'"}] * 3),
}


@pytest.mark.parametrize(("changes", "train"), EDGES.values(), ids=EDGES)
def test_the_same_requests_for_odd_rows(tmp_path: Path, changes: Mapping[str, Any], train: Rows) -> None:
    path = write_task(tmp_path, {**CHOICE, **changes}, train=train, test=[*COLOURS, {**train[0], "colour": "unlike"}])
    compare(path, 2, on_leak="allow")  # the last document says what the examples say
