from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.config.spec import parse_spec, shown_parameters
from hydra_eval.errors import UserError


@pytest.mark.parametrize(
    ("text", "name", "shots", "parameters"),
    [
        ("a", "a", None, {}),
        ("a|0", "a", 0, {}),
        ("a b|12", "a b", 12, {}),
        ("mmlu:law|5", "mmlu:law", 5, {}),
        ("a@k=4", "a", None, {"k": 4}),
        ("a@k=4@n=16|5", "a", 5, {"k": 4, "n": 16}),
        ("a@t=0.5@s='x'@b=True@z=None", "a", None, {"t": 0.5, "s": "x", "b": True, "z": None}),
        ("a@ks=[1,5]@m={'x':(1,2)}", "a", None, {"ks": [1, 5], "m": {"x": [1, 2]}}),
        ("path/me@host/t.yaml@k=1", "path/me@host/t.yaml", None, {"k": 1}),
        ("tag:maths|3", "tag:maths", 3, {}),
    ],
)
def test_specs(text: str, name: str, shots: int | None, parameters: dict[str, Any]) -> None:
    spec = parse_spec(text)
    assert (spec.text, spec.name, spec.shots, spec.parameters, spec.suite) == (text, name, shots, parameters, None)


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("lighteval|gsm8k|5", "gsm8k|5"),
        ("leaderboard|arc:challenge|25|0", "arc:challenge|25"),
        ("suite|a@n=2@k=1|0|1", "a@k=1@n=2|0"),
    ],
)
def test_the_suite_of_the_old_form_counts_for_nothing(text: str, rewritten: str) -> None:
    spec = parse_spec(text)
    assert spec.rewritten == rewritten
    assert spec.suite == text.partition("|")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a|", r"'' after the bar must be a number of shots"),
        ("a|-1", r"'-1' after the bar"),
        ("a|five", r"'five' after the bar"),
        ("a|²", r"'²' after the bar"),
        ("a|b|c", r"'c' after the bar"),
        ("s|a|5|2", r"there are more bars than that"),
        ("s|a|5|0|0", r"there are more bars than that"),
        ("a@k", r"'k' cannot be read; write name, name\|shots or name@parameter=value\|shots"),
        ("a@=4", r"'=4' cannot be read"),
        ("a@k=1@n", r"'k=1@n' must be a name and a Python literal"),
        ("a@k=greedy", r"'k=greedy' must be a name and a Python literal: .* text in quotes \(k='x'\)"),
        ("a@k=", r"'k=' must be a name and a Python literal"),
        ("a@k={1}", r"'k=\{1\}' must be"),
        ("a@k=b'x'", r"'k=b'x'' must be"),
        ("a@k=1@k=2", r"the parameter 'k' is given twice"),
        ("@k=1", r"'@k=1' cannot be read"),
        ("|5", r"'\|5' cannot be read"),
    ],
)
def test_what_is_wrong_in_a_spec_is_named(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        parse_spec(text)
    assert str(caught.value).startswith(f"task={text}: ")


def test_parameters_read_the_same_in_any_order() -> None:
    assert shown_parameters({"n": 16, "k": 4}) == shown_parameters({"k": 4, "n": 16}) == "@k=4@n=16"
