"""Hooks of tasks with generated answers: own examples, and lm-eval's verdicts on made-up replies."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.config.functions import resolve_function
from hydra_eval.config.schema import DataConfig
from hydra_eval.errors import UserError
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style

from ..toys import built
from .compare import SEED, SHELF, write_splits
from .rows_generation import DATA

MANY = settings(max_examples=400, deadline=None)


def hook(path: str) -> Any:
    """`folder/file.name` of the shelf."""
    return resolve_function(f"!function {SHELF}/{path}", where=str(SHELF))


def texts(*parts: str, most: int = 7) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=most).map("".join)


# hendrycks_math, minerva_math

LATEX = texts(
    *(r"\frac", r"\sqrt", r"\left(", r"\text{ cm", r"\dfrac", r"^\circ", r"\$", r"\%", "{", "}", "/", "=", " ", "."),
    *("1", "12", "0.5", "x", "-", "k", "\n", ","),
)
BOXES = texts(r"\boxed", r"\boxed ", r"\boxed{", "{", "}", "$", "a", "12")
FINAL = texts(
    *(
        r"\frac",
        r"\sqrt",
        "[3]",
        "{",
        "}",
        "=",
        "$",
        r"\text{",
        r"\boxed{",
        r"\mbox{",
        "an ",
        ".$",
        "\\",
        " ",
        "100,000",
    ),
    *("ft", "square", r"\ldots", r"\left", "cents", r"{,}", "1", "12", "a "),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [(r"\frac12", "1/2"), ("k = 3", "3"), (r"\sqrt3", r"\sqrt{3}"), (".5", r"\dfrac{1}{2}"), (r"45^\circ", "45")],
)
def test_spellings_of_one_value_are_the_same(one, other) -> None:
    assert hook("hendrycks_math/utils.is_same")(one, other)


def test_solution_without_box_is_named() -> None:
    with pytest.raises(UserError, match="no answer here"):
        hook("hendrycks_math/utils.answer")({"solution": "no answer here"})


@pytest.fixture(scope="module")
def hendrycks() -> Any:
    return lm_eval_module("hendrycks_math.utils")


@pytest.fixture(scope="module")
def minerva() -> Any:
    """lm-eval's file, imported beside libraries that are there for their names alone."""
    pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    version = importlib.metadata.version
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "math_verify", SimpleNamespace(parse=None, verify=None))
        patch.setattr(
            importlib.metadata, "version", lambda name: "4.11" if name.startswith("antlr4") else version(name)
        )
        return importlib.import_module("lm_eval.tasks.minerva_math.utils")


def lm_eval_module(name: str) -> Any:
    pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    return importlib.import_module(f"lm_eval.tasks.{name}")


@pytest.mark.parity
def test_hendrycks_verdicts_equal_lm_eval(hendrycks) -> None:
    ours = hook("hendrycks_math/utils.is_same")

    @MANY
    @given(LATEX, LATEX)
    def check(one: str, other: str) -> None:
        assert ours(one, other) == hendrycks.is_equiv(one, other)
        assert ours(one, one + " ") == hendrycks.is_equiv(one, one + " ")

    check()


@pytest.mark.parity
def test_boxed_answers_equal_lm_eval(hendrycks) -> None:
    ours = hook("hendrycks_math/utils.boxed")

    @MANY
    @given(BOXES)
    def check(solution: str) -> None:
        try:
            theirs = hendrycks.remove_boxed(hendrycks.last_boxed_only_string(solution))
        except (AssertionError, TypeError):
            theirs = None
        assert ours(solution) == theirs

    check()


@pytest.mark.parity
def test_minerva_spellings_equal_lm_eval(minerva) -> None:
    ours = hook("hendrycks_math/utils.plain")

    @MANY
    @given(FINAL)
    def check(answer: str) -> None:
        assert ours(answer) == minerva.normalize_final_answer(answer)

    check()


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Final Answer: The final answer is $12$. I hope it is correct.", 1),
        ("So 12.\nFinal Answer: The final answer is $12 \\text{ cm}$. I hope it is correct.", 1),
        ("Final Answer: The final answer is $13$. I hope it is correct.", 0),
        ("12", 0),
    ],
    ids=("set sentence", "with a unit", "wrong", "no sentence"),
)
def test_minerva_reads_the_last_sentence(reply, score) -> None:
    doc = {"solution": r"It is $\boxed{12\text{ cm}}$.", "answer": "12"}
    assert hook("hendrycks_math/utils.score_last_sentence")(doc, [reply])["exact_match"] == score


# drop

WORDS = texts("the ", "a ", "5", "5.0", "1,000", " ", "-", "lamp", "Lamp!", "nan", "$5", "half-time", "é", "\n", "An ")


@pytest.mark.parity
def test_drop_scores_equal_lm_eval() -> None:
    theirs, ours = lm_eval_module("drop.utils"), hook("drop/utils.score_reply")

    @MANY
    @given(WORDS, st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3))
    def check(reply: str, answers: list[list[str]]) -> None:
        for said in (reply, answers[0][0]):
            assert ours({"answers": answers}, [said]) == dict(theirs.process_results({"answers": answers}, [said]))

    check()


