from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sacrebleu

from hydra_eval.errors import UserError
from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.stats.corpus import sentence_counts

GOLDS = ["the cat sat on the mat", "a dog barked at the gate", "it rained all day long"]
REPLIES = ["the cat sat on the mat", "one hound howled near a door", "we stayed home all day"]
ONE_RIGHT = list(zip(GOLDS, REPLIES, strict=True))
"""One right document and two wrong ones: a score that looks at the first alone would be perfect."""
WORDINGS = [["the cat sat", "a cat is sitting there"], ["a dog barked at it", "the dog barks"], ["no", "not at all"]]

PUBLIC: dict[str, Callable[..., Any]] = {
    "bleu": sacrebleu.corpus_bleu,
    "chrf": sacrebleu.corpus_chrf,
    "chrf++": lambda replies, streams: sacrebleu.corpus_chrf(replies, streams, word_order=2),
    "ter": sacrebleu.corpus_ter,
}
NAMES = sorted(PUBLIC)


def value(name: str, values: list[Any]) -> Any:
    return AGGREGATIONS[name].combine(values)


@pytest.mark.parametrize("name", NAMES)
def test_every_document_counts(name: str) -> None:
    best = 0.0 if name == "ter" else 100.0
    assert value(name, ONE_RIGHT[:1]) == pytest.approx(best)
    assert abs(value(name, ONE_RIGHT) - best) > 30


@pytest.mark.parametrize("name", NAMES)
def test_it_is_sacrebleus_score(name: str) -> None:
    assert value(name, ONE_RIGHT) == PUBLIC[name](REPLIES, [GOLDS]).score


@pytest.mark.parametrize("name", NAMES)
def test_several_references(name: str) -> None:
    values = list(zip(WORDINGS, REPLIES, strict=True))
    first, second = zip(*WORDINGS, strict=True)
    assert value(name, values) == PUBLIC[name](REPLIES, [first, second]).score


def test_documents_keep_as_many_references_as_the_one_with_fewest() -> None:
    values = [(["no", "a dog barked"], "a dog barked"), (["yes"], "yes")]
    assert value("chrf", values) == value("chrf", [("no", "a dog barked"), ("yes", "yes")])


def test_a_list_of_one_reply_is_that_reply() -> None:
    assert value("bleu", [(gold, [reply]) for gold, reply in ONE_RIGHT]) == value("bleu", ONE_RIGHT)


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_documents_add_up_to_the_score(name: str) -> None:
    found = sentence_counts(name, ONE_RIGHT)
    assert found is not None
    counts, score = found
    assert len(counts) == 3
    assert score(counts.sum(axis=0)) == value(name, ONE_RIGHT)


def test_unlike_numbers_of_references_have_no_common_counts() -> None:
    assert sentence_counts("bleu", [("a", "a"), (["b", "c"], "b")]) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param([0.5], "aggregation 'bleu' combines pairs .* but a document's value is 0.5", id="number"),
        pytest.param([("a", ["b", "c"])], r"one text per document; a filter pipeline left \['b', 'c'\]", id="replies"),
        pytest.param([("a", None)], "one text per document; a filter pipeline left None", id="nothing"),
        pytest.param([([], "a")], r"as gold; a document has \[\]", id="no_reference"),
        pytest.param([(3, "a")], "as gold; a document has 3", id="number_as_gold"),
    ],
)
def test_values_that_are_no_pairs_of_texts(values: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        value("bleu", values)
