from __future__ import annotations

import pytest

from hydra_eval.filters.boxed import boxed


def one(reply: object, **options: object) -> str:
    return str(boxed(**options)([[reply]], [{}])[0][0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(r"\[ \boxed{42} \]", "42", id="display_brackets"),
        pytest.param(r"$\boxed{42}$", "42", id="dollars"),
        pytest.param(r"$$\boxed{42}$$", "42", id="two_dollars"),
        pytest.param(r"\boxed{42}.", "42", id="bare"),
        pytest.param(r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", id="braces_within"),
        pytest.param(r"\boxed{\{1, 2\}}", r"\{1, 2\}", id="set"),
        pytest.param(r"\boxed{\left\{ x \right.}", r"\left\{ x \right.", id="half_a_set"),
        pytest.param(r"\boxed{1}, no, \boxed{ 2 }", "2", id="the_last_of_two"),
        pytest.param(r"\boxed{1} and then \boxed{2", "1", id="the_last_that_ends"),
        pytest.param(r"so \fbox{7}", "7", id="fbox"),
        pytest.param(r"so $\boxed 7$", "7", id="without_braces"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_box(reply: str, expected: str, strict: bool) -> None:
    assert one(reply, strict=strict) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param("the answer is $42$.", "42", id="dollars"),
        pytest.param("$$41$$ or $$42$$", "42", id="the_last_of_two"),
        pytest.param(r"so \[ 42 \]", "42", id="brackets"),
        pytest.param(r"so \( 42 \)", "42", id="parentheses"),
        pytest.param("$4\n2$", "4\n2", id="two_lines"),
    ],
)
def test_the_last_formula_stands_in_for_a_box(reply: str, expected: str) -> None:
    assert one(reply) == expected
    assert one(reply, strict=True) == "[invalid]"


@pytest.mark.parametrize("reply", ["forty-two", "", r"\boxed{42", r"\boxed", "that is $5", None])
def test_nothing_found(reply: object) -> None:
    assert one(reply, fallback="?") == "?"
