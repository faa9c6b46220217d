from __future__ import annotations

from pathlib import Path

import pytest
from transformers import LlamaForCausalLM

from ..building import load
from .asked import refused, scores

gguf = pytest.importorskip("gguf", reason="needs gguf")

FILE = "tiny-f32.gguf"
OUTSIDE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
INSIDE = {
    **{f"self_attn.{one}_proj": f"attn_{one}" for one in "qkv"},
    **{f"mlp.{one}_proj": f"ffn_{one}" for one in ("gate", "up", "down")},
    "self_attn.o_proj": "attn_output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


@pytest.fixture(scope="module")
def folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file with the tiny model's weights in full, and no tokenizer."""
    found = tmp_path_factory.mktemp("gguf")
    model = LlamaForCausalLM.from_pretrained(tiny_folder)
    config = model.config
    writer = gguf.GGUFWriter(found / FILE, "llama")
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    heads = {"self_attn.q_proj": config.num_attention_heads, "self_attn.k_proj": config.num_key_value_heads}
    for name, weight in model.named_parameters():
        path, values = name.removesuffix(".weight"), weight.detach().numpy()
        _, _, number, inside = f"{path}...".split(".", 3)
        inside = inside.rstrip(".")
        if inside in heads:  # GGUF has the halves of a rotary pair side by side
            values = values.reshape(heads[inside], 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape).copy()
        writer.add_tensor(f"{OUTSIDE.get(path) or f'blk.{number}.{INSIDE[inside]}'}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return found


def test_weights_of_a_gguf_file_score_as_the_checkpoint_does(folder: Path, tiny_folder: Path) -> None:
    model = load(folder, gguf_file=FILE, tokenizer=str(tiny_folder))
    assert scores(model) == pytest.approx(scores(load(tiny_folder)), abs=1e-5)
    assert model.facts.loading["gguf_file"] == FILE


def test_a_file_that_is_not_there(folder: Path) -> None:
    refused(folder, f"model.gguf_file=tiny-f23.gguf: not in .* Did you mean '{FILE}'", gguf_file="tiny-f23.gguf")


def test_a_gguf_file_is_quantised_already(folder: Path, tiny_folder: Path) -> None:
    fields = {"tokenizer": str(tiny_folder), "gguf_file": FILE, "quantization": {"load_in_4bit": True}}
    refused(folder, "model.gguf_file and model.quantization", **fields)
