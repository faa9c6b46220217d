from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.trackers.summary import cell_table, summary_metrics

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
        "numerics": {"dtype": "float32", "total": {"documents": 4, "largest_drift_at": ["gsm8k|5", 3]}},
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
        "numerics/total/documents": 4,
        "status": "complete",
    }


@pytest.mark.parametrize("results", [{}, {"results": {}}, {"results": {"a": {}}, "hydra_eval": {}}])
def test_nothing_in_nothing_out(results: dict[str, Any]) -> None:
    assert summary_metrics(results) == {}


FIGURES = {"mean": 0.5, "spread": 0.1, "stderr": None, "higher_is_better": True}
FAMILIES: dict[str, Any] = {
    "results": {
        "a|5|seed=1": {"alias": "a", "sample_len": 4, "acc,none": 0.5, "acc_stderr,none": 0.25},
        "g": {
            "alias": "g",
            "bleu,strip": 12,
            "bleu_stderr,strip": "N/A",
            "label,strip": "x",
            "label_stderr,strip": "N/A",
        },
    },
    "hydra_eval": {
        "cells": {
            "a|5|seed=1": {"task": "a", "shots": 5, "seed": 1, "order": 0},
            "g": {"task": "g", "shots": None, "seed": None, "order": 0},
        },
        "over_seeds": {"a|5": {"seeds": [1, 2], "metrics": {"acc,none": FIGURES}}},
        "over_orders": {
            "b": {"orders": 4, "metrics": {"acc,strict": FIGURES}, "positions": {"strict": {"flip_rate": 0.25}}}
        },
    },
}


def test_figures_over_seeds_and_orders_are_in_the_summary() -> None:
    found = {name: value for name, value in summary_metrics(FAMILIES).items() if name.startswith("over_")}
    assert found == {
        "over_seeds/a|5/acc/mean": 0.5,
        "over_seeds/a|5/acc/spread": 0.1,
        "over_orders/b/acc,strict/mean": 0.5,
        "over_orders/b/acc,strict/spread": 0.1,
        "over_orders/b/flip_rate,strict": 0.25,
    }


def test_the_cells_are_a_table_to_plot_from() -> None:
    assert cell_table(FAMILIES) == (
        ["task", "shots", "seed", "order", "filter", "metric", "value", "stderr"],
        [
            ["a", 5, 1, 0, "none", "acc", 0.5, 0.25],
            ["g", None, None, 0, "strip", "bleu", 12.0, None],
            ["g", None, None, 0, "strip", "label", None, None],
        ],
    )


def test_only_tasks_with_prompts_too_long_have_those_counts() -> None:
    """What is no number, a policy's name or a list of documents, stays in the file."""
    long = {"policy": ["skip"], "documents": 2, "documents_skipped": 2, "skipped": [4, 7]}
    facts = {"a": long, "b": {"policy": ["skip"], "documents": 0, "documents_skipped": 0, "skipped": []}}
    found = summary_metrics({"hydra_eval": {"overflow": facts}})
    assert found == {"a/overflow/documents": 2, "a/overflow/documents_skipped": 2}
