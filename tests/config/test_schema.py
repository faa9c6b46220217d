from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from hydra_eval.config.schema import (
    FewshotConfig,
    GenerationOverrides,
    ModelConfig,
    PromptConfig,
    RunConfig,
    RunnerConfig,
    StatsConfig,
    TrackerConfig,
)
from hydra_eval.errors import UserError


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RunConfig(limit=0), "limit=0: must be a whole number of documents from 1, or a share between 0 and 1"),
        (lambda: RunConfig(limit=-1), "limit=-1"),
        (lambda: RunConfig(limit=0.0), "limit=0.0"),
        (lambda: RunConfig(limit=1.5), "limit=1.5"),
        (lambda: RunConfig(limit=True), "limit=True"),
        (lambda: RunConfig(limit="ten"), "limit='ten'"),
        (lambda: RunConfig(limit=float("nan")), "limit=nan"),
        (lambda: RunConfig(limit=float("inf")), "limit=inf"),
        (lambda: RunConfig(resume="always"), "resume='always': must be auto or never"),
        (lambda: FewshotConfig(n=-1), "fewshot.n=-1: must be a whole number, 0 or more"),
        (lambda: FewshotConfig(n=2.0), "fewshot.n=2.0"),
        (lambda: FewshotConfig(n=True), "fewshot.n=True"),
        (lambda: FewshotConfig(n="5"), "fewshot.n='5'"),
        (lambda: FewshotConfig(split=[]), r"fewshot.split=\[\]: must be a name, or a list of different names"),
        (lambda: FewshotConfig(split=["train", "train"]), r"fewshot.split=\['train', 'train'\]: must be"),
        (lambda: FewshotConfig(split=["train", 1]), r"fewshot.split=\['train', 1\]: must be"),
        (lambda: FewshotConfig(split=""), "fewshot.split='': must be"),
        (lambda: FewshotConfig(on_pinned="drop"), "fewshot.on_pinned='drop': must be one of keep, replace"),
        (lambda: GenerationOverrides(max_new_tokens=0), "generation.max_new_tokens=0: must be at least 1"),
        (lambda: GenerationOverrides(n=0), "generation.n=0: must be at least 1"),
        (lambda: GenerationOverrides(temperature=-0.1), "generation.temperature=-0.1: must be at least 0"),
        (lambda: GenerationOverrides(top_k=0), "generation.top_k=0: must be at least 1"),
        (lambda: GenerationOverrides(top_p=0.0), "generation.top_p=0.0: must be above 0 and at most 1"),
        (lambda: GenerationOverrides(top_p=1.2), "generation.top_p=1.2"),
        (lambda: GenerationOverrides(stop=5), "generation.stop=5: must be a string or a list of strings"),
        (lambda: GenerationOverrides(stop=["a", 5]), r"generation.stop=\['a', 5\]: must be a string"),
        (lambda: GenerationOverrides(stop=["a", ""]), r"generation.stop=\['a', ''\]: an empty string would stop"),
        (lambda: GenerationOverrides(stop=""), "generation.stop='': an empty string would stop"),
        (lambda: ModelConfig(batch_tokens=0), "model.batch_tokens=0: must be at least 1, or auto"),
        (lambda: ModelConfig(batch_tokens="many"), "model.batch_tokens='many': must be at least 1, or auto"),
        (lambda: ModelConfig(batch_size=0), "model.batch_size=0: must be at least 1"),
        (lambda: ModelConfig(max_length=1), "model.max_length=1: must be at least 2"),
        (lambda: PromptConfig(chat_template=""), "prompt.chat_template='': must be true, false, auto"),
        (lambda: PromptConfig(overflow=["skip", "error"]), "names each policy once, and skip or error only at its end"),
        (lambda: PromptConfig(overflow=["drop_shots", "drop_shots"]), "names each policy once"),
        (lambda: PromptConfig(chat_template=3), "prompt.chat_template=3: must be true, false, auto, a template's name"),
        (lambda: TrackerConfig(mode="on"), "tracker.mode='on': must be auto, online, offline or disabled"),
    ],
)
def test_values_out_of_range_are_said_with_key_and_value(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: RunConfig(limit=1),
        lambda: RunConfig(limit=0.001),
        lambda: RunConfig(limit=1.0),
        lambda: RunConfig(limit=300.0),
        lambda: FewshotConfig(n=0),
        lambda: GenerationOverrides(temperature=0.0, top_p=1.0, top_k=1, n=1, stop=[]),
        lambda: GenerationOverrides(stop="x"),
        lambda: PromptConfig(chat_template="default"),
        lambda: ModelConfig(batch_size=1, batch_tokens=1, max_length=2),
    ],
)
def test_values_at_the_edge_are_taken(build: Callable[[], Any]) -> None:
    assert build()


def test_two_runs_share_no_section() -> None:
    RunConfig().tracker.tags.append("x")
    assert RunConfig().tracker.tags == []


@pytest.mark.parametrize(
    "build",
    [
        lambda: GenerationOverrides(temperature=math.nan),
        lambda: GenerationOverrides(temperature=math.inf),
        lambda: StatsConfig(bootstrap=-1),
        lambda: RunnerConfig(timeout_hours=0),
        lambda: RunnerConfig(timeout_hours=math.nan),
        lambda: RunnerConfig(timeout_hours=1e300),
    ],
)
def test_numbers_that_no_run_can_use(build: Callable[[], Any]) -> None:
    with pytest.raises(UserError, match="must be"):
        build()
