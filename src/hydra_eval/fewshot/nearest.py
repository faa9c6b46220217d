"""The most similar examples: TF-IDF or shared words, through scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from hydra_eval.fewshot.leaks import question
from hydra_eval.fewshot.picks import Candidates, Draw, Free
from hydra_eval.records import Doc

Similar: TypeAlias = Callable[[Sequence[str]], Any]
"""Texts → how similar each row of the pool is to them, of shape [rows, texts]."""

CHUNK = 64
"""Documents compared at once: 64 against 100,000 rows are 50 MB."""
SPARE = 8
"""Rows ranked beyond those asked for; the whole pool is ranked only for a document that needs more."""
DIGITS = 9
"""Similarities that differ by less are ties, which go to the earlier row."""


def nearest(draw: Draw) -> Candidates:
    """The pool by the similarity of its questions to the document's, the most similar first."""
    pool, guard = draw.plan.pool, draw.guard
    count = draw.plan.n + SPARE
    similar = SIMILARITIES[draw.plan.similarity]([question(guard.shot_template, shot.row) for shot in pool])
    asked = {doc.index: question(guard.template, doc.row) for doc in draw.asked}
    best = dict(zip(asked, _best(similar, list(asked.values()), count), strict=True))

    def candidates(doc: Doc, free: Free) -> Iterator[Doc]:
        yield from (pool[place] for place in best[doc.index])
        every = next(_best(similar, [asked[doc.index]], len(pool)))
        yield from (pool[place] for place in every[count:])

    return candidates


def _best(similar: Similar, texts: Sequence[str], count: int) -> Iterator[Any]:
    """For each text the places of the `count` most similar rows, the best first, ties by place."""
    for start in range(0, len(texts), CHUNK):
        of_texts = np.ascontiguousarray(np.round(similar(texts[start : start + CHUNK]), DIGITS).T)
        yield from (_ranked(of_rows, min(count, len(of_rows))) for of_rows in of_texts)


def _ranked(similarities: Any, count: int) -> Any:
    least = np.partition(similarities, -count)[-count] if count else 0.0
    places = np.flatnonzero(similarities >= least)
    return places[np.argsort(-similarities[places], kind="stable")][:count]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def by_tfidf(pool: Sequence[str]) -> Similar:
    """Cosine of TF-IDF vectors, whose weights come from the pool alone: no document changes another's examples."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(map(words, pool)):
        return lambda texts: np.zeros((len(pool), len(texts)))
    vectors = TfidfVectorizer(analyzer=words)
    rows = vectors.fit_transform(pool)
    return lambda texts: rows @ vectors.transform(texts).T.toarray()


def by_overlap(pool: Sequence[str]) -> Similar:
    """Words in common, as a share of all words of the two."""
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(map(words, pool)):
        return lambda texts: np.zeros((len(pool), len(texts)))
    vectors = CountVectorizer(analyzer=words, binary=True, dtype=np.float64)
    rows = vectors.fit_transform(pool)
    sizes = np.asarray(rows.sum(axis=1))

    def similar(texts: Sequence[str]) -> Any:
        common = rows @ vectors.transform(texts).T.toarray()
        return common / np.maximum(sizes + [len(set(words(text))) for text in texts] - common, 1.0)

    return similar


SIMILARITIES: dict[str, Callable[[Sequence[str]], Similar]] = {"tfidf": by_tfidf, "overlap": by_overlap}
