from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.config.schema import GenerationOverrides
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.records import Generation
from hydra_eval.tasks.generation import generation, merged_kwargs, stop_strings


def merged(kwargs: dict[str, Any] | None = None, **overrides: Any) -> dict[str, Any]:
    return merged_kwargs(
        TaskConfig(task="t", file="t.yaml", generation_kwargs=kwargs), GenerationOverrides(**overrides)
    )


def resolved(kwargs: dict[str, Any] | None = None, **overrides: Any) -> Generation:
    return generation(merged(kwargs, **overrides), seed=7, where="t.yaml")


def test_a_task_that_says_nothing_is_greedy_to_the_examples_delimiter() -> None:
    assert merged() == {"temperature": 0.0, "do_sample": False, "max_gen_toks": 256, "until": ["\n\n"]}
    assert resolved() == Generation(max_new_tokens=256, stop=("\n\n",), do_sample=False, temperature=0.0, seed=7)


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"max_gen_toks": 8}, {"max_gen_toks": 8, "until": ["\n\n"]}),
        ({"until": []}, {"until": []}),
        ({"until": "###"}, {"until": "###"}),
        ({"temperature": 0, "until": ["x"]}, {"temperature": 0.0, "until": ["x"]}),
        ({"temperature": "0.5"}, {"temperature": 0.5, "until": ["\n\n"]}),
        ({}, {"until": ["\n\n"]}),
    ],
)
def test_a_task_that_says_something_gets_its_stop_filled_in_and_nothing_else(
    kwargs: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert merged(kwargs) == expected
    assert repr(merged(kwargs).get("temperature")) == repr(expected.get("temperature"))


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"max_new_tokens": 9}, {"max_new_tokens": 9, "until": ["x"], "top_p": 0.9}),
        ({"stop": "y"}, {"max_new_tokens": 5, "until": ["y"], "top_p": 0.9}),
        ({"stop": []}, {"max_new_tokens": 5, "until": [], "top_p": 0.9}),
        ({"top_p": 0.5}, {"max_new_tokens": 5, "until": ["x"], "top_p": 0.5}),
        ({"top_k": 3, "extra": {"num_beams": 2}}, {"top_k": 3, "num_beams": 2}),
        ({"do_sample": True, "temperature": 0.7}, {"do_sample": True, "temperature": 0.7}),
        ({"do_sample": False}, {"do_sample": False}),
        ({"temperature": 0.0}, {"temperature": 0.0}),
    ],
)
def test_the_runs_values_win_key_by_key(overrides: dict[str, Any], expected: dict[str, Any]) -> None:
    own = {"max_new_tokens": 5, "until": ["x"], "top_p": 0.9}
    assert merged(own, **overrides) == own | expected


def test_overrides_leave_the_task_as_it_was() -> None:
    own: dict[str, Any] = {"until": ["x"]}
    merged(own, stop=["y"], top_k=3)
    assert own == {"until": ["x"]}


@pytest.mark.parametrize(
    ("kwargs", "length"),
    [
        ({"max_gen_toks": 1, "max_new_tokens": 2, "max_tokens": 3, "max_completion_tokens": 4}, 1),
        ({"max_new_tokens": 2, "max_tokens": 3, "max_completion_tokens": 4}, 2),
        ({"max_completion_tokens": 4, "max_tokens": 3}, 3),
        ({"max_completion_tokens": 4}, 4),
        ({"max_gen_toks": None, "max_tokens": 3}, 3),
        ({"until": []}, 256),
    ],
)
def test_the_first_name_for_the_length_counts(kwargs: dict[str, Any], length: int) -> None:
    assert resolved(kwargs).max_new_tokens == length
    assert resolved(kwargs).extra == {}


def test_the_runs_length_replaces_the_tasks_under_whatever_name() -> None:
    assert resolved({"max_tokens": 3}, max_new_tokens=9).max_new_tokens == 9
    assert resolved({"max_gen_toks": 1, "max_tokens": 3}, max_new_tokens=9).max_new_tokens == 9
    assert resolved(None, max_new_tokens=9).max_new_tokens == 9
    assert resolved({"max_gen_toks": None, "max_tokens": 3}, max_new_tokens=9).max_new_tokens == 9


