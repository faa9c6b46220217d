"""lighteval's own tasks through our builder: documents, picks and prompts as lighteval makes them, leaks included."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, FewshotConfig, RunConfig
from hydra_eval.config.task_config import task_key
from hydra_eval.fewshot import pick_shots
from hydra_eval.prompts.style import Style
from hydra_eval.tables.load import table_entries
from hydra_eval.tasks.build import build_tasks

from ..toys import write_rows

pytest.importorskip("lighteval.tasks.prompt_manager", reason="needs lighteval")

WORDS = ["rose", "sea", "sky", "coal", "snow", "lime", "plum"]


def word(number: int) -> str:
    return WORDS[number % len(WORDS)]


def choices(number: int) -> Mapping[str, Any]:
    return {"text": [f"{word(number + place)} {place}" for place in range(4)], "label": list("ABCD")}


ROWS: dict[tuple[str, str], Any] = {
    ("arc", "arc:easy"): lambda n: {"question": f"q{n}?", "choices": choices(n), "answerKey": "ABCD"[n % 4]},
    ("gsm8k", "gsm8k"): lambda n: {"question": f"{n}+1?", "answer": f"so\n#### {n + 1}"},
    ("boolq", "boolq"): lambda n: {"question": f"is {word(n)} red", "passage": f"p{n}", "answer": ["Yes", "No"][n % 2]},
    ("hellaswag", "hellaswag"): lambda n: {
        "ctx_a": f"a {word(n)}",
        "ctx_b": "it is",
        "activity_label": "x",
        "endings": choices(n)["text"],
        "label": str(n % 4),
    },
    ("mmlu", "mmlu:anatomy"): lambda n: {
        "question": f"q{n}",
        "choices": choices(n)["text"],
        "answer": n % 4,
        "subject": "anatomy",
    },
    ("openbookqa", "openbookqa"): lambda n: {
        "question_stem": f"q{n}",
        "choices": choices(n),
        "answerKey": "ABCD"[n % 3],
    },
    ("piqa", "piqa"): lambda n: {"goal": f"g{n}", "sol1": word(n), "sol2": word(n + 1), "label": n % 2},
    ("sciq", "sciq"): lambda n: {
        "question": f"q{n}",
        "support": f"s{n}",
        "correct_answer": word(n),
        **{f"distractor{place}": word(n + place) for place in (1, 2, 3)},
    },
    ("siqa", "siqa"): lambda n: {
        "context": f"c{n}",
        "question": "q?",
        "answerA": word(n),
        "answerB": "b",
        "answerC": "c",
        "label": str(1 + n % 3),
    },
    ("winogrande", "winogrande"): lambda n: {
        "sentence": f"the _ is {word(n)}",
        "option1": "rose",
        "option2": "sea",
        "answer": str(1 + n % 2),
    },
    ("commonsenseqa", "commonsenseqa"): lambda n: {
        "question": f"q{n}",
        "choices": {"text": [word(n + place) for place in range(5)], "label": list("ABCDE")},
        "answerKey": "ABCDE"[n % 5],
    },
    ("truthfulqa", "truthfulqa:mc"): lambda n: {
        "question": f"q{n}",
        **{f"mc{kind}_targets": {"choices": choices(n)["text"], "labels": [1, 0, 0, 0]} for kind in (1, 2)},
    },
    ("wikitext", "wikitext:103:document_level"): lambda n: {"page": f" = {word(n)} = \n the sea , {n} . "},
}
"""(module, task) → a row by its number."""
CASES = [(*one, n) for one in ROWS for n in (0, 3) if n == 0 or one[0] != "wikitext"]
"""A perplexity task has no answers to show."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


def build(module: str, name: str, root: Path, n: int) -> tuple[Any, Any]:
    """(our task, lighteval's) over the same rows."""
    from lighteval.tasks.lighteval_task import LightevalTask

    source = f"lighteval.tasks.tasks.{module}"
    entry = next(one for one in importlib.import_module(source).TASKS_TABLE if one.name == name)
    rows = {
        split: [ROWS[module, name](number + 7 * place) for number in range(9)]
        for place, split in enumerate(entry.hf_avail_splits)
    }
    folder = root / entry.hf_repo / (entry.hf_subset or "default")
    folder.mkdir(parents=True, exist_ok=True)
    for split, of_split in rows.items():
        write_rows(folder / f"{split}.jsonl", of_split)
    key = task_key(name)
    config = RunConfig(
        tasks={key: table_entries(source)[name]},
        selection={name: {"name": name, "tasks": {key: name}, "shots": n}},
        data=DataConfig(root=str(root)),
        fewshot=FewshotConfig(on_leak="allow"),
    )
    (ours,) = build_tasks(config)
    entry.num_fewshots = n
    theirs = LightevalTask(entry)
    theirs.dataset = {split: [dict(row) for row in of_split] for split, of_split in rows.items()}
    return ours, theirs


@pytest.mark.parametrize("system", [None, "Be brief."], ids=["bare", "system"])
@pytest.mark.parametrize(("module", "name", "n"), CASES, ids=[f"{name}|{n}" for _, name, n in CASES])
def test_prompts_are_lightevals(module: str, name: str, n: int, system: str | None, root: Path) -> None:
    from lighteval.tasks.prompt_manager import PromptManager

    ours, theirs = build(module, name, root, n)
    manager = PromptManager(system_prompt=system)
    expected = theirs.get_docs()
    picks = pick_shots(ours)
    assert [doc.row["query"] for doc in ours.all_docs] == [doc.query for doc in expected]
    for doc, other in zip(ours.all_docs, expected, strict=True):
        requests = ours.own_requests(doc, picks.shots[doc.index], Style(system=system))
        if requests[0].kind.value == "loglikelihood_rolling":
            assert requests[0].arguments == (other.query,)
            continue
        assert requests[0].arguments[0] == manager.prepare_prompt(other)
        if requests[0].kind.value == "loglikelihood":
            assert [request.arguments[1] for request in requests] == list(other.choices)


@pytest.mark.parametrize(("module", "name", "n"), CASES[:6], ids=[f"{name}|{n}" for _, name, n in CASES[:6]])
def test_chat_turns_are_lightevals(module: str, name: str, n: int, root: Path) -> None:
    from lighteval.tasks.prompt_manager import PromptManager

    ours, theirs = build(module, name, root, n)
    picks = pick_shots(ours)
    seen: list[Any] = []
    style = Style(chat=lambda messages, opens: seen.append(messages) or "", system="Be brief.")
    for doc in ours.all_docs:
        ours.own_requests(doc, picks.shots[doc.index], style)
    manager = PromptManager(use_chat_template=True, system_prompt="Be brief.")
    assert seen == [manager.prepare_prompt_api(doc) for doc in theirs.get_docs()]
