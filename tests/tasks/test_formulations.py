"""Toy tasks in the shapes of well-known ones, asked in every formulation and order."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.config.prompting import FewshotConfig, PromptConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.pipeline import Work, prepare, score
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Response, SampleRow
from hydra_eval.tasks.formulations import check_formulation, shown_order
from hydra_eval.tasks.task import Task

from ..toys import Rows, built, write_task

FILES: Mapping[str, Any] = {
    "output_type": "multiple_choice",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"train": "train.jsonl", "test": "test.jsonl"}},
    "fewshot_split": "train",
    "fewshot_config": {"sampler": "first_n"},
    "test_split": "test",
}
ARC = {
    "task": "arc_like",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_choice": "{{choices.text}}",
    "doc_to_target": "{{choices.label.index(key)}}",
}
MMLU = {
    "task": "mmlu_like",
    "doc_to_text": "{{question}}\n{% for o in choices.text %}{{'ABCDE'[loop.index0]}}. {{o}}\n{% endfor %}Answer:",
    "doc_to_choice": ["A", "B", "C"],
    "doc_to_target": "key",
}
BOOLQ = {
    "task": "boolq_like",
    "doc_to_text": "{{question}}\nIs it?\nAnswer:",
    "doc_to_choice": ["no", "yes"],
    "doc_to_target": "yes",
}
ARTICLE = {
    "task": "hellaswag_like",
    "doc_to_text": "question",
    "doc_to_choice": "choices.text",
    "doc_to_target": "label",
}
CONTEXTS = {
    "task": "winogrande_like",
    "doc_to_text": "label",
    "doc_to_choice": "{{[choices.text[0] ~ ' is', choices.text[1] ~ ' is', choices.text[2] ~ ' is']}}",
    "doc_to_target": "what {{question}}",
}
STATED = {"doc_to_question": "question", "doc_to_options": "{{choices.text}}"}


def row(question: str, texts: Sequence[str], key: str) -> dict[str, Any]:
    label = "ABC".index(key)
    choices = {"text": list(texts), "label": list("ABC")}
    return {"question": question, "choices": choices, "key": key, "label": label, "yes": label % 2}


TEST: Rows = (
    row("What is lit?", ["a lamp", "a log", "a lad"], "B"),
    row("What is wet?", ["the sea", "the sun", "the sand"], "A"),
    row("What is far?", ["1", "2", "3"], "C"),
    row("What is hot?", ["ice", "fire", "wind"], "B"),
)
TRAIN: Rows = (
    row("What is red?", ["a leek", "a lime", "a beet"], "C"),
    row("What is old?", ["a calf", "a crag", "a cub"], "B"),
)


def toy(content: Mapping[str, Any], folder: Path, *, shots: int = 0, **prompt: Any) -> list[Task]:
    """The cells of a toy task, its data among the rows above."""
    write_task(folder, {**FILES, **content}, test=TEST, train=TRAIN)
    return built(folder, f"{content['task']}|{shots}", prompt=PromptConfig(**prompt))


def asked(tasks: Sequence[Task], style: Style | None = None) -> Work:
    return prepare(tasks, style or Style(), batch_tokens=4096)


def of_document(task: Task, number: int = 0, style: Style | None = None) -> tuple[str, list[str | None], Any]:
    """(prompt, what is scored after it, what is right) of one document."""
    requests = asked([task], style).requests_of[task.docs[number].key]
    (context,) = {one.context for one in requests}
    return context, [one.continuation for one in requests], task.template.target(task.docs[number].row)


LIT = {"A. ": "A. a lamp\nB. a log\nC. a lad", " A. ": " A. a lamp\n B. a log\n C. a lad"}
LETTERS, TEXTS = [" A", " B", " C"], [" a lamp", " a log", " a lad"]


@pytest.mark.parametrize(
    ("content", "how", "prompt", "scored"),
    [
        (ARC, "cf", "Question: What is lit?\nAnswer:", TEXTS),
        (ARC, "mcf", f"Question: What is lit?\n{LIT[' A. ']}\nAnswer:", LETTERS),
        (ARC, "hybrid", f"Question: What is lit?\n{LIT[' A. ']}\nAnswer:", TEXTS),
        (MMLU, "cf", "What is lit?\nAnswer:", TEXTS),
        (MMLU, "mcf", f"What is lit?\n{LIT['A. ']}\nAnswer:", LETTERS),
        (MMLU, "hybrid", f"What is lit?\n{LIT['A. ']}\nAnswer:", TEXTS),
        (BOOLQ, "cf", "What is lit?\nIs it?\nAnswer:", [" no", " yes"]),
        (BOOLQ, "mcf", "What is lit?\nIs it?\n A. no\n B. yes\nAnswer:", [" A", " B"]),
        (BOOLQ, "hybrid", "What is lit?\nIs it?\n A. no\n B. yes\nAnswer:", [" no", " yes"]),
    ],
    ids=[f"{task} {how}" for task in ("arc", "mmlu", "boolq") for how in ("cf", "mcf", "hybrid")],
)
def test_every_formulation_of_every_shape(
    content: Mapping[str, Any], how: str, prompt: str, scored: list[str], tmp_path: Path
) -> None:
    (task,) = toy(content, tmp_path, formulation=how)
    assert of_document(task) == (prompt, scored, 1)


@pytest.mark.parametrize("content", [ARC, MMLU, BOOLQ], ids=["arc", "mmlu", "boolq"])
def test_the_tasks_own_formulation_is_untouched(content: Mapping[str, Any], tmp_path: Path) -> None:
    (task,) = toy(content, tmp_path, formulation="task")
    assert (task.template.own, task.shot_template.own) == (None, None)
    assert task.template.choices is not None


def test_numbers_for_labels(tmp_path: Path) -> None:
    (texts,) = toy(ARC, tmp_path / "arc", formulation="mcf", choice_prefix="numbers")
    prompt = "Question: What is lit?\n 1. a lamp\n 2. a log\n 3. a lad\nAnswer:"
    assert of_document(texts) == (prompt, [" 1", " 2", " 3"], 1)
    (labels,) = toy(MMLU, tmp_path / "mmlu", formulation="mcf", choice_prefix="numbers")
    assert of_document(labels) == ("What is lit?\n1. a lamp\n2. a log\n3. a lad\nAnswer:", [" 1", " 2", " 3"], 1)


@pytest.mark.parametrize(
    ("form", "labels", "expected"),
    [
        ("({}) ", ["(A)", "(B)", "(C)"], "(1) a lamp\n(2) a log\n(3) a lad"),
        ("{}: ", ["A", "B", "C"], "1: a lamp\n2: a log\n3: a lad"),
        ("{}) ", [" A", " B", " C"], "1) a lamp\n2) a log\n3) a lad"),
        ("{}. ", ["A.", "B.", "C."], "1. a lamp\n2. a log\n3. a lad"),
    ],
    ids=["brackets", "colon", "white space", "full stop"],
)
def test_a_listing_of_the_tasks_own_keeps_its_form(form: str, labels: list[str], expected: str, tmp_path: Path) -> None:
    mark = form.replace("{}", "{{'ABC'[loop.index0]}}")
    text = f"{{{{question}}}}\n{{% for o in choices.text %}}{mark}{{{{o}}}}\n{{% endfor %}}Answer:"
    content = {**MMLU, "doc_to_text": text, "doc_to_choice": labels, "doc_to_target": "label"}
    (task,) = toy(content, tmp_path, formulation="mcf", choice_prefix="numbers")
    scored = [" " + label.replace("ABC"[place], str(place + 1)) for place, label in enumerate(labels)]
    assert of_document(task) == (f"What is lit?\n{expected}\nAnswer:", scored, 1)


@pytest.mark.parametrize(
    ("content", "how", "answers"),
    [
        (ARC, "cf", ["a beet", "a crag"]),
        (ARC, "mcf", ["C", "B"]),
        (ARC, "hybrid", ["a beet", "a crag"]),
        (MMLU, "cf", ["a beet", "a crag"]),
        (MMLU, "mcf", ["C", "B"]),
        (MMLU, "hybrid", ["a beet", "a crag"]),
    ],
    ids=[f"{task} {how}" for task in ("arc", "mmlu") for how in ("cf", "mcf", "hybrid")],
)
def test_examples_are_worded_alike(content: Mapping[str, Any], how: str, answers: list[str], tmp_path: Path) -> None:
    (task,) = toy(content, tmp_path, shots=2, formulation=how)
    *examples, last = of_document(task)[0].split("\n\n")
    (bare,) = toy(content, tmp_path, formulation=how)
    assert [example.rpartition(": ")[2] for example in examples] == answers
    assert last == of_document(bare)[0]
    assert all(example.count("\n") == last.count("\n") for example in examples)


@pytest.mark.parametrize(
    ("gold", "place"),
    [
        ("label", 1),
        ("{{label}}", 1),
        ("{{choices.text[label]}}", 1),
        ("{{[label]}}", [1]),
        ("{{[0, label]}}", [0, 1]),
        ("{{[choices.text[label]]}}", [1]),
        ("nothing of it", "nothing of it"),
        ("A", 3),
        ("{{label + 40}}", 41),
    ],
    ids=["column", "index", "text", "list", "two", "list of texts", "no choice", "a label by chance", "beyond"],
)
@pytest.mark.parametrize("how", ["mcf", "hybrid"])
def test_what_is_right_follows(gold: str, place: Any, how: str, tmp_path: Path) -> None:
    (task,) = toy({**ARC, "doc_to_target": gold}, tmp_path, formulation=how)
    expected = "A" if (gold, how) == ("A", "hybrid") else place
    assert task.template.target(task.docs[0].row) == expected


def test_the_metrics_see_what_is_scored(tmp_path: Path) -> None:
    metrics = [{"metric": name} for name in ("acc", "acc_norm", "acc_mutual_info")]
    (task,) = toy({**MMLU, "metric_list": metrics}, tmp_path, formulation="cf")
    (first, *_) = scored_rows([task], {"a lamp": -2.0, "a log": -2.0, "a lad": -1.9})
    assert first.scores == {"acc": 0.0, "acc_norm": 0.0, "acc_mutual_info": 1.0}
    assert [arguments[0] for arguments in first.arguments] == ["What is lit?\nAnswer:"] * 3 + [""] * 3


def scored_rows(tasks: Sequence[Task], logprobs: Mapping[str, float]) -> list[SampleRow]:
    """The rows where each text scores as told, alone or in its context."""
    work = asked(tasks)
    instances = [one for of_one in work.requests_of.values() for one in of_one]
    said = [
        Response(
            key=one.key,
            logprob=logprobs.get(str(one.continuation).strip(), -9.0)
            - (1.0 if one.continuation == " a log" and not one.context else 0.0),
            is_greedy=False,
        )
        for one in instances
    ]
    return score(work, said).rows


def test_chat_description_and_prefix_stay(tmp_path: Path) -> None:
    content = {**ARTICLE, "doc_to_choice": "{{choices.text}}", "gen_prefix": "It is", "description": "Choose.\n\n"}
    (task,) = toy(content, tmp_path, formulation="mcf")
    listed = f"What is lit?\n{LIT[' A. ']}\n"
    assert of_document(task) == (f"Choose.\n\n{listed}It is", LETTERS, 1)

    def chat(turns: list[dict[str, str]], opens: bool) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns) + ("<assistant>" if opens else "")

    assert of_document(task, style=Style(chat=chat))[0] == f"<system>Choose.\n\n<user>{listed}<assistant>It is"
    (plain,) = toy(ARC, tmp_path / "arc", shots=1, formulation="mcf")
    prompt, scored, _ = of_document(plain, style=Style(chat=chat))
    assert prompt.endswith(f"Answer:<assistant>C<user>Question: What is lit?\n{LIT[' A. ']}\nAnswer:<assistant>")
    assert scored == ["A", "B", "C"]


def test_a_question_without_a_cue_gets_one_with_its_listing(tmp_path: Path) -> None:
    content = {**ARTICLE, "doc_to_choice": "{{choices.text}}"}
    (mcf,), (cf,) = toy(content, tmp_path, formulation="mcf"), toy(content, tmp_path, formulation="cf")
    assert of_document(mcf)[0] == f"What is lit?\n{LIT[' A. ']}\nAnswer:"
    assert of_document(cf)[0] == "What is lit?"


@pytest.mark.parametrize(
    ("delimiter", "choices", "scored"),
    [
        ("", "{{[' a lamp', ' a log', ' a lad']}}", [" A", " B", " C"]),
        (" ", "{{[' a lamp', ' a log', ' a lad']}}", [" A", " B", " C"]),
        ("\n", "{{choices.text}}", ["\nA", "\nB", "\nC"]),
    ],
    ids=["the choices'", "both", "a line end"],
)
def test_one_white_space_stands_before_a_label(delimiter: str, choices: str, scored: list[str], tmp_path: Path) -> None:
    (task,) = toy({**ARC, "doc_to_choice": choices, "target_delimiter": delimiter}, tmp_path, formulation="mcf")
    prompt, found, _ = of_document(task)
    assert (prompt, found) == (f"Question: What is lit?\n{LIT[' A. ']}\nAnswer:", scored)


def test_texts_stand_where_the_tasks_labels_stood(tmp_path: Path) -> None:
    (task,) = toy({**MMLU, "doc_to_choice": [" A", " B", " C"], "target_delimiter": ""}, tmp_path, formulation="cf")
    assert of_document(task)[1] == TEXTS


UTILS = """
def text(doc):
    return doc["question"] + "\\nAnswer:"

