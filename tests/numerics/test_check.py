from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import CheckConfig, ModelConfig
from hydra_eval.errors import OutOfMemory
from hydra_eval.instances import make_instances
from hydra_eval.models import load_model, load_tokenizer
from hydra_eval.models.base import Model
from hydra_eval.numerics.check import Rechecked, numerics_content, recheck
from hydra_eval.numerics.sample import choose_documents, wanted_of
from hydra_eval.plan import plan_packets
from hydra_eval.records import Instance, RequestKind, Response
from hydra_eval.tasks.task import Task

from ..models.building import load, save_rigged, save_tiny, uniform_logits
from ..toys import docs_of, toy_task

CHOICE = toy_task()
REPLY = toy_task("generate_until", name="reply", docs=docs_of([{"thing": "grass", "colour": "green"}], task="reply"))
TEXT = toy_task(
    "loglikelihood_rolling", name="text", docs=docs_of([{"colour": "The ferry leaves at nine."}], task="text")
)
TASKS = (CHOICE, REPLY, TEXT)


def requests(tasks: Sequence[Task]) -> list[Instance]:
    return [
        instance
        for task in tasks
        for doc in task.docs
        for instance in make_instances(task, doc, task.template.text(doc.row) if task is not TEXT else "", chat=False)
    ]


def answered(model: Model, tasks: Sequence[Task]) -> list[tuple[Instance, Response]]:
    """As a run asks, packet by packet."""
    pairs: list[tuple[Instance, Response]] = []
    for packet in plan_packets(requests(tasks), batch_tokens=200):
        ask = model.generate if packet.kind is RequestKind.GENERATE else model.loglikelihood
        pairs += zip(packet.instances, ask(packet), strict=True)
    return pairs


def content(model: Model, tasks: Sequence[Task] = TASKS, *, count: int = 9) -> dict[str, Any]:
    sample = choose_documents(tasks, count=count, seed=1)
    pairs = answered(model, tasks)
    found = recheck(sample, model, pairs, tokenize=lambda text: [*map(ord, text)], counting=counting([]))
    wanted = wanted_of(sample, [instance for instance, _ in pairs])
    return numerics_content([found, Rechecked()], wanted, check=CheckConfig(documents=count), seed=1)


def counting(moves: list[int]) -> Callable[[str, int], Any]:
    return lambda what, total: nullcontext(lambda: moves.append(total))


def dummy() -> Model:
    config = ModelConfig(kind="dummy")
    return load_model(config, "cpu", load_tokenizer(config))


class Scarce:
    """Has no memory for one request in float32."""

    def __init__(self, model: Model, *, alone: bool = False) -> None:
        self.model = model
        self.alone = alone

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def loglikelihood(self, packet: Any) -> list[Response]:
        if self.alone and packet.instances[0].key[1:3] == (2, 1):
            raise OutOfMemory("Out of memory.")
        return self.model.loglikelihood(packet)

    @contextmanager
    def one_by_one(self) -> Iterator[Any]:
        with self.model.one_by_one() as reference:
            yield reference._replace(model=Scarce(reference.model, alone=True))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


def test_a_float32_model_changes_nothing(tiny: Path) -> None:
    total = content(load(tiny))["total"]
    assert total["answers"]["acc"] == {"documents": 4, "changed": 0, "share_changed": 0.0, "near_ties": 0}
    assert total["generate_until"]["changed"] == total["loglikelihood"]["greedy_changed"] == 0
    assert max(total[kind]["largest_drift"] for kind in ("loglikelihood", "loglikelihood_rolling")) < 1e-4


def test_bfloat16_drifts(tiny: Path) -> None:
    found = content(load(tiny, dtype="bfloat16"))
    assert (found["dtype"], found["why"]) == ("float32", None)
    assert found["total"]["loglikelihood"]["largest_drift"] > 1e-3


def test_a_planted_tie_is_reported(tmp_path: Path) -> None:
    """Each letter is as likely as the others: choices of one length tie, and per letter all do."""
    model = load(save_rigged(tmp_path, uniform_logits(8)))
    rows = [{"thing": "a", "colours": ["ab", "cd"], "label": 0}, {"thing": "b", "colours": ["a", "bcd"], "label": 0}]
    letters = replace(CHOICE.template, text=lambda row: row["thing"], target_delimiter="")
    task = toy_task(docs=docs_of(rows), template=letters)
    found = content(model, [task])["tasks"]["toy"]
    assert {name: picks["near_ties"] for name, picks in found["answers"].items()} == {"acc": 1, "acc_norm": 2}
    assert found["near_tie_documents"] == [0, 1]


def test_the_dummy_gives_zeros() -> None:
    found = content(dummy())
    assert found["dtype"] == "float64"
    assert found["total"]["loglikelihood"]["largest_drift"] == found["total"]["generate_until"]["changed"] == 0
    assert found["efficiency"]["total"]["forward_tokens"] > 0
    assert found["tasks"].keys() == {"toy", "reply", "text"}


def test_progress_moves_with_each_request() -> None:
    moves: list[int] = []
    model, sample = dummy(), choose_documents(TASKS, count=2, seed=1)
    recheck(sample, model, answered(model, TASKS), tokenize=list, counting=counting(moves))
    assert moves == [6] * 6  # two documents of two choices, one reply, one text


def test_a_rank_without_any_of_the_documents_does_nothing() -> None:
    model, sample = dummy(), choose_documents([CHOICE], count=2, seed=1)
    elsewhere = answered(model, [REPLY, TEXT])
    assert recheck(sample, model, elsewhere, tokenize=list, counting=counting([])) == Rechecked()


def test_what_memory_does_not_take_is_left_out() -> None:
    found = content(Scarce(dummy()), [CHOICE])["tasks"]["toy"]
    assert (found["documents"], found["requests"], found["out_of_memory"]) == (3, 6, 2)
