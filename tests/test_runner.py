from __future__ import annotations

import pytest

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models import load_model, load_tokenizer
from hydra_eval.runner import ask

from .models.asking import reply_packet, rolling_packet, scoring_packet
from .toys import GREEDY

PACKETS = [scoring_packet([("one two", " three")]), reply_packet(["four five"], GREEDY), rolling_packet(["six seven"])]


@pytest.mark.parametrize(("keeps_ids", "counts"), [(False, [0, 0, 0]), (True, [3, 2, 3])], ids=["dropped", "kept"])
def test_token_ids_stay_in_memory_only_on_request(keeps_ids: bool, counts: list[int]) -> None:
    config = ModelConfig(kind="dummy")
    model = load_model(config, "cpu", load_tokenizer(config))
    responses = ask(model, PACKETS, lambda packet: None, keeps_ids=keeps_ids)
    assert [len(response.input_ids) for response in responses] == counts
