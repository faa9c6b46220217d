from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.build import build_pipelines


class Suffix:
    """A filter as task code writes it for lm-eval."""

    def __init__(self, suffix: str = "!") -> None:
        self.suffix = suffix

    def apply(self, resps: Any, docs: Any) -> Any:
        return ([reply + self.suffix for reply in entry] for entry in resps)


class Anything:
    def __init__(self, **kwargs: Any) -> None:
        self.apply = kwargs["filter_fn"]


def plain(resps: Any, docs: Any) -> Any:
    return resps


class NoApply:
    pass


def build(spec: Any) -> tuple[Any, ...]:
    return build_pipelines(spec, where="my.yaml")


def run(steps: list[Any], replies: list[str]) -> Any:
    (pipeline,) = build({"p": steps})
    return pipeline([replies], [{}])[0]


@pytest.mark.parametrize("spec", [None, [], {}], ids=["none", "empty_list", "empty_mapping"])
def test_default_takes_the_first_reply(spec: Any) -> None:
    (pipeline,) = build(spec)
    assert (pipeline.name, pipeline([["a", "b"]], [{}])) == ("none", ["a"])


def test_default_serves_likelihoods() -> None:
    (pipeline,) = build(None)
    assert pipeline([[(-1.0, False)], [(-2.0, True)]], [{}, {}]) == [(-1.0, False), (-2.0, True)]


def test_lm_eval_form_and_mapping_form_are_the_same() -> None:
    steps = [{"function": "regex", "regex_pattern": r"\d"}, {"function": "take_first"}]
    from_list, from_mapping = build([{"name": "strict", "filter": steps}]), build({"strict": steps})
    resps = [["a1", "b2"], ["c"]]
    assert from_list[0].name == from_mapping[0].name == "strict"
    assert from_list[0](resps, [{}, {}]) == from_mapping[0](resps, [{}, {}]) == ["1", "[invalid]"]


def test_pipelines_keep_their_order_and_start_from_the_replies() -> None:
    first, second = build({"z": ["lowercase", "take_first"], "a": ["take_first"]})
    assert (first.name, second.name) == ("z", "a")
    assert (first([["A"]], [{}]), second([["A"]], [{}])) == (["a"], ["A"])


@pytest.mark.parametrize(
    ("steps", "replies", "expected"),
    [
        pytest.param([], ["a"], ["a"], id="no_step"),
        pytest.param(["take_first", "lowercase"], ["A", "B"], "a", id="select_then_change"),
        pytest.param(
            ["take_first", {"function": "map", "mapping_dict": {"A": 0}, "default_value": -1}, "take_first"],
            ["A"],
            0,
            id="select_map_select",
        ),
        pytest.param(
            [{"function": "take_first_k", "k": 3}, {"function": "regex", "regex_pattern": r"\d"}, "majority_vote"],
            ["x1", "y2", "z2", "w1", "w1"],
            ["2"],
            id="self_consistency",
        ),
        pytest.param([{"function": Suffix}], ["a"], ["a!"], id="own_class"),
        pytest.param([{"function": Suffix, "suffix": "?"}, "take_first"], ["a"], "a?", id="own_class_with_option"),
        pytest.param([{"function": partial(Suffix, "#")}], ["a"], ["a#"], id="own_partial"),
        pytest.param([{"function": Anything, "filter_fn": plain}], ["a"], ["a"], id="own_class_with_any_option"),
        pytest.param([{"function": "custom", "filter_fn": plain}], ["a"], ["a"], id="custom"),
    ],
)
def test_steps(steps: list[Any], replies: list[str], expected: Any) -> None:
    assert run(steps, replies) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"p": [{"function": "regexx"}]},
            "my.yaml: filter pipeline 'p': unknown filter 'regexx'. Did you mean 'regex'?",
            id="unknown_filter",
        ),
        pytest.param(
            {"p": [{"function": "regex", "regex_patern": "x"}]},
            "my.yaml: filter pipeline 'p': filter 'regex' has no option 'regex_patern'. Did you mean 'regex_pattern'? "
            "It takes: fallback, group_select, regex_pattern.",
            id="unknown_option",
        ),
        pytest.param(
            {"p": [{"function": "take_first", "k": 1}]},
            "filter 'take_first' has no option 'k'. It takes no options.",
            id="no_options",
        ),
        pytest.param(
            {"p": ["take_first_k"]}, "filter 'take_first_k' needs the option 'k'. It takes: k.", id="missing_option"
        ),
        pytest.param(
            {"p": [{"function": "regex", "regex_pattern": "(a"}]},
            "filter 'regex': '(a' is not a regular expression: missing ), unterminated subpattern at position 0.",
            id="bad_regex",
        ),
        pytest.param(
            {"p": [{"function": "regex", "regex_pattern": 5}]}, "filter 'regex': 5 must be text", id="number_as_regex"
        ),
        pytest.param(
            {"p": [{"function": "multi_choice_regex", "regexes_to_ignore": ["a", "*"]}]},
            "filter 'multi_choice_regex': '*' is not a regular expression: nothing to repeat at position 0.",
            id="bad_regex_to_ignore",
        ),
        pytest.param(
            {"p": [{"function": Suffix, "sufix": "?"}]},
            "filter 'Suffix' has no option 'sufix'. Did you mean 'suffix'? It takes: suffix.",
            id="unknown_option_of_own_class",
        ),
        pytest.param(
            {"p": ["decontaminate"]},
            "my.yaml: filter pipeline 'p': the filter 'decontaminate' is not supported: in lm-eval it is a stub",
            id="stub",
        ),
        pytest.param({"p": [{"function": plain}]}, "A plain function goes in as {function: custom", id="own_function"),
        pytest.param({"p": [{"function": NoApply}]}, "class 'NoApply' has no method apply", id="no_apply"),
        pytest.param({"p": [{"function": 3}]}, "function must be a filter's name or !function, not 3", id="number"),
        pytest.param({"p": [{"name": "regex"}]}, "a step lacks the key function", id="no_function"),
        pytest.param({"p": "take_first"}, "its steps must be a list such as [take_first], not 'take_first'", id="text"),
        pytest.param("strict", "my.yaml: filters must be a list of {name, filter} or a mapping", id="not_a_list"),
        pytest.param([{"name": "p"}], "must have exactly the keys name and filter", id="no_steps"),
        pytest.param(
            [{"name": "p", "filter": []}, {"name": "p", "filter": []}],
            "my.yaml: two filter pipelines are called 'p'",
            id="same_name_twice",
        ),
    ],
)
def test_messages(spec: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        build(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["remove_whitespace", "lowercase", "uppercase", "format_span", "strip_reasoning"])
@pytest.mark.parametrize("reply", [(-1.5, True), None, 3], ids=["likelihood", "nothing", "number"])
def test_a_filter_for_text_says_what_it_was_given(name: str, reply: Any) -> None:
    with pytest.raises(UserError) as caught:
        build({"p": [name]})[0]([[reply]], [{}])
    assert str(caught.value) == f"filter '{name}' takes text, but was given {reply!r}."
