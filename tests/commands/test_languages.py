from __future__ import annotations

import pytest

from hydra_eval.commands.languages import language_code, languages_in


@pytest.mark.parametrize("text", ["de", "deu", "German", "GERMAN"])
def test_a_language_goes_by_code_or_name(text: str) -> None:
    assert language_code(text) == "de"


def test_what_is_no_language_has_no_code() -> None:
    assert language_code("klingon") is None


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["arc_de"], {"de"}),
        (["belebele_fra_Latn"], {"fr"}),
        (["xwinograd", "french_bench"], {"fr"}),
        (["include_base_44_german_marketing"], {"de"}),
        (["mmmlu_zh-cn"], {"zh"}),
        (["it_is_so", "no_language"], set()),
        (["dedication"], set()),
    ],
    ids=["code", "long code", "tag", "English name", "code and country", "English words", "inside of a word"],
)
def test_languages_are_read_off_names(names: list[str], found: set[str]) -> None:
    assert languages_in(names) == found
