"""Long texts made to measure: never too long, nearly full, the same bytes for the same seed, needles inside."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.functions import resolve_function
from hydra_eval.config.schema import DataConfig, ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

from ..toys import composed, write_rows
from .compare import SHELF
from .rows_generation import DATA

TOKENIZER = Path(__file__).resolve().parents[2] / "src" / "hydra_eval" / "demo" / "model"
NEEDLES = ("niah_single_1", "niah_single_2", "niah_single_3", "niah_multikey_1", "niah_multikey_2", "niah_multikey_3")
NEEDLES += ("niah_multivalue", "niah_multiquery")
COUNTED = (*NEEDLES, "ruler_vt", "ruler_cwe", "ruler_fwe")
ASKED = ("ruler_qa_squad", "ruler_qa_hotpot")
LENGTHS = [2048, 4096]
SAMPLES = 4
ANSWERS = {"niah_multivalue": 4, "niah_multiquery": 4, "ruler_vt": 5, "ruler_cwe": 10, "ruler_fwe": 3}
"""Answers per row, where there is not one."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows for the two tasks that ask about other people's paragraphs."""
    root = tmp_path_factory.mktemp("root")
    for name, subset in (("rajpurkar/squad_v2", "default"), ("hotpotqa/hotpot_qa", "distractor")):
        (root / name / subset).mkdir(parents=True)
        write_rows(root / name / subset / "validation.jsonl", DATA[name](subset)["validation"])
    return root


@pytest.fixture(scope="module")
def count() -> Any:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(TOKENIZER)
    return lambda text: len(tokenizer(text, verbose=False)["input_ids"])


def made(name: str, root: Path | None = None, **metadata: Any) -> Task:
    model = ModelConfig(pretrained=str(TOKENIZER))
    data = DataConfig(root=None if root is None else str(root))
    config = composed(SHELF / "ruler", name, model=model, data=data)
    config.tasks[name]["metadata"] |= {"max_seq_lengths": LENGTHS, "samples": SAMPLES, **metadata}
    (task,) = build_tasks(config)
    return task


def prompts(task: Task) -> list[str]:
    return [items[0].context for items in prepare([task], Style(), batch_tokens=8192).requests_of.values()]


@pytest.mark.parametrize("name", COUNTED)
def test_prompt_and_reply_fill_the_length_and_never_more(name, count) -> None:
    task = made(name)
    assert [doc.row["max_length"] for doc in task.docs] == [length for length in LENGTHS for _ in range(SAMPLES)]
    for doc, prompt in zip(task.docs, prompts(task), strict=True):
        length = count(prompt) + task.generation.max_new_tokens
        assert 0.9 * doc.row["max_length"] < length <= doc.row["max_length"]
        assert doc.row["length"] == length


@pytest.mark.parametrize("name", COUNTED)
def test_same_seed_same_rows(name) -> None:
    rows = [dict(doc.row) for doc in made(name).docs]
    assert [dict(doc.row) for doc in made(name).docs] == rows
    assert len({row["input"] for row in rows}) == len(rows)
    others = {doc.row["input"] for doc in made(name, seed=43).docs}
    assert not others & {row["input"] for row in rows}


@pytest.mark.parametrize("name", [*COUNTED, *ASKED])
def test_perfect_reply_scores_one_and_a_wrong_one_nothing(name, root) -> None:
    task = made(name, root)
    assert task.process_results is not None
    for doc in task.docs:
        answers, length = doc.row["outputs"], str(doc.row["max_length"])
        assert len(answers) == ANSWERS.get(name, 1) or name == "ruler_qa_squad"
        assert all(answer in doc.row["input"] for answer in answers if name != "ruler_qa_squad")
        assert task.process_results(doc.row, [f" It is {', '.join(answers).upper()}\n."]) == {length: 1.0}
        assert task.process_results(doc.row, ["Nothing of the kind."]) == {length: 0.0}


def test_half_of_the_answers_is_half_a_score() -> None:
    (doc, *_) = (task := made("niah_multivalue")).docs
    assert task.process_results is not None
    assert task.process_results(doc.row, [", ".join(doc.row["outputs"][:2])]) == {"2048": 0.5}


