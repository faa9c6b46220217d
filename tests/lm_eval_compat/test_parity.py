"""The stand-in's functions against lm-eval's own, on the same inputs."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.parity

PAIRS = [(0, 1), (1, 1), (2, 0), (2, 2), (1, 1)]
NUMBERS = [0.25, 0.0, 1.0, 0.5]
LIKELIHOODS = [(-3.0, 4), (-7.5, 2), (-0.25, 1)]
TEXTS = [
    "it is n't so",
    "( a ) and ' b ' , c .",
    'he said " no " , then',
    "nothing to do",
    "",
    " .,' (x )",
]
REPLIES = [["so #### 42 and #### -1,000"], ["none", "#### 7."], [""], [None]]
TAGGED = [["[('a', 'N'), ('b', 'V')]"], ["nothing"], [[("a", "N")]]]
CHOICES = [{"choices": ["Guilty", "Guilty of Romance", "no"]}] * 4
ANSWERS = [["It is (B)."], ["guilty of romance, I think"], ["the answer: C"], ["?"]]


def both(module: str, name: str) -> tuple[Any, Any]:
    """(ours, lm-eval's)."""
    theirs = pytest.importorskip(f"lm_eval.{module}", reason="needs lm-evaluation-harness (extra: parity)")
    return getattr(importlib.import_module(f"hydra_eval.lm_eval_compat.{module}"), name), getattr(theirs, name)


def best(metric_max: Callable[..., Any]) -> Any:
    return metric_max(lambda prediction, truth: len({*prediction} & {*truth}), "abcd", ["ax", "abc", ""])


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        ("utils", "weighted_f1_score", lambda f: f(PAIRS)),
        ("utils", "general_detokenize", lambda f: [f(text) for text in TEXTS]),
        ("utils", "softmax", lambda f: list(f([-1.0, -2.0, 3.5]))),
        ("utils", "apply_template", lambda f: f("{{a|upper}} {% if b %}b{% endif %}\n", {"a": "x", "b": 1})),
        ("utils", "apply_template", lambda f: f("{{a|regex_replace('x+', 'y')}}", {"a": "axxb"})),
        ("utils", "regex_replace", lambda f: f("aaa", "a", "b", count=2)),
        ("api.metrics", "mean", lambda f: f(NUMBERS)),
        ("api.metrics", "median", lambda f: f(NUMBERS)),
        ("api.metrics", "nanmean", lambda f: f([*NUMBERS, math.nan])),
        ("api.metrics", "perplexity", lambda f: f(NUMBERS)),
        ("api.metrics", "weighted_perplexity", lambda f: f(LIKELIHOODS)),
        ("api.metrics", "bits_per_byte", lambda f: f(LIKELIHOODS)),
        ("api.metrics", "weighted_mean", lambda f: f(LIKELIHOODS)),
        ("api.metrics", "f1_score", lambda f: f([(0, 1), (1, 1), (1, 0)])),
        ("api.metrics", "matthews_corrcoef", lambda f: f(PAIRS)),
        ("api.metrics", "brier_score", lambda f: f([(0, [0.5, 0.5]), (1, [0.9, 0.1])])),
        ("api.metrics", "sample_stddev", lambda f: f(NUMBERS)),
        ("api.metrics", "pop_stddev", lambda f: f(NUMBERS)),
        ("api.metrics", "mean_stderr", lambda f: f(NUMBERS)),
        ("api.metrics", "metric_max_over_ground_truths", best),
        ("filters.extraction", "RegexFilter", lambda f: f().apply(REPLIES, [{}] * 4)),
        ("filters.extraction", "RegexFilter", lambda f: f(r"#### (\S+)|(no\w)", -1, "?").apply(REPLIES, [{}] * 4)),
        ("filters.extraction", "POSFilter", lambda f: list(f().apply(TAGGED, [{}] * 3))),
        ("filters.extraction", "WhitespaceFilter", lambda f: f().apply([[" a "], ["b\n", ""]], [{}] * 2)),
        ("filters.extraction", "MultiChoiceRegexFilter", lambda f: f(r"(\([A-Z]\))").apply(ANSWERS, CHOICES)),
        (
            "filters.extraction",
            "MultiChoiceRegexFilter",
            lambda f: f(r"(\([A-Z]\))", ignore_case=True, ignore_punctuation=True).apply(ANSWERS, CHOICES),
        ),
        ("api.registry", "get_filter", lambda f: list(f("take_first")().apply([["a", "b"], ["c"]], [{}] * 2))),
        ("api.registry", "get_filter", lambda f: f("lowercase")().apply([["A", "b"], ["C"]], [{}] * 2)),
        ("api.registry", "get_aggregation", lambda f: f("mean")(NUMBERS)),
        ("api.registry", "get_metric_aggregation", lambda f: f("word_perplexity")(LIKELIHOODS)),
        ("api.registry", "is_higher_better", lambda f: [f(name) for name in ("acc", "perplexity", "brier_score")]),
    ],
)
def test_the_same_value(module: str, name: str, call: Callable[[Any], Any]) -> None:
    if name.startswith("get_filter"):
        pytest.importorskip("lm_eval.filters", reason="needs lm-evaluation-harness (extra: parity)")
    if module == "api.registry":
        pytest.importorskip("lm_eval.api.metrics", reason="needs lm-evaluation-harness (extra: parity)")
    ours, theirs = (call(function) for function in both(module, name))
    assert ours == pytest.approx(theirs, rel=1e-12) if isinstance(theirs, float) else ours == theirs


