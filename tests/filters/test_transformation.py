from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters import FILTERS

CASES = [
    pytest.param("remove_whitespace", {}, "\n a b\t", "a b", id="remove_whitespace"),
    pytest.param("lowercase", {}, "Straße Ä", "straße ä", id="lowercase"),
    pytest.param("uppercase", {}, "straße", "STRASSE", id="uppercase"),
    pytest.param("map", {"mapping_dict": {"A": 0, "B": 1}, "default_value": -1}, "B", 1, id="map"),
    pytest.param("map", {"mapping_dict": {"A": 0}, "default_value": -1}, "AB", -1, id="map_default"),
    pytest.param("map", {}, "A", None, id="map_nothing"),
    pytest.param(
        "format_span", {}, "Person: Ada, Alan $$ Country: Kenya", "per: ada $ per: alan $ loc: kenya", id="ner"
    ),
    pytest.param("format_span", {}, "ORG: none\nTime: noon$$", "date: noon", id="ner_without_none"),
    pytest.param("format_span", {}, "PER: the time: 5", "per: the DATE: 5", id="ner_label_within_a_name"),
    pytest.param("format_span", {}, "nobody", "", id="ner_nothing"),
]


@pytest.mark.parametrize(("name", "options", "reply", "expected"), CASES)
def test_every_reply_of_a_list(name: str, options: dict[str, Any], reply: str, expected: Any) -> None:
    assert FILTERS[name](**options)([[reply, reply], [reply]], [{}, {}]) == [[expected, expected], [expected]]


@pytest.mark.parametrize(("name", "options", "reply", "expected"), CASES)
def test_a_value_chosen_before_is_not_taken_for_a_list_of_letters(
    name: str, options: dict[str, Any], reply: str, expected: Any
) -> None:
    assert FILTERS[name](**options)([reply], [{}]) == [expected]


def test_map_wants_a_mapping() -> None:
    with pytest.raises(UserError, match="must be a mapping"):
        FILTERS["map"](mapping_dict=["A", "B"])
