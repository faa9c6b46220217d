from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import BoundMetric, GenerationOutcome
from hydra_eval.metrics.build import build_metrics
from hydra_eval.metrics.sampled import scored_as_task


def starts(references: list[str], predictions: list[str], fold: bool = False) -> float:
    reply = predictions[0].lower() if fold else predictions[0]
    return float(reply.startswith(references[0]))


def build(*spec: dict[str, Any], parameters: dict[str, Any] | None = None) -> tuple[BoundMetric, ...]:
    return build_metrics(
        list(spec), output_type="generate_until", has_process_results=False, where="my.yaml", parameters=parameters
    )


def value(metric: BoundMetric, *replies: str) -> Any:
    assert metric.score is not None
    return metric.score(GenerationOutcome(prediction=replies[0], gold="a", replies=replies))


@pytest.mark.parametrize(
    ("entry", "name", "replies"),
    [
        pytest.param({"metric": "pass@k", "k": 4, "n": 16}, "pass@k:k=4&n=16", 16, id="k_and_n"),
        pytest.param({"metric": "pass@k", "k": 4}, "pass@k:k=4", 4, id="k"),
        pytest.param({"metric": "avg@n", "n": 8}, "avg@n:n=8", 8, id="n"),
        pytest.param({"metric": "avg@n"}, "avg@n", 1, id="as_many_as_there_are"),
        pytest.param({"metric": "maj@n", "n": 8, "ignore_case": True}, "maj@n:n=8", 8, id="option_of_the_score"),
    ],
)
def test_key_and_number_of_replies(entry: dict[str, Any], name: str, replies: int) -> None:
    (metric,) = build(entry)
    assert (metric.name, metric.replies, metric.aggregation.name) == (name, replies, "mean")


def test_two_settings_are_two_metrics() -> None:
    assert [metric.name for metric in build({"metric": "pass@k", "k": 1}, {"metric": "pass@k", "k": 2})] == [
        "pass@k:k=1",
        "pass@k:k=2",
    ]


def test_parameters_of_the_command_line_win() -> None:
    (metric,) = build({"metric": "pass@k", "k": 1}, parameters={"k": 2, "n": 4, "ignore_case": True})
    assert (metric.name, metric.replies) == ("pass@k:k=2&n=4&ignore_case=True", 4)
    assert value(metric, "x", "x", "x", "A") == 0.5


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, 1 / 3, id="exact_match"),
        pytest.param({"ignore_case": True}, 2 / 3, id="its_option"),
        pytest.param({"score": starts}, 1 / 3, id="own"),
        pytest.param({"score": starts, "fold": True}, 1.0, id="own_with_option"),
    ],
)
def test_the_score_of_one_reply(options: dict[str, Any], expected: float) -> None:
    (metric,) = build({"metric": "avg@n", **options})
    assert value(metric, "a", "A", "AX") == pytest.approx(expected)


def test_a_metric_with_several_values_names_each() -> None:
    (metric,) = build({"metric": "g-pass@k", "k": 2, "thresholds": [0.5, 1.0]})
    assert value(metric, "a", "x") == {"g-pass@k:k=2&threshold=0.5": 1.0, "g-pass@k:k=2&threshold=1.0": 0.0}


def test_too_few_replies() -> None:
    (metric,) = build({"metric": "pass@k", "k": 2, "n": 4})
    with pytest.raises(UserError, match=r"metric 'pass@k:k=2&n=4' needs 4 replies, but the filter pipeline leaves 3"):
        value(metric, "a", "x", "x")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param({"metric": "pass@k"}, "metric 'pass@k' needs the option 'k': write task=NAME@k=", id="no_k"),
        pytest.param(
            {"metric": "pass@k", "k": 5, "n": 4}, "k=5 is more than n=4, the number of replies", id="k_above_n"
        ),
        pytest.param({"metric": "pass@k", "k": 0}, "k=0 must be a whole number from 1", id="k_of_zero"),
        pytest.param({"metric": "avg@n", "n": 2.5}, "n=2.5 must be a whole number from 1", id="half_a_reply"),
        pytest.param({"metric": "mg-pass@k", "k": 1}, "k=1 must be a whole number from 2", id="mean_of_no_thresholds"),
        pytest.param({"metric": "g-pass@k", "k": 2, "thresholds": [1.5]}, "must be shares of k", id="threshold"),
        pytest.param(
            {"metric": "avg@n", "m": 3},
            "metric 'avg@n' has no option 'm'. It takes: ignore_case, ignore_numbers, ignore_punctuation, n, "
            "regexes_to_ignore, score.",
            id="unknown_option",
        ),
        pytest.param(
            {"metric": "avg@n", "score": "bleu"}, "unknown score of one reply 'bleu'. Known: exact_match.", id="pairs"
        ),
        pytest.param({"metric": "avg@n", "score": 3}, "score must be a name or !function, not 3", id="number"),
    ],
)
def test_messages(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        build(entry)
    assert message in str(caught.value)


FOLDED = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, "ignore_case": True}


@pytest.mark.parametrize(
    ("spec", "own", "expected"),
    [
        pytest.param(
            {"pass@k": {"k": 2}},
            [{"metric": "f1"}, FOLDED],
            {"pass@k": {"metric": "pass@k", "k": 2, "score": "exact_match", "ignore_case": True}},
            id="the_tasks_score_with_its_options",
        ),
        pytest.param(
            {"mine": {"metric": "avg@n"}},
            [{"metric": starts, "fold": True}],
            {"mine": {"metric": "avg@n", "score": starts, "fold": True}},
            id="own_score",
        ),
        pytest.param(
            {"avg@n": {"score": "exact_match"}}, [FOLDED], {"avg@n": {"score": "exact_match"}}, id="score_given"
        ),
        pytest.param({"exact_match": None}, [FOLDED], {"exact_match": None}, id="metric_of_one_reply"),
        pytest.param({"avg@n": None}, [{"metric": "bleu"}], {"avg@n": None}, id="task_scores_none_by_itself"),
        pytest.param({"avg@n": None}, None, {"avg@n": None}, id="task_by_default"),
    ],
)
def test_replies_are_scored_as_the_task_scores_one(spec: Any, own: Any, expected: Any) -> None:
    assert scored_as_task(spec, own) == expected
