"""Instructions that a program can check: verdicts on made-up replies, beside lm-eval's where it has them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.errors import UserError

from .test_generation_scores import MANY, hook

REPLIES = (
    "Lamps, lamps and more LAMPS!",
    '"A quoted line."',
    "* one\n* two\n- three\n*four*",
    "**bold** and *slanted* and ** **",
    "<<A title>>\n\nFirst words here.\n\n'Second' paragraph",
    "One.\n***\nTwo.\n***\n",
    "***One***\n\n***",
    "A first one.\n******\nA second one.",
    "same\n******\nsame******",
    '```json\n{"a": [1]}\n```',
    "Section 1\nText [here] and [there]\nSECTION 2 more",
    "It is so. My answer is maybe.\nP.S. Lamps. p. p. s. not",
    "Is there anything else I can help with?",
    "Sure! Here it is:\nall small letters\nBye.",
    "WRITE ABOUT LAMPS. LAMPS ARE FINE; DON'T ASK. I CANNOT.",
    "Write about lamps, please. They are warm.",
    "lamps glow; lamps go",
    "   ",
    "",
)
RELATIONS = ("less than", "at least")
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "keywords:existence": [{"keywords": ["lamp", "warm"]}, {"keywords": ["l.mps"]}],
    "keywords:frequency": [{"keyword": " lamps", "frequency": 2, "relation": relation} for relation in RELATIONS],
    "keywords:forbidden_words": [{"forbidden_words": ["lamp", "one"]}],
    "keywords:letter_frequency": [{"letter": "L", "let_frequency": 3, "let_relation": name} for name in RELATIONS],
    "length_constraints:number_paragraphs": [{"num_paragraphs": count} for count in (1, 2, 3)],
    "length_constraints:number_words": [{"num_words": 5, "relation": relation} for relation in RELATIONS],
    "length_constraints:nth_paragraph_first_word": [
        {"num_paragraphs": 3, "nth_paragraph": 3, "first_word": "Second"},
        {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "first"},
        {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "lamps"},
    ],
    "detectable_content:number_placeholders": [{"num_placeholders": 2}],
    "detectable_content:postscript": [{"postscript_marker": marker} for marker in ("P.S.", "P.P.S", "NB")],
    "detectable_format:number_bullet_lists": [{"num_bullets": count} for count in (2, 3, 4)],
    "detectable_format:constrained_response": [{}],
    "detectable_format:number_highlighted_sections": [{"num_highlights": count} for count in (1, 2, 3)],
    "detectable_format:multiple_sections": [{"section_spliter": name, "num_sections": 1} for name in ("Section", "X")],
    "detectable_format:json_format": [{}],
    "detectable_format:title": [{}],
    "combination:two_responses": [{}],
    "combination:repeat_prompt": [{"prompt_to_repeat": "write about lamps"}],
    "startend:end_checker": [{"end_phrase": " Help with?"}],
    "startend:quotation": [{}],
    "change_case:capital_word_frequency": [
        {"capital_frequency": count, "capital_relation": relation} for count in (1, 12) for relation in RELATIONS
    ],
    "punctuation:no_comma": [{}],
}
"""All kinds but the two that langdetect decides, the three of them, and sentences, which want data of NLTK's."""


@pytest.fixture(scope="module")
def ifeval() -> Iterator[Any]:
    """lm-eval's file; languages are not asked about, and words are NLTK's without its data for sentences."""
    pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    nltk = pytest.importorskip("nltk.tokenize", reason="needs NLTK, which lm-evaluation-harness brings")
    stand_ins = {"langdetect": SimpleNamespace(), "immutabledict": SimpleNamespace(immutabledict=dict)}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in stand_ins.items():
            if importlib.util.find_spec(name) is None:
                patch.setitem(sys.modules, name, module)
        utils = importlib.import_module("lm_eval.tasks.ifeval.utils")
        words = nltk.NLTKWordTokenizer()
        patch.setattr("lm_eval.tasks.ifeval.instructions_util.nltk.word_tokenize", words.tokenize)
        yield utils


@pytest.mark.parity
@pytest.mark.parametrize("kind", list(ARGUMENTS))
def test_ifeval_verdicts_equal_lm_eval(kind, ifeval) -> None:
    ours = hook("ifeval/utils.score_reply")
    for arguments in ARGUMENTS[kind]:
        doc = {"key": 1, "prompt": "Write.", "instruction_id_list": [kind, kind], "kwargs": [arguments, arguments]}
        for reply in REPLIES:
            assert ours(doc, [reply]) == ifeval.process_results(doc, [reply]), (arguments, reply)


@pytest.mark.parity
def test_capital_words_are_counted_as_nltk_does() -> None:
    words = pytest.importorskip("nltk.tokenize", reason="needs NLTK").NLTKWordTokenizer()
    ours = hook("ifeval/words.capital_words")
    parts = (
        "FOO",
        "Bar",
        "I'M",
        "NASA's",
        "DON'T",
        "CANNOT",
        "FOO-BAR",
        "A--B",
        "A,B",
        "3,000",
        "IT’S",
        "(X)",
        "R&D",
        '"Q"',
    )

    @MANY
    @given(st.lists(st.sampled_from(parts), max_size=6), st.sampled_from(("", ".", "!", "?", "...")))
    def check(found: list[str], end: str) -> None:
        text = " ".join(found) + end
        assert ours(text) == sum(word.isupper() for word in words.tokenize(text))

    check()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Lamp met Ms. Kettle at 3.5 miles, e.g. near the pond. Then they left.", 2),
        ("no end at all", 1),
        ('"Is it?" she asked. "Yes."', 2),
    ],
)
def test_sentences_by_rule(text, count) -> None:
    assert hook("ifeval/words._sentences_by_rule")(text) == count


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("THE LAMP IS ON THE TABLE AND IT IS OLD", "en"),
        ("die lampe ist nicht auf dem tisch und wir", "de"),
        ("лампа на столі, і ми її любимо", "uk"),
        ("टेबलावरचा दिवा जुना आहे आणि", "mr"),
        ("机の上のランプ", "ja"),
        ("12 + 3", None),
    ],
)
def test_language_by_letters_and_words(text, language) -> None:
    assert hook("ifeval/language.by_letters_and_words")(text) == language


def test_arguments_that_an_instruction_lacks_are_named() -> None:
    doc = {"instruction_id_list": ["length_constraints:number_words"], "kwargs": [{"num_words": 3, "relation": None}]}
    with pytest.raises(UserError, match=r"number_words.*relation"):
        hook("ifeval/utils.score_reply")(doc, ["Three words here."])