@pytest.mark.parametrize(
    "change", [{}, {"metadata": ("t", 7, 2)}, {"arguments": "text"}], ids=["plain", "metadata", "bare text"]
)
def test_an_instance_has_the_same_fields(change: dict[str, Any]) -> None:
    given = {"request_type": "generate_until", "doc": {"a": 1}, "arguments": ("a", {}), "idx": 3} | change
    ours, theirs = (vars(one(**given)) | {"args": one(**given).args} for one in both("api.instance", "Instance"))
    assert ours == theirs


def test_a_chain_of_filters_leaves_the_same_in_the_instances() -> None:
    left = []
    for build, instance in zip(both("filters", "build_filter_ensemble"), both("api.instance", "Instance"), strict=True):
        chain = build("chain", [("regex", {"regex_pattern": r"\d+"}), ("take_first", None)])
        instances = [instance("generate_until", {}, ("", {}), 0, resps=[reply]) for reply in ("a 12", "b")]
        chain.apply(instances)
        left.append([one.filtered_resps for one in instances])
    assert left[0] == left[1] == [{"chain": "12"}, {"chain": "[invalid]"}]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("sampler", ["ContextSampler", "FirstNSampler"])
@pytest.mark.parametrize("within", [False, True], ids=["other rows", "the document among them"])
def test_the_same_examples(sampler: str, n: int, within: bool) -> None:
    pool = [{"row": number % 6} for number in range(8)]
    drawn = []
    for make in both("api.samplers", sampler):
        source = make(pool)
        source.set_rnd(5)
        drawn.append([source.sample(n, eval_doc=doc if within else None) for doc in pool])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "given",
    [{}, {"output_type": "multiple_choice"}, {"generation_kwargs": {"max_gen_toks": 3}}, {"fewshot_delimiter": "#"}],
    ids=["nothing", "choice", "generation", "delimiter"],
)
def test_a_config_has_the_same_defaults(given: dict[str, Any]) -> None:
    ours, theirs = (config(task="t", **given) for config in both("config.task", "TaskConfig"))
    shared = [key for key in vars(theirs) if key != "fewshot_config"]
    assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}


def test_a_key_that_no_task_has_is_the_same_error() -> None:
    for config in both("config.task", "TaskConfig"):
        with pytest.raises(TypeError):
            config(recipe="x")