@pytest.mark.parametrize(
    ("kwargs", "sampled", "temperature"),
    [
        ({}, False, 0.0),
        ({"temperature": 0.8}, True, 0.8),
        ({"temperature": 0.0}, False, 0.0),
        ({"do_sample": False, "temperature": 0.8}, False, 0.0),
        ({"do_sample": True, "temperature": 0.8}, True, 0.8),
        ({"do_sample": True}, True, None),
        ({"do_sample": None, "temperature": 0.8}, True, 0.8),
    ],
)
def test_sampling_follows_do_sample_and_without_it_the_temperature(
    kwargs: dict[str, Any], sampled: bool, temperature: float | None
) -> None:
    assert (resolved(kwargs).do_sample, resolved(kwargs).temperature) == (sampled, temperature)


@pytest.mark.parametrize(
    ("value", "expected"), [("\n\n", ["\n\n"]), (["a", "b"], ["a", "b"]), ([], []), (None, []), ("nn", ["nn"])]
)
def test_one_string_is_one_stop(value: Any, expected: list[str]) -> None:
    assert stop_strings(value, where="t") == expected


def test_a_tasks_empty_stop_stops_nothing() -> None:
    assert resolved({"until": ["", "x"]}).stop == ("x",)


def test_other_keys_are_handed_on() -> None:
    kwargs = {"num_beams": 4, "repetition_penalty": 1.1, "top_p": 0.9, "top_k": 5, "until": ["x"], "max_tokens": 3}
    found = resolved(kwargs)
    assert (found.extra, found.top_p, found.top_k) == ({"num_beams": 4, "repetition_penalty": 1.1}, 0.9, 5)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"max_gen_toks": 0}, "the longest reply is 0 tokens"),
        ({"max_gen_toks": "many"}, "the longest reply is 'many' tokens"),
        ({"max_gen_toks": True}, "the longest reply is True tokens"),
        ({"max_gen_toks": 2.5}, "the longest reply is 2.5 tokens"),
        ({"until": 5}, "a stop must be a string, but one is 5"),
        ({"until": ["a", None]}, "a stop must be a string, but one is None"),
        ({"do_sample": True, "temperature": 0.0}, "do_sample=true with temperature=0"),
        ({"temperature": "warm"}, "temperature='warm' must be a number from 0"),
        ({"temperature": -1}, "temperature=-1 must be a number from 0"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^t.yaml: {message}"):
        resolved(kwargs)


@pytest.mark.parity
@pytest.mark.parametrize(
    "kwargs",
    [
        None,
        {},
        {"until": "x"},
        {"until": ["x", "y"], "max_gen_toks": 12},
        {"max_tokens": 3, "max_new_tokens": 4},
        {"temperature": 0.7},
        {"temperature": 0.7, "do_sample": False},
        {"temperature": 0.7, "do_sample": True, "top_p": 0.5, "num_beams": 2},
        {"temperature": 0},
        {"do_sample": False},
    ],
)
def test_the_same_options_as_lm_eval_makes_of_them(kwargs: dict[str, Any] | None) -> None:
    task_module = pytest.importorskip("lm_eval.config.task", reason="needs lm-evaluation-harness (extra: parity)")
    models = pytest.importorskip("lm_eval.models.utils", reason="needs lm-evaluation-harness (extra: parity)")
    copied = None if kwargs is None else dict(kwargs)
    theirs = task_module.TaskConfig(task="t", generation_kwargs=copied).generation_kwargs
    assert merged(kwargs) == theirs
    normal = models.normalize_gen_kwargs(theirs)
    ours = resolved(kwargs)
    assert (ours.max_new_tokens, list(ours.stop), ours.do_sample) == (
        normal["max_gen_toks"],
        normal["until"],
        normal["do_sample"],
    )
    assert ours.temperature == normal.get("temperature", 0.0)


@pytest.mark.parametrize("given", ["false", 1, [True]], ids=repr)
def test_do_sample_that_is_no_truth_value_is_refused(given: Any) -> None:
    with pytest.raises(UserError, match=r"do_sample=.* must be true or false"):
        generation({"until": [], "do_sample": given, "temperature": 1.0}, seed=1, where="t")


@pytest.mark.parametrize(
    ("name", "given"), [("top_p", "abc"), ("top_p", 0), ("top_p", 1.1), ("top_k", 2.5), ("top_k", True), ("top_k", -1)]
)
def test_cuts_that_no_sampler_takes_are_refused_before_the_model_is_asked(name: str, given: Any) -> None:
    with pytest.raises(UserError, match=f"t: {name}={given!r} must be"):
        generation({"until": [], "do_sample": True, "temperature": 1.0, name: given}, seed=1, where="t")