def choices(doc):
    return doc["choices"]["text"]

def sentence(doc):
    return doc["question"] + " Say:"
"""


def test_hooks_and_mappings(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    hooks = {**ARC, "doc_to_text": "!function utils.text", "doc_to_choice": "!function utils.choices"}
    (task,) = toy(hooks, tmp_path, shots=1, formulation="mcf")
    assert of_document(task)[0].endswith(f"Answer: C\n\nWhat is lit?\n{LIT[' A. ']}\nAnswer:")
    (task,) = toy({**BOOLQ, "doc_to_choice": {"0": "no", "1": "yes"}}, tmp_path / "boolq", formulation="mcf")
    assert of_document(task)[0] == "What is lit?\nIs it?\n A. no\n B. yes\nAnswer:"


@pytest.mark.parametrize("how", ["cf", "mcf", "hybrid"])
def test_what_the_task_file_states_wins(how: str, tmp_path: Path) -> None:
    stated = {"doc_to_question": "!function utils.sentence", "doc_to_options": "{{choices.text}}"}
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    (task,) = toy({**MMLU, "doc_to_text": "{{question}}", **stated}, tmp_path, shots=1, formulation=how)
    prompt, scored, target = of_document(task)
    shown = "" if how == "cf" else f"\n{LIT[' A. ']}\nAnswer:"
    assert prompt.endswith(f"What is lit? Say:{shown}")
    assert (scored, target) == (LETTERS if how == "mcf" else TEXTS, 1)


def test_a_list_of_the_options_alone_reads_any_text(tmp_path: Path) -> None:
    text = "{{question}}\n{% for o in choices.text %}{{'ABC'[loop.index0]}}. {{o}}\n{% endfor %}Take one.\nAnswer:"
    content = {**MMLU, "doc_to_text": text, "doc_to_options": "{{choices.text}}"}
    (task,) = toy(content, tmp_path, formulation="cf")
    assert of_document(task)[0] == "What is lit?\nTake one.\nAnswer:"


def test_contexts_are_what_they_are_under_cf(tmp_path: Path) -> None:
    (task,) = toy(CONTEXTS, tmp_path, formulation="cf")
    assert task.multiple_input and task.template.own is None


def test_contexts_are_asked_otherwise_where_the_file_says_how(tmp_path: Path) -> None:
    (task,) = toy({**CONTEXTS, **STATED}, tmp_path, shots=1, formulation="mcf")
    prompt, scored, target = of_document(task)
    assert prompt.endswith(f"Answer: C\n\nWhat is lit?\n{LIT[' A. ']}\nAnswer:")
    assert (scored, target, task.multiple_input) == (LETTERS, 1, False)


@pytest.mark.parametrize(
    ("changes", "prompt", "message"),
    [
        ({**MMLU, "doc_to_text": "{{question}}\nAnswer:"}, {"formulation": "cf"}, "no lines of it begin with A, B, C"),
        ({**MMLU, "doc_to_choice": ["C", "B", "A"]}, {"formulation": "cf"}, "no lines of it begin with C, B, A"),
        (MMLU | {"doc_to_options": "{{choices.text[:2]}}"}, {"formulation": "mcf"}, "2 doc_to_options for 3"),
        (
            {**ARC, "doc_to_choice": "{{['(A)x', '(B)y', '(C)z']}}"},
            {"formulation": "mcf"},
            r"bring labels of their own, such as '\(A\)x'",
        ),
        (
            {**MMLU, "doc_to_choice": "{{['x', 'y', 'z']}}"},
            {"formulation": "mcf"},
            "lists something under A, B, … that is not its choices",
        ),
        (CONTEXTS, {"formulation": "mcf"}, "its choices are contexts"),
        (CONTEXTS, {"choice_orders": 2}, "shows no choices to be put in another order; take prompt.formulation=mcf"),
        (CONTEXTS | STATED, {"choice_orders": 2}, "shows no choices to be put .* take prompt.formulation=mcf"),
        (
            {**MMLU, "doc_to_choice": "{{['x', 'y', 'z']}}"} | STATED | {"doc_to_options": "{{['x', 'y', 'z']}}"},
            {"choice_orders": 2},
            "shows no choices to be put in another order; take prompt.formulation=mcf",
        ),
        (ARC, {"choice_orders": 2}, "shows no choices to be put in another order; take prompt.formulation=mcf"),
        (
            ARC,
            {"formulation": "cf", "choice_orders": 2},
            "shows no choices under prompt.formulation=cf; take prompt.formulation=mcf",
        ),
        (ARC | {"process_results": "!function utils.text"}, {"formulation": "mcf"}, "a process_results of its own"),
        (ARC | {"doc_to_choice": "question"}, {"formulation": "mcf"}, "doc_to_choice must give a list of strings"),
        (ARC | {"output_type": "generate_until"}, {"formulation": "mcf"}, "this run has none: arc_like"),
        (
            ARC | {"doc_to_choice": str([f"no. {number}" for number in range(30)])},
            {"formulation": "mcf"},
            "30 choices, and there are 26 letters; prompt.choice_prefix=numbers goes on",
        ),
    ],
    ids=[
        "labels that are not listed",
        "labels out of order",
        "options of another number",
        "labels in the choices",
        "another listing",
        "contexts",
        "orders of contexts",
        "orders of contexts whose question is stated",
        "orders of another listing",
        "orders of what is not shown",
        "orders under cf",
        "scores of its own",
        "no choices",
        "another output type",
        "more than the letters",
    ],
)
def test_refuses_by_name(changes: Mapping[str, Any], prompt: Mapping[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(UTILS, encoding="utf-8")
    with pytest.raises(UserError, match=message) as raised:
        asked(toy(changes, tmp_path, **prompt))
    assert str(changes["task"]) in str(raised.value)


@pytest.mark.parametrize(
    ("key", "message"),
    [("table", "is worded by the code of its TASKS_TABLE"), ("python_class", "is a Python class, which words")],
)
@pytest.mark.parametrize("prompt", [{"formulation": "cf"}, {"choice_orders": 2}], ids=["formulation", "orders"])
def test_code_that_words_its_own_prompts_is_refused(key: str, message: str, prompt: Mapping[str, Any]) -> None:
    words: dict[str, Any] = {key: "coded.py"}
    task = TaskConfig(task="coded", file="coded.yaml", **words)
    with pytest.raises(UserError, match=f"coded.yaml: prompt.*: task 'coded' {message}"):
        check_formulation(task, PromptConfig(**prompt))
    check_formulation(task, PromptConfig())


def test_an_example_that_shows_no_choice_is_refused(tmp_path: Path) -> None:
    content = {**ARC, "fewshot_config": {"sampler": "first_n", "doc_to_target": "who knows"}}
    with pytest.raises(UserError, match="of an example must give one of its 3 choices, but gave 'who knows'"):
        asked(toy(content, tmp_path, shots=1, formulation="mcf"))


def test_one_line_names_the_tasks_that_are_not_concerned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_task(tmp_path, {**FILES, **ARC}, test=TEST, train=TRAIN)
    others = {**FILES, "output_type": "generate_until", "doc_to_text": "{{question}}", "doc_to_target": "key"}
    for name in ("first", "second"):
        write_task(tmp_path, {**others, "task": name}, test=TEST, train=TRAIN)
    built(tmp_path, "arc_like", "first", "second", prompt=PromptConfig(formulation="mcf"))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "prompt.formulation=mcf is for multiple_choice tasks and has no effect on first (generate_until), "
        "second (generate_until)."
    ]


@pytest.mark.parametrize(("how", "orders", "said"), [("mcf", 1, True), ("cf", 1, False), ("mcf", 3, False)])
def test_says_that_the_right_choice_never_moves(
    how: str, orders: int, said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    toy({**ARC, "doc_to_target": 0}, tmp_path, formulation=how, choice_orders=orders)
    assert ("the right choice stands at the same place in all 4 documents" in caplog.text) is said


def test_picks_do_not_depend_on_the_wording(tmp_path: Path) -> None:
    twins = [{**one, "id": f"{split} {place}"} for place, one in enumerate(TEST) for split in ("a", "b")]
    write_task(tmp_path, {**FILES, **ARC}, test=TEST, train=[*twins, *TRAIN])
    tasks = [
        task
        for how, orders in (("task", 1), ("mcf", 3), ("hybrid", 1))
        for task in built(
            tmp_path,
            "arc_like",
            prompt=PromptConfig(formulation=how, choice_orders=orders),
            fewshot=FewshotConfig(strategy="random_per_doc", n=6),
        )
    ]
    picked = [
        tuple(tuple(shot.index for shot in prepare([task], Style(), batch_tokens=4096).picks[task.name].shots[0]))
        for task in tasks
    ]
    assert len(tasks) == 5
    assert set(picked) == {picked[0]}


# Orders


def doc(position: int = 0, *, split: str = "test", index: int | None = None) -> Doc:
    number = position if index is None else index
    return Doc(task="toy|0|order=1", split=split, index=number, row={}, position=position)


@pytest.mark.parametrize("choices", [1, 2, 3, 4, 7])
def test_every_choice_stands_at_every_place_once(choices: int) -> None:
    orders = [shown_order(1234, "toy", doc(), choices, order) for order in range(choices)]
    assert orders[0] == tuple(range(choices))
    assert [sorted(places) for places in zip(*orders, strict=True)] == [list(range(choices))] * choices
    assert all(order[place] == (order[0] + place) % choices for order in orders for place in range(choices))
    assert [shown_order(1234, "toy", doc(), choices, order + choices) for order in range(choices)] == orders


def test_an_order_follows_from_seed_task_and_row_alone() -> None:
    def orders(seed: int = 1, task: str = "toy", **place: Any) -> list[tuple[int, ...]]:
        return [shown_order(seed, task, doc(position, **place), 6, 1) for position in range(20)]

    assert orders() == orders(index=5)
    assert len({tuple(found) for found in (orders(), orders(seed=2), orders(task="other"), orders(split="dev"))}) == 4
    assert len(set(orders())) == 5


@pytest.mark.parametrize("how", ["task", "mcf", "hybrid"])
def test_an_order_is_shown_and_scored(how: str, tmp_path: Path) -> None:
    tasks = toy(MMLU, tmp_path, shots=1, formulation=how, choice_orders=3)
    seen = []
    for task in tasks:
        prompt, scored, target = of_document(task)
        example, question = prompt.split("\n\n")
        assert example.startswith("What is red?\nA. a leek\nB. a lime\nC. a beet\nAnswer: ")
        order = shown_order(1234, "mmlu_like", task.docs[0], 3, task.order)
        texts = [TEXTS[place] for place in order]
        assert question.split("\n")[1:4] == [f"{'ABC'[place]}.{text}" for place, text in enumerate(texts)]
        assert scored == (texts if how == "hybrid" else LETTERS)
        right = target if isinstance(target, int) else "ABC".index(target)
        assert texts[right] == " a log"
        seen.append(right)
    assert sorted(seen) == [0, 1, 2]


def test_texts_that_a_task_lists_itself_are_turned_with_it(tmp_path: Path) -> None:
    content = {**MMLU, "doc_to_choice": "{{choices.text}}", "doc_to_target": "label"}
    _, task = toy(content, tmp_path, choice_orders=2)
    prompt, scored, target = of_document(task)
    assert [f" {line[3:]}" for line in prompt.split("\n")[1:4]] == scored
    assert scored != TEXTS and scored[target] == " a log"


@pytest.mark.parametrize(("orders", "right"), [(3, [True, True, False]), (6, [True, True, False] * 2)])
def test_a_model_that_says_one_letter_is_right_once_in_three(orders: int, right: list[bool], tmp_path: Path) -> None:
    tasks = toy({**ARC, "metric_list": [{"metric": "acc"}]}, tmp_path, formulation="mcf", choice_orders=orders)
    rows = scored_rows(tasks, {"A": -1.0})
    by_doc = [[found.scores["acc"] for found in rows if found.doc_id == number] for number in range(len(TEST))]
    assert [sum(scores) for scores in by_doc] == [sum(not one for one in right)] * len(TEST)
    assert {found.target for found in rows if found.doc_id == 0} == {0, 1, 2}
    assert all((found.target == 0) == bool(found.scores["acc"]) for found in rows)


def test_limits_and_shuffles_change_no_order(tmp_path: Path) -> None:
    _, whole = toy(ARC, tmp_path, formulation="mcf", choice_orders=2)
    _, first = built(tmp_path, "arc_like", prompt=PromptConfig(formulation="mcf", choice_orders=2), limit=2)
    assert [of_document(first, number) for number in (0, 1)] == [of_document(whole, number) for number in (0, 1)]


# Round trips

OPTION = st.text(st.sampled_from("ab A:.()\nBé1"), min_size=1, max_size=9).map(str.strip).filter(bool)


@contextmanager
def scratch() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder)


def listed_and_bare(options: list[str]) -> tuple[str, str, list[str]]:
    """(the text that lists the options, that without them, what is scored there)"""
    with scratch() as folder:
        write_task(folder, {**FILES, **MMLU}, test=[row("Which?", options, "B")], train=TRAIN)
        (task,) = built(folder, "mmlu_like", prompt=PromptConfig(formulation="cf"))
        (own,) = built(folder, "mmlu_like")
        asking, template = task.docs[0].row, task.template
        assert template.choices is not None
        return own.template.text(own.docs[0].row), template.text(asking), template.choices(asking)


def listed_again(text: str, options: list[str]) -> str:
    content = {**FILES, "task": "again", "doc_to_text": "text", "doc_to_choice": "options", "doc_to_target": 1}
    rows = [{"text": text, "options": options}]
    with scratch() as folder:
        write_task(folder, content, test=rows, train=rows)
        (task,) = built(folder, "again", prompt=PromptConfig(formulation="mcf"))
        return str(task.template.text(task.docs[0].row))


@settings(max_examples=25, deadline=None)
@given(options=st.lists(OPTION, min_size=3, max_size=3, unique=True))
def test_from_labels_to_texts_and_back(options: list[str]) -> None:
    """A listing is taken away, and what was scored in its place is listed again: the same options."""
    listed, bare, texts = listed_and_bare(options)
    assert (bare, texts) == ("Which?\nAnswer:", options)
    lines = listed.removeprefix("Which?\n").removesuffix("\nAnswer:")
    marks = [f"{letter}. {option}" for letter, option in zip("ABC", options, strict=True)]
    assert lines == "\n".join(marks)
    assert listed_again(bare, texts) == "Which?\n" + "\n".join(f" {mark}" for mark in marks) + "\nAnswer:"