@pytest.mark.parametrize("name", NEEDLES)
def test_needles_lie_at_their_depth(name) -> None:
    for doc in made(name).docs:
        text = doc.row["input"].partition("afterwards.\n")[2].rpartition("\nWhat ")[0]
        for answer, depth in zip(doc.row["outputs"], doc.row["depths"], strict=True):
            assert text.count(answer) == 1
            assert abs(100 * text.index(f"is: {answer}.") / len(text) - depth) < 10


def test_needles_lie_at_all_depths() -> None:
    depths = [doc.row["depths"][0] for doc in made("niah_single_2", max_seq_lengths=[2048], samples=40).docs]
    assert min(depths) < 15 and max(depths) > 85 and len(set(depths)) > 10


def test_keys_that_are_asked_for_have_one_value() -> None:
    for doc in made("niah_multikey_2").docs:
        key = doc.row["gen_prefix"].removeprefix("The special magic number for ").split(" ")[0]
        assert doc.row["input"].count(f"for {key} is:") == 1


def test_chain_leads_from_the_value_to_its_last_variable() -> None:
    for doc in made("ruler_vt").docs:
        puzzle = doc.row["input"].rpartition("Memorize")[2]
        value = doc.row["gen_prefix"].split("the value ")[1].split(",")[0]
        lines = [line.removeprefix("VAR ") for line in puzzle.splitlines() if line.startswith("VAR ")]
        given = [value, *(f"VAR {name}" for name in doc.row["outputs"])]
        assert lines == [f"{name} = {source}" for name, source in zip(doc.row["outputs"], given, strict=False)]


@pytest.mark.parametrize(("name", "top"), [("ruler_cwe", 10), ("ruler_fwe", 3)])
def test_answers_are_the_most_frequent_words(name, top) -> None:
    for doc in made(name).docs:
        listed = re.split(r"often\.\n|coded words\. |\nQuestion", doc.row["input"])[1]
        words = Counter(word for word in listed.split() if word.isalpha())
        (*_, last), (after, *_) = words.most_common(top), words.most_common()[top:]
        assert {word for word, _ in words.most_common(top)} == set(doc.row["outputs"])
        assert last[1] > after[1]


@pytest.mark.parametrize("name", ASKED)
def test_question_stands_among_paragraphs_that_answer_it(name, root) -> None:
    task = made(name, root)
    for doc in task.docs:
        assert "Document 1:\n" in doc.row["input"] and doc.row["length"] <= doc.row["max_length"]
        assert any(answer.lower() in doc.row["input"].lower() for answer in doc.row["outputs"])
        assert doc.row["gen_prefix"] == "Answer:"


def test_row_depends_on_nothing_but_itself() -> None:
    few, many = made("niah_single_3"), made("niah_single_3", samples=SAMPLES + 3, max_seq_lengths=[4096])
    rows = [doc.row for doc in few.docs if doc.row["max_length"] == 4096]
    assert rows == [doc.row for doc in many.docs][:SAMPLES]


def test_length_without_room_is_refused() -> None:
    with pytest.raises(UserError, match=r"ruler_cwe\.yaml: no sample fits into 128 tokens"):
        made("ruler_cwe", max_seq_lengths=[128])


def test_without_tokenizer_lengths_are_words() -> None:
    config = composed(SHELF / "ruler", "niah_single_1", model=ModelConfig(kind="dummy"))
    config.tasks["niah_single_1"]["metadata"] |= {"max_seq_lengths": [512], "samples": 1}
    (task,) = build_tasks(config)
    (prompt,) = prompts(task)
    assert 0.9 * 512 < len(prompt.split()) + 128 <= 512


def test_prose_goes_on_where_it_was_cut() -> None:
    prose = resolve_function(f"!function {SHELF}/ruler/texts.prose", where=str(SHELF))
    assert prose(700)[:600] == prose(600)
    assert len(set(prose(2000))) > 1990


def test_fit_finds_the_most_that_fits() -> None:
    lengths = resolve_function(f"!function {SHELF}/ruler/lengths.fit", where=str(SHELF))
    module = __import__(lengths.__module__, fromlist=["Recipe"])
    recipe = module.Recipe(
        make=lambda units, rng: module.Sample(input="x " * (7 * units), outputs=["x"], gen_prefix="x"), reply_tokens=3
    )
    sizes = random.Random(0).sample(range(20, 5000), 50)
    found = [lengths(recipe, lambda text: len(text.split()), length=size, key="k", units=1) for size in sizes]
    assert all(size * 0.98 - 7 < fit.tokens <= size for size, fit in zip(sizes, found, strict=True))
