from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters import FILTERS


def one(name: str, reply: Any, **options: Any) -> Any:
    return FILTERS[name](**options)([[reply]], [{}])[0][0]


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        pytest.param({}, "so. Answer: 4 \n", "4", id="stripped"),
        pytest.param({}, "Answer: 3. No. Answer: 4", "4", id="last"),
        pytest.param({"last": False}, "Answer: 3. No. Answer: 4", "3. No. Answer: 4", id="first"),
        pytest.param({}, "Answer:", "", id="nothing_after_it"),
        pytest.param({}, "answer: 4", "[invalid]", id="case_counts"),
        pytest.param({"fallback": "?"}, None, "?", id="no_text"),
    ],
)
def test_after(options: dict[str, Any], reply: Any, expected: str) -> None:
    assert one("after", reply, text="Answer:", **options) == expected


@pytest.mark.parametrize(
    ("field", "reply", "expected"),
    [
        pytest.param("answer", '{"answer": "B"}', "B", id="text"),
        pytest.param("answer", '{"answer": 4.50}', "4.5", id="number"),
        pytest.param("answer", '{"answer": ["é", true]}', '["é", true]', id="list"),
        pytest.param("answer.value", 'So:\n```json\n{"answer": {"value": "B"}}\n```', "B", id="inwards_in_a_fence"),
        pytest.param("steps.1", '{"steps": ["a", "b"]}', "b", id="place_in_a_list"),
        pytest.param("steps.2", '{"steps": ["a", "b"]}', "[invalid]", id="no_such_place"),
        pytest.param("answer", '{"answer": "A"} or {"answer": "B"} {"why": 1}', "B", id="last_object_that_has_it"),
        pytest.param("answer", 'say {this} {"answer": "B"}', "B", id="braces_that_are_no_json"),
        pytest.param("answer", '{"answer": "B"', "[invalid]", id="cut_off"),
        pytest.param("answer", '{"answer": null}', "[invalid]", id="null"),
        pytest.param("answer", '{"in": {"answer": "B"}}', "[invalid]", id="only_further_in"),
        pytest.param("answer", 3, "[invalid]", id="no_text_to_read"),
    ],
)
def test_json_field(field: str, reply: Any, expected: str) -> None:
    assert one("json_field", reply, field=field) == expected


@pytest.mark.parametrize(("name", "option"), [("after", "text"), ("json_field", "field")])
@pytest.mark.parametrize("value", ["", 3])
def test_what_to_look_for_must_be_text(name: str, option: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"{option}={value!r} must"):
        FILTERS[name](**{option: value})
