from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    CohereConfig,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    MambaConfig,
    Qwen2Config,
)

from hydra_eval.models import head
from hydra_eval.models.head import find_logit_slices

SHAPE: dict[str, Any] = {
    "vocab_size": 120,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "initializer_range": 0.5,
    "pad_token_id": 0,
}
CONFIGS = {
    "llama": LlamaConfig(**SHAPE),
    "qwen2": Qwen2Config(**SHAPE),
    "gemma2, soft-capped": Gemma2Config(**SHAPE, final_logit_softcapping=3.0),
    "gemma3, sliding": Gemma3TextConfig(**SHAPE, sliding_window=4),
    "gpt2": GPT2Config(vocab_size=120, n_embd=32, n_layer=2, n_head=2, initializer_range=0.5),
    "mamba": MambaConfig(vocab_size=120, hidden_size=32, num_hidden_layers=2, initializer_range=0.5),
    "cohere, scaled logits": CohereConfig(**SHAPE, logit_scale=0.25),
}


@pytest.fixture(params=CONFIGS.values(), ids=CONFIGS)
def model(request: pytest.FixtureRequest) -> Any:
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(3)
        yield AutoModelForCausalLM.from_config(request.param).eval()


def test_slices_are_the_models_own_logits(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "LOGITS_PER_SLICE", 3 * 120)
    ids = torch.randint(1, 120, (3, 11), generator=torch.Generator().manual_seed(0))
    chosen = torch.zeros(3, 11, dtype=torch.bool)
    for row, (first, end) in enumerate(((8, 11), (2, 9), (0, 1))):
        chosen[row, first:end] = True
    slices = list(find_logit_slices(model)(ids, chosen))
    torch.testing.assert_close(torch.cat(slices), model(input_ids=ids).logits[chosen], rtol=1e-5, atol=1e-5)


def test_only_chosen_positions_pass_the_head(model: Any) -> None:
    rows: list[int] = []
    logit_slices = find_logit_slices(model)
    model.get_output_embeddings().register_forward_hook(lambda _, __, logits: rows.append(logits[..., 0].numel()))
    chosen = torch.zeros(2, 9, dtype=torch.bool)
    chosen[0, 5:] = chosen[1, 8:] = True
    assert [len(part) for part in logit_slices(torch.ones(2, 9, dtype=torch.long), chosen)] == [5]
    assert rows == [5]


def test_a_slice_holds_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AutoModelForCausalLM.from_config(CONFIGS["llama"]).eval()
    monkeypatch.setattr(head, "LOGITS_PER_SLICE", 3 * 120)
    slices = find_logit_slices(model)(torch.ones(2, 4, dtype=torch.long), torch.ones(2, 4, dtype=torch.bool))
    assert [len(part) for part in slices] == [3, 3, 2]


def test_scaled_logits_are_noticed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        find_logit_slices(AutoModelForCausalLM.from_config(CONFIGS["cohere, scaled logits"]).eval())
    assert "own forward pass" in caplog.text
