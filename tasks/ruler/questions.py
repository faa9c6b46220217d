"""Questions about paragraphs, among as many other paragraphs as fit."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.errors import lookup

from .lengths import Recipe, Sample, rows_of

TEXT = (
    "Answer the question based on the given documents. Only give me the answer and do not output any other words.\n\n"
    "The following are given documents.\n\n{context}\n\nAnswer the question based on the given documents. Only give me "
    "the answer and do not output any other words.\n\nQuestion: {question}"
)
PREFIX = "Answer:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    answers: Sequence[str]
    gold: Sequence[str]
    """Paragraphs that must be there."""
    near: Sequence[str] = ()
    """Paragraphs of the same article, which come first among the others."""


def rows(*, source: str, **metadata: Any) -> dict[str, Any]:
    """The data set of one task; `source` is a key of `SOURCES`."""
    questions = lookup(SOURCES, source, kind="source", where="ruler_qa")()
    paragraphs = list(dict.fromkeys(text for question in questions for text in (*question.gold, *question.near)))

    def recipe_for(length: int, index: int) -> Recipe | None:
        if index >= len(questions):
            return None
        question = questions[index]
        return Recipe(
            make=lambda units, rng: sample(question, paragraphs, units, rng),
            reply_tokens=32,
            least=len(question.gold),
            most=len(paragraphs),
        )

    return rows_of(f"qa_{source}", recipe_for, metadata)


def sample(question: Question, paragraphs: Sequence[str], units: int, rng: random.Random) -> Sample:
    """`units` paragraphs in any order, the gold ones among them."""
    known = {*question.gold, *question.near}
    drawn = rng.sample(paragraphs, min(units + len(known), len(paragraphs)))
    far = [text for text in drawn if text not in known]
    chosen = [*question.gold, *rng.sample(question.near, len(question.near)), *far][:units]
    rng.shuffle(chosen)
    context = "\n\n".join(f"Document {number}:\n{text}" for number, text in enumerate(chosen, 1))
    return Sample(
        input=TEXT.format(context=context, question=question.text), outputs=question.answers, gen_prefix=PREFIX
    )


def _squad() -> list[Question]:
    """Those that have an answer."""
    rows = _validation("rajpurkar/squad_v2")
    articles: dict[str, dict[str, None]] = {}
    for row in rows:
        articles.setdefault(row["title"], {})[row["context"]] = None
    return [
        Question(
            text=row["question"],
            answers=list(dict.fromkeys(row["answers"]["text"])),
            gold=[row["context"]],
            near=[text for text in articles[row["title"]] if text != row["context"]],
        )
        for row in rows
        if row["answers"]["text"]
    ]


def _hotpot() -> list[Question]:
    return [
        Question(text=row["question"], answers=[row["answer"]], gold=_with_titles(row["context"]))
        for row in _validation("hotpotqa/hotpot_qa", "distractor")
    ]


def _with_titles(context: Mapping[str, Sequence[Any]]) -> list[str]:
    paragraphs = zip(context["title"], context["sentences"], strict=True)
    return [f"{title}\n{''.join(sentences)}" for title, sentences in paragraphs]


def _validation(path: str, name: str | None = None) -> list[dict[str, Any]]:
    import datasets

    return list(datasets.load_dataset(path, name, split="validation"))


SOURCES: Mapping[str, Callable[[], list[Question]]] = {"squad": _squad, "hotpot": _hotpot}
