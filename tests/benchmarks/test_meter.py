"""The hooks against what a model was sent by hand."""

from __future__ import annotations

from dataclasses import replace

import torch

from benchmarks.peers.meter import Meter

from ..parity.tiny import random_model
from .test_processes import ORDER


def test_counts_positions_steps_and_logits_of_the_request_phase_alone() -> None:
    model, meter = random_model(0), Meter(replace(ORDER, batch=None))
    meter.watch(model)
    prompts, tokens = torch.ones(2, 5, dtype=torch.long), torch.ones(3, 1, dtype=torch.long)
    model(prompts)
    with meter.requests():
        model(prompts, logits_to_keep=2)
        model(tokens)
    model(tokens)
    figures = meter.figures()
    assert (figures.positions, figures.row_steps, figures.logit_rows) == (13, 3, 7)
    assert 0 < figures.request_peak <= figures.process_peak
