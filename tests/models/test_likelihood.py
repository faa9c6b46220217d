from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.models.hf import HFModel
from hydra_eval.records import RequestKind

from .asking import by_key, reordered, rolling_packet, scoring_packet
from .building import load, save_rigged, uniform_logits
from .test_encoding import PAIRS

TEXTS = ["", "a", "The ferry leaves at nine and comes back at noon. " * 12, "<s>begun", "Ящик\n\nу окна"]
CHOICES = [("Which floats?", choice) for choice in (" a", " c", " the stone", " the stone sinks", " a")]


@pytest.fixture(params=["tiny", "tinybos"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parity
def test_sums_and_greediness_are_those_of_lm_eval(
    name: str, oracles: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    pairs = [pair for label, pair in PAIRS.items() if label != "white context"] + CHOICES
    ours = request.getfixturevalue(name).loglikelihood(scoring_packet(pairs))
    theirs = oracles[name].loglikelihood(_oracle_requests("loglikelihood", pairs), disable_tqdm=True)
    assert [response.logprob for response in ours] == pytest.approx([logprob for logprob, _ in theirs], abs=1e-4)
    assert [response.is_greedy for response in ours] == [greedy for _, greedy in theirs]


@pytest.mark.parity
def test_rolling_sums_are_those_of_lm_eval(name: str, oracles: dict[str, Any], request: pytest.FixtureRequest) -> None:
    ours = request.getfixturevalue(name).loglikelihood(rolling_packet(TEXTS))
    theirs = oracles[name].loglikelihood_rolling(
        _oracle_requests("loglikelihood_rolling", [(text,) for text in TEXTS]), disable_tqdm=True
    )
    assert [response.logprob for response in ours] == pytest.approx(theirs, abs=1e-4, rel=2e-6)


def test_greedy_continuation_is_recognised(successor: HFModel) -> None:
    responses = successor.loglikelihood(scoring_packet([("a", "bcd"), ("a", "bce"), ("a", "c")]))
    assert [response.is_greedy for response in responses] == [True, False, False]


def test_uniform_model_costs_ln_8_per_token(uniform: HFModel) -> None:
    (response,) = uniform.loglikelihood(rolling_packet(["abcdefghab"]))
    assert response.logprob == pytest.approx(-10 * math.log(8), abs=1e-4)
    assert response.output_tokens == 10
    assert response.is_greedy is None


def test_rolling_scores_each_token_after_its_own_predecessor(successor: HFModel) -> None:
    straight, broken = successor.loglikelihood(rolling_packet(["abcdefgh", "abcdffgh"]))
    assert straight.token_logprobs[1:] == pytest.approx([0.0] * 7, abs=1e-4)
    # "f" does not follow "d", nor "f" itself: two tokens are wrong, where an alignment off by one would make six.
    assert [index for index, value in enumerate(broken.token_logprobs) if value < -1 and index] == [4, 5]


def test_short_windows_score_each_token_once(tmp_path: Path) -> None:
    model = load(save_rigged(tmp_path, uniform_logits(8)), max_length=4)
    (response,) = model.loglikelihood(rolling_packet(["abcdefghab"]))
    assert response.logprob == pytest.approx(-10 * math.log(8), abs=1e-4)
    assert len(response.token_logprobs) == 10


def test_sum_is_that_of_the_tokens(tiny: HFModel) -> None:
    for response in tiny.loglikelihood(scoring_packet(PAIRS.values())):
        assert response.logprob == sum(response.token_logprobs)
        assert response.output_tokens == len(response.token_logprobs)


def test_same_packet_gives_the_same_bits(tiny: HFModel) -> None:
    packet = scoring_packet(PAIRS.values())
    assert tiny.loglikelihood(packet) == tiny.loglikelihood(packet)


def test_order_within_a_packet_changes_no_bit(tiny: HFModel) -> None:
    packet = scoring_packet(PAIRS.values())
    backwards = reordered(packet, range(len(PAIRS))[::-1])
    assert by_key(tiny.loglikelihood(packet)) == by_key(tiny.loglikelihood(backwards))


@pytest.mark.parametrize("fields", [{"batch_size": 1}, {"batch_size": 3}, {"batch_tokens": 200}], ids=str)
def test_batch_limits_keep_the_sums(fields: dict[str, int], tiny: HFModel, tiny_folder: Path) -> None:
    packet = scoring_packet(PAIRS.values())
    limited = load(tiny_folder, max_length=128, **fields).loglikelihood(packet)
    whole = tiny.loglikelihood(packet)
    assert [r.logprob for r in limited] == pytest.approx([r.logprob for r in whole], abs=1e-4)


def test_choices_and_equal_requests_share_what_they_begin_with(successor: HFModel) -> None:
    before = replace(successor.efficiency["loglikelihood"])
    successor.loglikelihood(scoring_packet([("ab", choice) for choice in ("c", "d", "c", "fgh", "fgh", "fgi")]))
    spent = successor.efficiency["loglikelihood"]
    # "ab", and "fg" behind it; all but "a" predict something that is scored.
    assert spent.forward_tokens - before.forward_tokens == 4
    assert spent.logit_positions - before.logit_positions == 3


@pytest.mark.parametrize("kind", [RequestKind.LOGLIKELIHOOD, RequestKind.ROLLING], ids=str)
def test_counted_positions_are_those_embedded(kind: RequestKind, tiny_folder: Path) -> None:
    model, seen = load(tiny_folder, max_length=128, batch_size=2), []
    model.model.model.embed_tokens.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].numel()))
    model.loglikelihood(rolling_packet(TEXTS) if kind is RequestKind.ROLLING else scoring_packet(PAIRS.values()))
    assert model.efficiency[kind.value].forward_tokens == sum(seen) > 0
    assert model.efficiency[kind.value].model_seconds > 0


def test_weights_go_with_the_last_reference(tiny_folder: Path) -> None:
    model = load(tiny_folder)
    model.loglikelihood(scoring_packet(CHOICES))
    weights = weakref.ref(model.model.lm_head.weight)
    gc.collect()
    gc.disable()
    try:
        del model
        assert weights() is None
    finally:
        gc.enable()


def test_softmax_in_the_logits_own_dtype(tiny_folder: Path, tiny: HFModel) -> None:
    packet = scoring_packet(list(PAIRS.values())[:3])
    half = load(tiny_folder, dtype="bfloat16", softmax_dtype=None).loglikelihood(packet)
    values = [value for response in half for value in response.token_logprobs]
    assert values == torch.tensor(values).bfloat16().tolist()
    assert values != [value for response in tiny.loglikelihood(packet) for value in response.token_logprobs]


SUMS = """
import sys
from tests.models.asking import rolling_packet
from tests.models.building import load
model = load(sys.argv[1], batch_size=1)
print([response.token_logprobs for response in model.loglikelihood(rolling_packet("x" * n for n in range(1, 20)))])
"""


def test_number_of_threads_changes_no_bit(tiny_folder: Path) -> None:
    """Small products are split differently on one thread and on two unless the arithmetic is pinned."""
    root = Path(__file__).resolve().parents[2]
    printed = [
        subprocess.run(
            [sys.executable, "-c", SUMS, str(tiny_folder)],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert printed[0] == printed[1] != b""


def _oracle_requests(kind: Any, arguments: list[Any]) -> list[Any]:
    from lm_eval.api.instance import Instance

    return [Instance(request_type=kind, doc={}, arguments=args, idx=0) for args in arguments]
