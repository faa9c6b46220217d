"""Token ids of single requests in both programs, and that other ids are seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.records import Generation, Instance, InstanceKey, RequestKind

from .conftest import REPOSITORY
from .tokens import Tokens, tokens_of

lm_eval_instance = pytest.importorskip("lm_eval.api.instance", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = pytest.mark.parity

ROOM = 7
WINDOW = 2048


@pytest.fixture(scope="module", params=[False, True], ids=["without BOS", "with BOS"])
def tokens(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokens:
    from .tiny import build

    folder: Path = tmp_path_factory.mktemp("model")
    return tokens_of(build(folder, tasks=REPOSITORY / "tasks" / "demo", bos=request.param))


def asked(context: str, continuation: str | None = None) -> tuple[Any, Instance]:
    """One request as each program has it."""
    kind = RequestKind.GENERATE if continuation is None else RequestKind.LOGLIKELIHOOD
    generation = Generation(max_new_tokens=ROOM, stop=("\n",)) if continuation is None else None
    ours = Instance(
        key=InstanceKey("toy", 0, 0, 0), kind=kind, context=context, continuation=continuation, generation=generation
    )
    second = {"until": ["\n"], "max_gen_toks": ROOM} if continuation is None else continuation
    theirs = lm_eval_instance.Instance(request_type=kind.value, doc={}, arguments=(context, second), idx=0)
    return theirs, ours


CASES = [
    pytest.param("A question. Answer:", " yes", id="choice"),
    pytest.param("A question. Answer: \n", "yes", id="blanks move"),
    pytest.param("", " yes", id="no context"),
    pytest.param("<s><|user|>\nA question.", " yes", id="BOS in the text"),
    pytest.param("word " * WINDOW + "Answer:", " yes", id="too long for the window"),
    pytest.param("A question. Answer:", None, id="reply"),
    pytest.param("<s><|user|>\nA question.", None, id="reply, BOS in the text"),
    pytest.param("word " * WINDOW + "Answer:", None, id="reply, too long for the window"),
]


@pytest.mark.parametrize(("context", "continuation"), CASES)
def test_same_ids(context: str, continuation: str | None, tokens: Tokens) -> None:
    theirs, ours = asked(context, continuation)
    assert list(tokens.differences([theirs], [ours])) == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"context": "A question."}, id="context"),
        pytest.param({"continuation": "yes"}, id="continuation"),
        pytest.param({"context": "A question. Answer: yes", "continuation": " yes"}, id="what is scored"),
    ],
)
def test_other_ids_are_told(change: dict[str, str], tokens: Tokens) -> None:
    theirs, ours = asked("A question. Answer:", " yes")
    (told,) = tokens.differences([theirs], [replace(ours, **change)])
    assert told.startswith("document 0, request 0: ids: lm-eval ")
