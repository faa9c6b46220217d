from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.patterns import compile_pattern, compile_patterns


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, []), ([], []), ("ab", ["ab"]), (["a", "b"], ["a", "b"]), (("a",), ["a"])],
    ids=["none", "empty", "one_not_its_letters", "list", "tuple"],
)
def test_several(given: Any, expected: list[str]) -> None:
    assert [pattern.pattern for pattern in compile_patterns(given)] == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [("[", "'[' is not a regular expression: unterminated character set"), (1.5, "1.5 must be text")],
    ids=["fault", "number"],
)
def test_messages(given: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        compile_pattern(given)
    assert message in str(caught.value)