# bbh


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("I count 12, not 13.", "12"),
        ("There are six.", "6"),
        ("Two hundred and five lamps", "205"),
        ("none", "[invalid]"),
    ],
)
def test_first_number_in_digits_or_words(reply, number) -> None:
    assert hook("bbh/utils.Number")(group_select=0).apply([[reply]], [{}]) == [[number]]


@pytest.mark.parametrize("number", [0, 7, 40, 205, 1_013, 999_999])
def test_numbers_in_words_are_read(number) -> None:
    assert hook("bbh/utils.number_in_words")(in_words(number)) == number


def in_words(number: int) -> str:
    small = "zero one two three four five six seven eight nine ten eleven twelve thirteen".split()  # noqa: SIM905
    if number < len(small):
        return small[number]
    if number < 100:
        tens = {20: "twenty", 40: "forty", 90: "ninety"}[number // 10 * 10]
        return f"{tens} {in_words(number % 10)}" if number % 10 else tens
    if number < 1000:
        rest = f" and {in_words(number % 100)}" if number % 100 else ""
        return f"{in_words(number // 100)} hundred{rest}"
    return f"{in_words(number // 1000)} thousand {in_words(number % 1000)}"


# squadv2


def squad_row(*answers: str) -> dict[str, Any]:
    return {"answers": {"text": list(answers)}}


@pytest.mark.parametrize(
    ("answers", "reply", "exact", "f1"),
    [
        (["the blue lamp", "lamp"], "Blue Lamp!", 100.0, 100.0),
        (["the blue lamp"], "a lamp of blue glass", 0.0, 100 * 2 * 2 / 6),
        ([], "", 100.0, 100.0),
        ([], "unanswerable", 0.0, 0.0),
    ],
    ids=("spelling", "some words", "rightly nothing", "a word too many"),
)
def test_squad_scores(answers, reply, exact, f1) -> None:
    scores = hook("squadv2/utils.score_reply")(squad_row(*answers), [reply, (-1.0, False)])
    kind = "HasAns" if answers else "NoAns"
    assert (scores["exact"], scores["f1"]) == pytest.approx((exact, f1))
    assert (scores[f"{kind}_exact"], scores[f"{kind}_f1"]) == pytest.approx((exact, f1))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_best_threshold_is_the_best_of_all(documents) -> None:
    """Every threshold tried: above it a document counts as unanswered."""
    values = [(prob, score if has else (-1 if said else 0), has) for prob, score, has, said in documents]
    if len({prob for prob, *_ in documents}) < len(documents):
        return  # of equal probabilities any may come first

    def total(threshold: float) -> float:
        kept = [
            (score if has else float(not said)) if prob <= threshold else float(not has)
            for prob, score, has, said in documents
        ]
        return 100 * sum(kept) / len(kept)

    best = max(total(threshold) for threshold in (-1.0, *(prob for prob, *_ in documents)))
    assert hook("squadv2/utils.at_best_threshold")(values) == pytest.approx(best)


@pytest.mark.parity
def test_squad_requests_equal_lm_eval(tmp_path, monkeypatch) -> None:
    """Without examples: with any, lm-eval's class fails."""
    import datasets

    rows = DATA["lighteval/squad_v2"](None)
    file = SHELF / "squadv2/squadv2.yaml"
    write_splits(tmp_path, file, rows)
    (task,) = built(SHELF, "squadv2|0", data=DataConfig(root=str(tmp_path)))
    asked = prepare([task], Style(), batch_tokens=8192).requests_of
    ours = [(item.key.doc, item.kind.value, *item.arguments) for items in asked.values() for item in items]

    made = datasets.DatasetDict({split: datasets.Dataset.from_list(list(given)) for split, given in rows.items()})
    monkeypatch.setattr(datasets, "load_dataset", lambda *args, **kwargs: made)
    theirs = lm_eval_module("squadv2.task").SQuAD2()
    theirs.set_config("num_fewshot", 0)
    theirs.set_fewshot_seed(SEED)
    theirs.build_all_requests()
    assert ours == [(item.doc_id, item.request_type, *item.args) for item in theirs.instances]


def test_squad_examples_show_the_first_answer(tmp_path) -> None:
    write_splits(tmp_path, SHELF / "squadv2/squadv2.yaml", DATA["lighteval/squad_v2"](None))
    (task,) = built(SHELF, "squadv2|3", data=DataConfig(root=str(tmp_path)))
    prompts = [items[0].context for items in prepare([task], Style(), batch_tokens=8192).requests_of.values()]
    assert all(prompt.count("\nAnswer: ") == 3 for prompt in prompts)
    assert any("\nAnswer: unanswerable\n\n" in prompt for prompt in prompts)
    assert any("\nAnswer: the late bus\n\n" in prompt for prompt in prompts)


# humaneval, mbpp


@pytest.mark.parametrize(("right", "k", "chance"), [(2, 1, 0.5), (1, 2, 0.5), (3, 2, 1.0), (0, 1, 0.0)])
def test_chance_of_a_passing_program(right, k, chance) -> None:
    programs = ["x = 1"] * right + ["x = 2"] * (4 - right)
    scores = hook("humaneval/utils.pass_at_k")(["assert x == 1"], [programs], k=[k, 5])
    assert scores == pytest.approx({f"pass@{k}": chance})
