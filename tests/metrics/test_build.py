from __future__ import annotations

import logging
from functools import partial
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics import AGGREGATIONS, DEFAULT_METRICS, METRICS, PAIR_AGGREGATIONS, PAIR_SCORES
from hydra_eval.metrics.base import BoundMetric, ChoiceOutcome, GenerationOutcome
from hydra_eval.metrics.build import build_metrics


def lengths(references: list[str], predictions: list[str], scale: int = 1) -> int:
    return scale * len(predictions[0])


def pair(items: list[Any]) -> list[Any]:
    return items


def longest(values: list[int]) -> int:
    return max(values)


def build(spec: Any, output_type: str = "generate_until", *, process_results: bool = False) -> tuple[BoundMetric, ...]:
    return build_metrics(spec, output_type=output_type, has_process_results=process_results, where="my.yaml")


def value(metric: BoundMetric, prediction: str, gold: str) -> Any:
    assert metric.score is not None
    return metric.score(GenerationOutcome(prediction=prediction, gold=gold))


@pytest.mark.parametrize("output_type", sorted(METRICS))
@pytest.mark.parametrize("spec", [None, {}], ids=["none", "empty_mapping"])
def test_defaults(output_type: str, spec: Any) -> None:
    assert tuple(metric.name for metric in build(spec, output_type)) == DEFAULT_METRICS[output_type]


def test_an_empty_list_means_no_metrics() -> None:
    assert build([]) == ()


@pytest.mark.parametrize(
    ("output_type", "name", "aggregation", "higher"),
    [
        ("multiple_choice", "acc", "mean", True),
        ("multiple_choice", "mcc", "matthews_corrcoef", True),
        ("multiple_choice", "brier_score", "brier_score", False),
        ("multiple_choice", "likelihood", "gold_loglikelihood", True),
        ("loglikelihood", "perplexity", "perplexity", False),
        ("loglikelihood_rolling", "word_perplexity", "weighted_perplexity", False),
        ("loglikelihood_rolling", "bits_per_byte", "bits_per_byte", False),
        ("generate_until", "f1", "f1", True),
        ("generate_until", "bleu", "bleu", True),
        ("generate_until", "chrf++", "chrf++", True),
        ("generate_until", "ter", "ter", False),
        ("multiple_choice", "acc_all", "acc_all", True),
        ("loglikelihood", "acc_all", "acc_all", True),
    ],
)
def test_aggregation_and_direction_by_default(output_type: str, name: str, aggregation: str, higher: bool) -> None:
    (metric,) = build([{"metric": name}], output_type)
    assert (metric.aggregation, metric.higher_is_better) == (AGGREGATIONS[aggregation], higher)


def test_aggregation_and_direction_as_given() -> None:
    (metric,) = build([{"metric": "exact_match", "aggregation": "median", "higher_is_better": False}])
    assert (metric.aggregation.name, metric.higher_is_better) == ("median", False)


def test_own_aggregation_has_no_stderr() -> None:
    (metric,) = build([{"metric": "f1", "aggregation": longest}])
    assert (metric.aggregation.name, metric.aggregation.stderr) == ("longest", "none")
    assert metric.aggregation.combine([1, 3]) == 3


def test_options_reach_the_score() -> None:
    strict, loose = build([{"metric": "exact_match"}])[0], build({"exact_match": {"ignore_case": True}})[0]
    assert (value(strict, "A", "a"), value(loose, "A", "a")) == (0.0, 1.0)
    assert (strict.options, loose.options) == ({}, {"ignore_case": True})


@pytest.mark.parametrize(
    "options", [None, {}, {"aggregation": "mean", "higher_is_better": True}], ids=["none", "empty", "all"]
)
def test_mapping_form_equals_list_form(options: Any) -> None:
    assert build({"exact_match": options}) == build([{"metric": "exact_match", **(options or {})}])


@pytest.mark.parametrize(
    ("metric", "name", "options", "expected"),
    [
        pytest.param(lengths, "lengths", {}, 3, id="keywords"),
        pytest.param(lengths, "lengths", {"scale": 2, "ignore_case": True}, 6, id="options"),
        pytest.param(pair, "pair", {"ignore_case": True}, ["ab", "abc"], id="one_list"),
        pytest.param(partial(lengths, scale=3), "lengths", {}, 9, id="partial"),
    ],
)
def test_own_metric(metric: Any, name: str, options: dict[str, Any], expected: Any) -> None:
    (bound,) = build([{"metric": metric, "aggregation": "mean", **options}])
    assert (bound.name, bound.higher_is_better, value(bound, "abc", "ab")) == (name, None, expected)


