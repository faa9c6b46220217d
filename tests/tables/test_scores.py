"""Scores of single documents, worked out by hand or by lighteval (0.13)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.choice_metrics import TruthfulqaMCMetrics
from hydra_eval.tables.lighteval.docs import Doc
from hydra_eval.tables.lighteval.dynamic import (
    LogLikelihoodAccMetric,
    MultilingualQuasiExactMatchMetric,
    MultilingualQuasiF1ScoreMetric,
    NormalizedMultiChoiceProbMetric,
    ProbabilityMetric,
)
from hydra_eval.tables.lighteval.language import Language
from hydra_eval.tables.lighteval.metrics import Metrics
from hydra_eval.tables.lighteval.normalizations import (
    LogProbCharNorm,
    LogProbPMINorm,
    LogProbTokenNorm,
    gsm8k_normalizer,
    helm_normalizer,
    math_normalizer,
    remove_braces_and_strip,
)

CHOICES = Doc(query="", choices=[" a", " bbbb", " cc"], gold_index=1)
LIKED = ModelResponse(
    logprobs=[-1.0, -2.0, -3.0, -0.5, -3.0, -3.0],
    output_tokens=[[None], [None] * 4, [None] * 2],
    argmax_logits_eq_gold=[True, False, False],
)
FIRST = LIKED.logprobs[:3]


def scored(metric: Any, doc: Doc, response: ModelResponse) -> Any:
    value = metric.compute_sample(doc=doc, model_response=response)
    return next(iter(value.values())) if len(value) == 1 else value


def said(*texts: str) -> ModelResponse:
    return ModelResponse(text=list(texts))


@pytest.mark.parametrize(
    ("normalization", "name", "value"),
    [
        (None, "acc", 0),
        (LogProbCharNorm(), "acc_norm", 1),
        (LogProbCharNorm(ignore_first_space=True), "acc_norm", 1),
        (LogProbTokenNorm(), "acc_norm_token", 1),
        (LogProbPMINorm(), "acc_norm_pmi", 1),
    ],
    ids=["none", "characters", "without first blank", "tokens", "unconditioned"],
)
def test_accuracy_by_normalisation(normalization: Any, name: str, value: int) -> None:
    metric = LogLikelihoodAccMetric(normalization)
    assert metric.compute_sample(doc=CHOICES, model_response=LIKED) == {name: value}


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (Metrics.recall_at_k.value, 0),
        (Metrics.recall_at_k(sample_params={"k": 2}), 1),
        (Metrics.mrr.value, 0.5),
        (Metrics.acc_golds_likelihood.value, 0),
        (ProbabilityMetric(), math.exp(-2)),
        (NormalizedMultiChoiceProbMetric(), math.exp(-2) / sum(map(math.exp, (-1, -2, -3)))),
        (Metrics.multi_f1_numeric.value, (1, 0)),
        (Metrics.mcc.value, ([1], 0)),
    ],
    ids=["recall", "recall of 2", "mrr", "greedy", "prob", "share", "first gold", "golds"],
)
def test_scores_of_choices(metric: Any, value: Any) -> None:
    response = ModelResponse(logprobs=FIRST, argmax_logits_eq_gold=[True, False, False])
    assert scored(metric, CHOICES, response) == (pytest.approx(value) if isinstance(value, float) else value)


def test_truthfulqa_counts_every_right_answer() -> None:
    doc = Doc(query="", choices=["r", "w", "r1", "w1", "r2"], gold_index=[0, 2, 4], specific={"len_mc1": 2})
    response = ModelResponse(logprobs=[-1.0, -2.0, -1.0, -1.0, -1.0])
    values = TruthfulqaMCMetrics().compute(doc, response)
    assert values == {"truthfulqa_mc1": 1.0, "truthfulqa_mc2": pytest.approx(2 / 3)}


@pytest.mark.parametrize(
    ("metric", "golds", "replies", "value"),
    [
        (Metrics.exact_match.value, [" yes"], ["yes "], 1),
        (Metrics.exact_match(sample_params={"strip_strings": False}), [" yes"], ["yes"], 0),
        (Metrics.exact_match(sample_params={"type_exact_match": "prefix"}), ["yes"], ["yes, sir"], 1),
        (Metrics.exact_match.value, ["a", "b"], ["b"], 1),
        (Metrics.exact_match.value, ["a"], [""], 0),
        (Metrics.f1_score.value, ["the red cat"], ["a red cat sat"], 4 / 7),
        (Metrics.rouge1.value, ["the red cat"], ["red cat"], 0.8),
        (Metrics.bleu_1.value, ["the red cat"], ["the red dog"], 2 / 3),
        (Metrics.bleu_4.value, ["the red cat"], ["the red cat"], 0.0),
        (
            Metrics.copyright.value,
            ["one two three four"],
            ["one two nine"],
            {"longest_common_prefix_length": 2.0, "edit_distance": 1.0, "edit_similarity": pytest.approx(2 / 3)},
        ),
        (MultilingualQuasiExactMatchMetric(Language.GERMAN), ["der Hund!"], ["Hund"], 1),
        (MultilingualQuasiF1ScoreMetric(Language.ENGLISH), ["the dog"], ["a Dog."], 1.0),
    ],
    ids=[
        "stripped",
        "not stripped",
        "prefix",
        "any gold",
        "empty",
        "f1",
        "rouge1",
        "bleu_1",
        "bleu_4",
        "copied",
        "german",
        "english",
    ],
)
def test_scores_of_text(metric: Any, golds: list[str], replies: list[str], value: Any) -> None:
    doc = Doc(query="", choices=golds, gold_index=list(range(len(golds))))
    assert scored(metric, doc, said(*replies)) == pytest.approx(value)


@pytest.mark.parametrize(
    ("golds", "reply", "em", "f1"),
    [
        ([["3 dogs"]], "3.0 dogs", 1.0, 1.0),
        ([["3 dogs"]], "4 dogs", 0.0, 0.0),
        ([["red", "blue"]], "red", 0.0, 0.5),
        ([["x"], ["the cat"]], "Cat!", 1.0, 1.0),
    ],
    ids=["number", "another number", "one of two spans", "best gold"],
)
def test_drop(golds: list[list[str]], reply: str, em: float, f1: float) -> None:
    doc = Doc(query="", choices=[], gold_index=0, specific={"golds_no_preprocessing": golds})
    assert scored(Metrics.drop.value, doc, said(reply)) == {"em": em, "f1": f1}


@pytest.mark.parametrize(
    ("metric", "replies", "value"),
    [
        (Metrics.avg_at_n(sample_params={"n": 4}), ["x", " x ", "y", "z"], 0.5),
        (Metrics.maj_at_n(sample_params={"n": 3, "strip_strings": True}), ["y", "x", "x "], 1),
        (Metrics.maj_at_n(sample_params={"n": 2}), ["y", "x"], 0),
        (Metrics.pass_at_k(sample_params={"k": 2, "n": 4}), ["x", "y", "y", "y"], 0.5),
        (Metrics.pass_at_k(sample_params={"k": 1, "normalize": "gsm8k_normalizer"}), ["#### x"], 1.0),
    ],
    ids=["avg", "maj", "first of equals", "pass", "normalised"],
)
def test_scores_of_several_replies(metric: Any, replies: list[str], value: float) -> None:
    assert scored(metric, Doc(query="", choices=["x"], gold_index=0), said(*replies)) == pytest.approx(value)


def test_g_pass() -> None:
    metric = Metrics.g_pass_at_k(sample_params={"k": [2], "n": 4, "thresholds": [0.5, 1.0]})
    assert metric.metric_name == ["g-pass@2_0.5", "g-pass@2_1.0", "mg-pass@2"]
    values = scored(metric, Doc(query="", choices=["x"], gold_index=0), said("x", "x", "y", "y"))
    assert values == pytest.approx({"g-pass@2_0.5": 5 / 6, "g-pass@2_1.0": 1 / 6, "mg-pass@2": 1 / 6})


def test_several_right_answers_cannot_pass() -> None:
    doc = Doc(query="", choices=["x", "y"], gold_index=[0, 1])
    with pytest.raises(ValueError, match="PassAtK is for one right answer"):
        scored(Metrics.pass_at_k(sample_params={"k": 1}), doc, said("x"))


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("B", True),
        ("The answer is (B).", True),
        ("Answer: A, no, wait. Answer: B", True),
        ("A good question. The final answer is B", True),
        ("I would say\n**B** of course", True),
        ("answer: C", False),
        ("none", False),
    ],
)
def test_the_letter_of_a_choice(reply: str, right: bool) -> None:
    doc = Doc(query="", choices=list("ABCD"), gold_index=1)
    assert scored(Metrics.gpqa_instruct_metric.value, doc, said(reply)) == float(right)


@pytest.mark.parametrize(
    ("gold", "reply", "right"),
    [
        ("42", "so the answer is 42.", True),
        ("1/2", "\\boxed{0.5}", True),
        ("3", "I get 4", False),
        ("7", "seven", False),
    ],
)
def test_mathematical_expressions(gold: str, reply: str, right: bool) -> None:
    pytest.importorskip("math_verify", reason="needs math-verify")
    assert scored(Metrics.expr_gold_metric.value, Doc(query="", choices=[gold], gold_index=0), said(reply)) == right


def test_other_languages_have_no_extraction() -> None:
    from hydra_eval.tables.lighteval.extraction import MultilingualExtractiveMatchMetric

    with pytest.raises(UserError, match="French is not supported, only English"):
        MultilingualExtractiveMatchMetric(language=Language.FRENCH)


@pytest.mark.parametrize(
    ("normalizer", "text", "plain"),
    [
        (helm_normalizer, "The  Cat-sat, on 1", "cat sat on 1.0"),
        (gsm8k_normalizer, "so #### -1,234", "-1234"),
        (gsm8k_normalizer, "so 5", "[invalid]"),
        (remove_braces_and_strip, " {x} ", "x"),
        (math_normalizer, "so \\boxed{x=\\frac12}", "\\frac{1}{2}"),
        (math_normalizer, "\\boxed{3\\sqrt5 \\text{ cm}}", "3\\sqrt{5}"),
        (math_normalizer, "\\boxed{3/4}", "\\frac{3}{4}"),
        (math_normalizer, "nothing", ""),
    ],
)
def test_normalizers(normalizer: Any, text: str, plain: str) -> None:
    assert normalizer(text) == plain
