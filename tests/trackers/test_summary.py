from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.trackers.summary import summary_metrics

RESULTS: dict[str, Any] = {
    "results": {
        "gsm8k|5": {
            "alias": " - gsm8k",
            "exact_match,strict-match": 0.25,
            "exact_match_stderr,strict-match": 0.05,
            "exact_match,flexible-extract": 1,
            "sample_len": 60,
        },
        "wikitext": {
            "alias": "wikitext",
            "bits_per_byte,none": 1.5,
            "bits_per_byte_stderr,none": "N/A",
            "sample_len": 3,
        },
        "mmlu": {
            "alias": "mmlu",
            "acc,none": 0.5,
            "acc_stderr,none": 0.02,
            "sample_len": 9,
            "sample_count": {"acc,none": 9},
        },
    },
    "groups": {"mmlu": {"alias": "mmlu", "acc,none": 0.5, "acc_stderr,none": 0.02}},
    "hydra_eval": {
        "status": "complete",
        "seconds": {"load": 1.25, "model": 10.0},
        "efficiency": {"total": {"forward_tokens": 120, "fast": True}, "generate_until": {"generated_tokens": 7}},
        "seeds": {"fewshot": 1234},
    },
}


def test_every_number_of_the_results_has_its_key_and_nothing_else_has() -> None:
    assert summary_metrics(RESULTS) == {
        "gsm8k|5/exact_match,strict-match": 0.25,
        "gsm8k|5/exact_match_stderr,strict-match": 0.05,
        "gsm8k|5/exact_match,flexible-extract": 1,
        "gsm8k|5/n": 60,
        "wikitext/bits_per_byte": 1.5,
        "wikitext/n": 3,
        "mmlu/acc": 0.5,
        "mmlu/acc_stderr": 0.02,
        "mmlu/n": 9,
        "seconds/load": 1.25,
        "seconds/model": 10.0,
        "efficiency/total/forward_tokens": 120,
        "efficiency/generate_until/generated_tokens": 7,
        "status": "complete",
    }


@pytest.mark.parametrize("results", [{}, {"results": {}}, {"results": {"a": {}}, "hydra_eval": {}}])
def test_nothing_in_nothing_out(results: dict[str, Any]) -> None:
    assert summary_metrics(results) == {}