@pytest.mark.parametrize("option", ["ignore_case", "regexes_to_ignore", "average", "weight_by_size", "high_is_better"])
def test_options_that_lm_eval_passes_over(option: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        (metric,) = build([{"metric": "acc", option: True, "hf_evaluate": True}], "multiple_choice")
    assert metric.options == {}
    assert f"metric 'acc': option {option} has no effect" in caplog.text


@pytest.mark.parametrize(
    ("metric", "aggregation", "higher"),
    [("perplexity", "perplexity", False), ("bleu_max", "mean", None), (lengths, "mean", None)],
    ids=["known_name", "any_name", "function"],
)
def test_names_that_process_results_fills(metric: Any, aggregation: str, higher: bool | None) -> None:
    (bound,) = build([{"metric": metric, "scale": 2} if callable(metric) else {"metric": metric}], process_results=True)
    assert (bound.score, bound.aggregation.name, bound.higher_is_better) == (None, aggregation, higher)


def test_defaults_that_process_results_fills() -> None:
    assert [metric.score for metric in build(None, "multiple_choice", process_results=True)] == [None, None]


@pytest.mark.parametrize(
    ("output_type", "spec", "message"),
    [
        pytest.param(
            "generate_until",
            [{"metric": "exct_match"}],
            "my.yaml: unknown metric of generate_until 'exct_match'. Did you mean 'exact_match'? Known: acc,",
            id="unknown_metric",
        ),
        pytest.param(
            "multiple_choice",
            [{"metric": "perplexity"}],
            "my.yaml: metric 'perplexity' belongs to output_type loglikelihood, and the task's is multiple_choice.",
            id="other_output_type",
        ),
        pytest.param(
            "loglikelihood",
            [{"metric": "f1"}],
            "belongs to output_type multiple_choice and generate_until, and the task's is loglikelihood.",
            id="other_output_types",
        ),
        pytest.param(
            "generate_until",
            [{"metric": "exact_match", "ignore_cse": True}],
            "my.yaml: metric 'exact_match' has no option 'ignore_cse'. Did you mean 'ignore_case'? "
            "It takes: ignore_case, ignore_numbers, ignore_punctuation, regexes_to_ignore.",
            id="misspelt_option",
        ),
        pytest.param(
            "multiple_choice", [{"metric": "acc", "k": 3}], "metric 'acc' has no option 'k'. It takes", id="no_options"
        ),
        pytest.param(
            "generate_until",
            [{"metric": lengths, "scael": 3}],
            "metric 'lengths' has no option 'scael'. Did you mean 'scale'? It takes: scale.",
            id="misspelt_option_of_own_metric",
        ),
        pytest.param(
            "generate_until",
            [{"metric": pair, "items": 3}],
            "metric 'pair' has no option 'items'. It takes no options.",
            id="option_of_an_own_metric_that_takes_one_list",
        ),
        pytest.param(
            "generate_until",
            [{"metric": "exact_match", "agregation": "mean"}],
            "has no option 'agregation'. Did you mean 'aggregation'?",
            id="misspelt_aggregation",
        ),
        pytest.param(
            "generate_until",
            {"exact_match": {"regexes_to_ignore": ["a", "(b"]}},
            "metric 'exact_match': regexes_to_ignore: '(b' is not a regular expression: missing ), unterminated",
            id="bad_regex",
        ),
        pytest.param(
            "generate_until",
            [{"metric": "exact_match", "aggregation": "maen"}],
            "my.yaml: metric 'exact_match': unknown aggregation 'maen'. Did you mean 'mean'?",
            id="unknown_aggregation",
        ),
        pytest.param(
            "generate_until",
            [{"metric": "f1", "aggregation": "mean"}],
            "metric 'f1' gives pairs, and aggregation 'mean' combines numbers.",
            id="mean_of_pairs",
        ),
        pytest.param(
            "multiple_choice",
            [{"metric": "acc", "aggregation": "f1"}],
            "metric 'acc' gives numbers, and aggregation 'f1' combines pairs. Name an own aggregation (!function), or "
            "one of: bypass, mean, median, nanmean, perplexity.",
            id="f1_of_numbers",
        ),
        pytest.param(
            "generate_until",
            {"acc": {}},
            "metric 'acc': of generated text it only hands [gold, reply] to an aggregation of the task's own "
            "(!function), as in lm-eval. To count right replies, take exact_match.",
            id="acc_of_text",
        ),
        pytest.param(
            "generate_until",
            [{"metric": "bleu", "aggregation": "mean"}],
            "metric 'bleu' gives pairs, and aggregation 'mean' combines numbers.",
            id="mean_of_translations",
        ),
        pytest.param(
            "multiple_choice",
            [{"metric": lengths}],
            "metric 'lengths': an own function scores generated text, but the task's output_type is multiple_choice.",
            id="own_metric_of_choices",
        ),
        pytest.param(
            "generate_until", {"exact_match": True}, "options of metric 'exact_match' must be a mapping", id="flag"
        ),
        pytest.param("generate_until", "acc", "my.yaml: metrics must be a list of {metric, …} or a mapping", id="text"),
        pytest.param("generate_until", ["acc"], "must be a mapping with the key metric, not 'acc'", id="list_of_names"),
        pytest.param("generate_until", [{"metric": 3}], "metric must be a name or !function, not 3", id="number"),
        pytest.param(
            "generate_until",
            [{"metric": "exact_match"}, {"metric": "exact_match", "ignore_case": True}],
            "my.yaml: metric 'exact_match' is listed twice",
            id="twice",
        ),
        pytest.param(
            "multi_choice", None, "unknown output_type 'multi_choice'. Did you mean 'multiple_choice'?", id="type"
        ),
    ],
)
def test_messages(output_type: str, spec: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        build(spec, output_type)
    assert message in str(caught.value)


@pytest.mark.parametrize("output_type", sorted(METRICS))
def test_every_default_aggregation_takes_what_its_metric_gives(output_type: str) -> None:
    """`acc` of generated text is the exception: its pairs want an own aggregation, as in lm-eval."""
    misfits = {
        name
        for name, metric in METRICS[output_type].items()
        if (metric.score in PAIR_SCORES) != (metric.aggregation in PAIR_AGGREGATIONS)
    }
    assert misfits == ({"acc"} if output_type == "generate_until" else set())


def test_from_outcome_to_number() -> None:
    acc, mcc = build([{"metric": "acc"}, {"metric": "mcc"}], "multiple_choice")
    outcomes = [
        ChoiceOutcome(choices=["a", "b"], gold=gold, logprobs=logprobs, is_greedy=[False, False])
        for gold, logprobs in [(0, [-1, -2]), (1, [-1, -2]), (1, [-2, -1]), (0, [-1, -2])]
    ]
    assert acc.score is not None and mcc.score is not None
    assert acc.aggregation.combine([acc.score(outcome) for outcome in outcomes]) == 0.75
    assert mcc.aggregation.combine([mcc.score(outcome) for outcome in outcomes]) == pytest.approx(1 / 3**0.5)


def test_a_direction_that_is_neither_true_nor_false() -> None:
    with pytest.raises(UserError, match="metric 'exact_match': higher_is_better must be true or false, not 'maybe'"):
        build([{"metric": "exact_match", "higher_is_better": "maybe"}])


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
def test_translation_hands_gold_and_reply_on(name: str) -> None:
    (metric,) = build([{"metric": name}])
    assert value(metric, "a reply", "a gold") == ["a gold", "a reply"]


@pytest.mark.parametrize(
    ("spec", "takes"),
    [
        pytest.param([{"metric": "exact_match"}], "one", id="exact_match"),
        pytest.param([{"metric": "bleu"}], "one", id="pairs"),
        pytest.param([{"metric": "bypass"}], "any", id="bypass"),
        pytest.param([{"metric": "f1", "aggregation": longest}], "any", id="own_aggregation"),
        pytest.param([{"metric": lengths}], "any", id="own_metric"),
        pytest.param([{"metric": "pass@k", "k": 2}], "all", id="sampled"),
    ],
)
def test_how_many_replies_a_metric_scores(spec: Any, takes: str) -> None:
    assert build(spec)[0].takes == takes


def test_a_metric_without_any_aggregation_is_a_mean_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    (metric,) = build([{"metric": lengths}])
    assert metric.aggregation is AGGREGATIONS["mean"]
    assert caplog.messages == ["my.yaml: metric 'lengths': no aggregation is given; its mean is taken."]


def test_a_mapping_may_name_its_metric_itself() -> None:
    assert [metric.name for metric in build({"once": {"metric": "exact_match"}, "f1": None})] == ["exact_match", "f1"]


def test_a_metric_over_several_replies_is_not_filled_by_process_results() -> None:
    with pytest.raises(UserError, match=r"metric 'pass@k' scores several replies one by one"):
        build({"pass@k": {"k": 1}}, process_results=True)


def test_parameters_reach_the_metrics_that_take_them() -> None:
    parameters = {"ignore_case": True}
    strict, plain = build_metrics(
        {"exact_match": {}, "f1": {}},
        output_type="generate_until",
        has_process_results=False,
        where="my.yaml",
        parameters=parameters,
    )
    assert (strict.name, plain.name) == ("exact_match:ignore_case=True", "f1")
    assert (value(strict, "A", "a"), strict.options) == (1.0, parameters)


@pytest.mark.parametrize(
    ("process_results", "told"),
    [
        (
            False,
            "'exact_match' takes ignore_case, ignore_numbers, ignore_punctuation, regexes_to_ignore; 'f1' takes none",
        ),
        (True, "'exact_match' takes none; 'f1' takes none"),
    ],
    ids=["own", "process_results"],
)
def test_a_parameter_that_no_metric_takes(process_results: bool, told: str) -> None:
    with pytest.raises(UserError) as caught:
        build_metrics(
            {"exact_match": {}, "f1": {}},
            output_type="generate_until",
            has_process_results=process_results,
            where="my.yaml",
            parameters={"k": 4},
        )
    assert str(caught.value) == f"my.yaml: no metric of the task takes the parameter 'k'. {told}."
