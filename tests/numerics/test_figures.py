from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from hydra_eval.numerics.compare import Checked, Pick
from hydra_eval.numerics.figures import REPLIES, SCORED, figures
from hydra_eval.numerics.sample import Wanted
from hydra_eval.numerics.told import numerics_lines, numerics_warning
from hydra_eval.records import DocKey

CHOICE, ROLLING = SCORED
FOUND = (
    Checked(
        key=DocKey("choices", 7),
        kind=CHOICE,
        requests=2,
        drifts=(0.25, 0.0),
        picks={"acc": Pick(False, 0.004), "acc_norm": Pick(True, 0.5)},
    ),
    Checked(
        key=DocKey("choices", 2),
        kind=CHOICE,
        requests=2,
        drifts=(0.125, 0.125),
        greedy_changed=1,
        picks={"acc": Pick(False, 2.0), "acc_norm": Pick(False, 2.0)},
    ),
    Checked(key=DocKey("words", 3), kind=REPLIES, requests=2, differs_at=(6,)),
    Checked(key=DocKey("words", 4), kind=REPLIES, requests=2),
)
WANTED = {
    "choices": Wanted(requests=4, sampled=0),
    "words": Wanted(requests=5, sampled=0),
    "dice": Wanted(requests=0, sampled=8),
}


def content(
    *, most_drift: float = 0.1, why: str | None = None, wanted: Mapping[str, Wanted] = WANTED
) -> dict[str, Any]:
    found = [one for one in FOUND if one.key.task in wanted]
    return {"dtype": "float32", "why": why, "most_drift": most_drift, **figures(found, wanted, near_tie=0.01)}


def test_a_task_with_choices() -> None:
    assert content()["tasks"]["choices"] == {
        "documents": 2,
        "requests": 4,
        "sampled": 0,
        "out_of_memory": 0,
        "answers": {
            "acc": {"documents": 2, "changed": 0, "share_changed": 0.0, "near_ties": 1},
            "acc_norm": {"documents": 2, "changed": 1, "share_changed": 0.5, "near_ties": 0},
        },
        CHOICE: {
            "requests": 4,
            "largest_drift": 0.25,
            "largest_drift_at": ["choices", 7],
            "mean_drift": 0.125,
            "greedy_changed": 1,
        },
        "changed_documents": [7],
        "near_tie_documents": [7],
    }


def test_a_task_that_replies() -> None:
    assert content()["tasks"]["words"] == {
        "documents": 2,
        "requests": 4,
        "sampled": 0,
        "out_of_memory": 1,
        REPLIES: {"requests": 4, "changed": 1, "share_changed": 0.25, "first_difference": 6},
        "changed_documents": [3],
        "near_tie_documents": [],
    }


def test_the_total_is_over_all_tasks() -> None:
    total = content()["total"]
    counts = {name: total[name] for name in ("documents", "requests", "sampled", "out_of_memory")}
    assert counts == {"documents": 4, "requests": 8, "sampled": 8, "out_of_memory": 1}
    assert (total[CHOICE]["requests"], total[REPLIES]["requests"]) == (4, 4)


def test_figures_do_not_depend_on_who_found_what() -> None:
    turned = figures(FOUND[::-1], WANTED, near_tie=0.01)
    assert json.dumps(turned) == json.dumps(figures(FOUND, WANTED, near_tie=0.01))


def test_a_line_for_the_run_and_one_for_each_task_where_something_changed() -> None:
    run, choices, words = numerics_lines(content())
    assert run.startswith("Numerics: 8 requests of 4 documents again, one by one in float32; 0 of 2 answers by acc")
    assert run.endswith("8 sampled replies left out, 1 request left out for want of memory.")
    assert choices == (
        "choices: 0 of 2 answers by acc changed (1 near tie), 1 of 2 answers by acc_norm changed, log-likelihoods "
        "drift by 0.12 nats, 0.25 at the most."
    )
    assert words.startswith("words: 1 of 4 replies changed (from token 6 on)")


def test_a_run_of_one_task_has_one_line() -> None:
    assert len(numerics_lines(content(wanted={"choices": WANTED["choices"]}))) == 1


def test_weights_that_stay_as_they_are_have_their_reason() -> None:
    assert "one by one in float32 (they are quantised);" in numerics_lines(content(why="they are quantised"))[0]


def test_where_all_is_drawn_by_chance_nothing_is_asked_again() -> None:
    (line,) = numerics_lines(content(wanted={"dice": WANTED["dice"]}))
    assert line == "Numerics: nothing again; 8 sampled replies left out."


@pytest.mark.parametrize("bound", [0.25, 0.3])
def test_a_drift_within_the_bound_is_not_warned_of(bound: float) -> None:
    assert numerics_warning(content(most_drift=bound)) is None


def test_a_drift_above_the_bound_is() -> None:
    warning = str(numerics_warning(content(most_drift=0.2)))
    assert warning.startswith("A log-likelihood is 0.25 nats away from what its request gives alone in float32")
    assert "(choices, document 7); check.most_drift=0.2." in warning


def test_replies_alone_have_no_drift() -> None:
    assert numerics_warning(content(wanted={"words": WANTED["words"]})) is None
