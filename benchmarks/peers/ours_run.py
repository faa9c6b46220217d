"""hydra-eval on one order, through its own runner: `python -m benchmarks.peers.ours_run ORDER.json`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers.meter import Meter
from benchmarks.peers.order import RUN, Order, read_order, write_figures
from benchmarks.peers.warm_up import CONTEXTS, CONTINUATION, REPLY, STOP
from hydra_eval.commands.composed import composed
from hydra_eval.config.command_line import quoted
from hydra_eval.config.folder import named_folder
from hydra_eval.config.schema import ModelConfig
from hydra_eval.fleet import start_fleet
from hydra_eval.launch import Launch
from hydra_eval.models.base import Model
from hydra_eval.process import quiet_libraries
from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind
from hydra_eval.runner import ModelShelf
from hydra_eval.screen import Advance, Screen


class MeteredShelf(ModelShelf):
    """Times how long tokenizer and weights take to load, and warms the model up."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    def tokenizer(self, config: ModelConfig) -> Any:
        with self._meter.loading():
            return super().tokenizer(config)

    def model(self, config: ModelConfig, device: str) -> Model:
        self.tokenizer(config)
        with self._meter.loading():
            model = super().model(config, device)
        warm_up(model)
        self._meter.watch(model.model)  # type: ignore[attr-defined]
        return model


class MeteredScreen(Screen):
    """The runner shows progress from the first request to the last response."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(shown=True)
        self._meter = meter

    @contextmanager
    def progress(self, packets: Sequence[Packet], **told: Any) -> Iterator[Advance]:
        with super().progress(packets, **told) as advance, self._meter.requests():
            yield advance


def main(path: str) -> None:
    order = read_order(path)
    meter = Meter(order)
    quiet_libraries()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    overrides = overrides_of(order)
    held = named_folder(Path(order.folder) / RUN)
    launch = Launch(fleet=start_fleet(), models=MeteredShelf(meter), screen=MeteredScreen(meter))
    launch.evaluate(composed(overrides), held.path, overrides=overrides)
    write_figures(order, meter.figures())


def overrides_of(order: Order) -> list[str]:
    return [
        f"task=[{quoted(order.file)}]",
        "model=hf",
        f"model.pretrained={quoted(order.model)}",
        f"model.dtype={order.dtype}",
        f"model.device={order.device}",
        f"fewshot.n={order.shots}",
        "fewshot.on_pinned=keep",
        f"limit={order.documents}",
        "tracker=none",
        *order.overrides,
    ]


def warm_up(model: Model) -> None:
    pairs = [(context, CONTINUATION) for context in CONTEXTS]
    model.loglikelihood(_packet(RequestKind.LOGLIKELIHOOD, pairs))
    model.generate(_packet(RequestKind.GENERATE, [(context, None) for context in CONTEXTS]))


def _packet(kind: RequestKind, texts: Sequence[tuple[str, str | None]]) -> Packet:
    generation = Generation(max_new_tokens=REPLY, stop=(STOP,)) if kind is RequestKind.GENERATE else None
    instances = tuple(
        Instance(
            key=InstanceKey("warm-up", number, 0, 0),
            kind=kind,
            context=context,
            continuation=continuation,
            generation=generation,
        )
        for number, (context, continuation) in enumerate(texts)
    )
    return Packet(index=0, kind=kind, instances=instances, cost=0)


if __name__ == "__main__":
    main(sys.argv[1])
