"""Kinds of attention and of numbers beside those on which everything is tried: what can be shared is, and is right."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch
from transformers import (
    DeepseekV3Config,
    FalconConfig,
    Gemma2Config,
    GptOssConfig,
    Llama4TextConfig,
    LlamaConfig,
    MptConfig,
    Phi3Config,
    Qwen3MoeConfig,
    Qwen3NextConfig,
)

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.batching import Budget
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids, Span
from hydra_eval.models.engine.probe import find_trunk
from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.engines import choose_engine, plain_engine
from hydra_eval.models.head import find_logit_slices
from hydra_eval.models.likelihood import Row, SpanScore
from hydra_eval.models.plain import PlainEngine

from .families import EXACT, FAMILIES, HALF_SLIDING, SHAPE, VOCABULARY, WINDOW, build, family, trunk_of
from .test_likelihood import rows_of
from .test_replies import ended, manner, wanted

EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
SHARED: dict[str, Any] = {
    "soft caps": lambda: Gemma2Config(**SHAPE, head_dim=8, sliding_window=WINDOW, layer_types=HALF_SLIDING),
    "sinks": lambda: GptOssConfig(**SHAPE, head_dim=8, sliding_window=WINDOW, num_local_experts=2,
                                  layer_types=HALF_SLIDING, num_experts_per_tok=1),
    "experts": lambda: Qwen3MoeConfig(**SHAPE, head_dim=8, **EXPERTS),
    "latent heads": lambda: DeepseekV3Config(
        **(SHAPE | {"num_key_value_heads": 4}), kv_lora_rank=8, q_lora_rank=8, qk_rope_head_dim=8, qk_nope_head_dim=8,
        v_head_dim=12, first_k_dense_replace=4,
    ),
    "one key head": lambda: FalconConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
                                         num_attention_heads=4, initializer_range=0.3),
    "window in every layer": lambda: Phi3Config(**SHAPE, sliding_window=WINDOW),
    "stretched positions": lambda: LlamaConfig(
        **SHAPE,
        rope_parameters={"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e4, "original_max_position_embeddings": 8},
    ),
}  # fmt: skip
ALONE: dict[str, Any] = {
    "slopes, added by hand": lambda: MptConfig(vocab_size=VOCABULARY, d_model=32, n_layers=2, n_heads=4),
    "slopes, as masks": lambda: FalconConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
                                             num_attention_heads=4, alibi=True),
    "chunks": lambda: Llama4TextConfig(**SHAPE, head_dim=8, num_local_experts=2, attention_chunk_size=WINDOW),
    "a state in some layers": lambda: Qwen3NextConfig(**SHAPE, **EXPERTS, head_dim=8,
                                                      shared_expert_intermediate_size=8),
}  # fmt: skip
LIMIT = 30
"""Tokens from which on these stretch the positions of a whole pass."""
LONG_ROPE = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4, "rope_theta": 1e4}
STRETCHED: dict[str, Any] = {
    "dynamic": lambda: LlamaConfig(**SHAPE, max_position_embeddings=LIMIT,
                                   rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}),
    "longrope": lambda: LlamaConfig(**SHAPE, max_position_embeddings=4 * LIMIT,
                                    rope_parameters={**LONG_ROPE, "original_max_position_embeddings": LIMIT}),
}  # fmt: skip


def request_set() -> tuple[Ids, list[Row]]:
    """(what all begin with, twenty rows whose beginnings are of many lengths)."""
    random = Random(0)
    start = tuple(random.randint(1, VOCABULARY - 1) for _ in range(20))
    tails = [tuple(random.randint(1, 3) for _ in range(random.randint(4, 20))) for _ in range(20)]
    return start, rows_of(Span((*start, *tail)[:-1], tail[-3:]) for tail in tails)


START, ROWS = request_set()


def engines_of(model: Any) -> tuple[TreeEngine, PlainEngine]:
    plain = PlainEngine(model, find_logit_slices(model), Budget(tokens=150, rows=4), torch.float32)
    return TreeEngine(trunk_of(model), plain, plain.budget), plain


def logprobs(found: dict[Span, SpanScore]) -> torch.Tensor:
    return torch.tensor([value for span in sorted(found) for value in found[span].logprobs])


def check(model: Any) -> None:
    """Scores and replies are those of each request alone."""
    shared, plain = engines_of(model)
    ours, theirs = shared.score(ROWS, START[:12], Efficiency()), plain.score(ROWS, (), Efficiency())
    torch.testing.assert_close(logprobs(ours), logprobs(theirs), atol=3e-5, rtol=2e-6)
    assert [ours[span].is_greedy for span in theirs] == [score.is_greedy for score in theirs.values()]
    asked, how = wanted([row.inputs for row in ROWS[:6]]), manner(eos_ids=())
    replies = shared.reply(asked, how, START[:12], Efficiency())
    assert replies == ended(plain.reply(asked, how, (), Efficiency()), how)


@pytest.mark.parametrize("kind", SHARED)
def test_other_kinds_share_and_are_right(kind: str) -> None:
    check(build(SHARED[kind]()))


@pytest.mark.parametrize("name", EXACT)
def test_kernels_that_add_their_masks_are_right(name: str) -> None:
    model = build(FAMILIES[name]())
    model.set_attn_implementation("eager")
    check(model)


@pytest.mark.parametrize("kind", ALONE)
def test_kinds_that_cannot_share_are_refused(kind: str) -> None:
    model = build(ALONE[kind]())
    assert isinstance(find_trunk(model, find_logit_slices(model)), str)


@pytest.mark.parametrize("kind", STRETCHED)
def test_a_long_sequence_does_not_stretch_the_positions_of_others(kind: str) -> None:
    """It runs alone, before or after them; the others share."""
    model = build(STRETCHED[kind]())
    config = ModelConfig(pretrained="none", batch_tokens=500)
    rows = [*ROWS, *rows_of([Span((*START, *START), START[-3:])])]
    assert {len(row.inputs) >= LIMIT for row in rows} == {True, False}
    shared, plain = choose_engine(model, config)[0], plain_engine(model, config)
    assert isinstance(shared, TreeEngine) and isinstance(plain, PlainEngine)
    one_by_one = [plain.score([row], (), Efficiency()) for row in rows]
    expected = logprobs({span: score for found in one_by_one for span, score in found.items()})
    for engine in (shared, plain):
        torch.testing.assert_close(
            logprobs(engine.score(rows, START[:12], Efficiency())), expected, atol=3e-5, rtol=2e-6
        )
    asked, how = wanted([row.inputs for row in rows[-4:]]), manner(eos_ids=())
    replies = [plain.reply([one], how, (), Efficiency())[0] for one in asked]
    assert shared.reply(asked, how, START[:12], Efficiency()) == replies == plain.reply(asked, how, (), Efficiency())


@pytest.mark.parametrize("kernel", ["flash_attention_2", "flex_attention"])
def test_kernels_that_take_no_masks_are_refused(kernel: str) -> None:
    model = build(FAMILIES["llama"]())
    model.config._attn_implementation = kernel
    reason = find_trunk(model, find_logit_slices(family("llama")))
    assert reason == f"attention by {kernel} takes no mask of its own"


@pytest.mark.parametrize("name", FAMILIES)
def test_half_precision_is_as_near_to_full_as_without_sharing(name: str) -> None:
    _, exact = engines_of(family(name))
    shared, plain = engines_of(build(FAMILIES[name]()).bfloat16())
    expected = logprobs(exact.score(ROWS, (), Efficiency()))
    theirs = (logprobs(plain.score(ROWS, (), Efficiency())) - expected).square().mean().sqrt()
    ours = (logprobs(shared.score(ROWS, START[:12], Efficiency())) - expected).square().mean().sqrt()
    assert 1e-3 < ours <= 1.25 * theirs < 0.1


def test_the_soft_max_of_half_precision_is_taken_in_full() -> None:
    shared, _ = engines_of(build(FAMILIES["llama"]()).bfloat16())
    every = rows_of(Span(START, (token,)) for token in range(VOCABULARY))
    found = logprobs(shared.score(every, (), Efficiency()))
    assert float(found.double().exp().sum()) == pytest.approx(1, abs=1e-6)
    assert not torch.equal(found, found.bfloat16().float())
