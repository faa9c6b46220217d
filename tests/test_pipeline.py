from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.build import build_pipelines
from hydra_eval.pipeline import Work, prepare, score
from hydra_eval.plan import share_out
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Instance, Request, RequestKind, Response, SampleRow
from hydra_eval.results.aggregate import merge_rows
from hydra_eval.tasks.task import Task

from .toys import COLOURS, GREEDY, docs_of, toy_task


def test_text_that_no_tokenizer_takes_is_told_with_its_document() -> None:
    docs = docs_of([COLOURS[0], {**COLOURS[1], "thing": "half \ud800"}])
    with pytest.raises(UserError, match=r"'\\ud800', half a character.*document 1"):
        prepare([replace(toy_task(), docs=docs, all_docs=docs)], Style(), batch_tokens=64)


def asks_both(doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
    """A likelihood, a reply, and another likelihood."""
    text = f"About {doc.row['thing']}:"
    yes, no = (Request(kind=RequestKind.LOGLIKELIHOOD, arguments=(text, answer)) for answer in (" yes", " no"))
    return [yes, Request(kind=RequestKind.GENERATE, arguments=(text, {"until": ["\n"]}), generation=GREEDY), no]


def tells_all(row: Mapping[str, Any], outputs: list[Any]) -> dict[str, Any]:
    (yes, _), reply, (no, _) = outputs
    return {"prefers_yes": float(yes > no), "length": len(reply)}


def mixed() -> Task:
    return toy_task(own_requests=asks_both, process_results=tells_all)


def answer(instance: Instance) -> Response:
    number = instance.key.doc + instance.key.request
    if instance.kind is RequestKind.GENERATE:
        return Response(key=instance.key, text="x" * number)
    return Response(key=instance.key, logprob=-float(number), is_greedy=False)


def answered_by(work: Work, world: int) -> list[SampleRow]:
    """The rows of a run on `world` processes."""
    shares = share_out(work.packets, world)
    replies = [[answer(instance) for packet in share for instance in packet.instances] for share in shares]
    scored = [score(work, responses) for responses in replies]
    rest = score(work, [response for part in scored for response in part.loose])
    assert rest.loose == []
    return merge_rows([*(part.rows for part in scored), rest.rows], work.tasks)


@pytest.mark.parametrize("world", [1, 2, 3, 5])
def test_a_document_that_asks_several_kinds_is_scored_whole_on_any_number_of_processes(world: int) -> None:
    work = prepare([mixed()], Style(), batch_tokens=64)
    assert {len({instance.kind for instance in packet.instances}) for packet in work.packets} == {1}
    rows = answered_by(work, world)
    assert [row.scores for row in rows] == [{"prefers_yes": 1.0, "length": doc + 1} for doc in range(4)]
    assert [row.arguments[1][0] for row in rows] == [row.arguments[0][0] for row in rows]


def test_a_document_about_which_nothing_is_asked_is_told_before_the_model_is() -> None:
    with pytest.raises(
        UserError, match=r"toy.yaml: nothing is asked about this document.* \(task 'toy', document 0\)$"
    ):
        prepare([toy_task(own_requests=lambda doc, shots, style: [])], Style(), batch_tokens=64)


def test_requests_keep_the_order_in_which_the_task_asks_them() -> None:
    work = prepare([mixed()], Style(), batch_tokens=64)
    (row, *_) = answered_by(work, 2)
    assert row.resps == (((-0.0, False),), ("x",), ((-2.0, False),))


def test_a_filter_gets_all_documents_in_one_call() -> None:
    calls: list[int] = []

    class Counts:
        def apply(self, resps: list[list[str]], docs: list[Mapping[str, Any]]) -> list[str]:
            calls.append(len(resps))
            return [replies[0] for replies in resps]

    spec = [{"name": "counted", "filter": [{"function": Counts}]}]
    work = prepare([toy_task("generate_until", filters=build_pipelines(spec, where="t"))], Style(), batch_tokens=64)
    assert len(answered_by(work, 1)) == 4
    assert calls == [4]


def test_a_filter_that_fails_only_on_all_documents_together_is_named() -> None:
    spec = [{"name": "first", "filter": [{"function": "custom", "filter_fn": lambda resps, docs: resps[0]}]}]
    work = prepare([toy_task("generate_until", filters=build_pipelines(spec, where="t"))], Style(), batch_tokens=64)
    with pytest.raises(UserError, match=r"^toy.yaml: filter pipeline 'first': .* returned 1 entry for 4 requests"):
        answered_by(work, 1)


def test_the_document_on_which_a_filter_fails_is_named() -> None:
    class Fails:
        def apply(self, resps: list[list[str]], docs: list[Mapping[str, Any]]) -> list[float]:
            return [1 / (len(replies[0]) - 2) for replies in resps]

    spec = [{"name": "fails", "filter": [{"function": Fails}]}]
    work = prepare([toy_task("generate_until", filters=build_pipelines(spec, where="t"))], Style(), batch_tokens=64)
    with pytest.raises(ZeroDivisionError) as caught:
        answered_by(work, 1)
    assert caught.value.__notes__ == ["in task 'toy', document 2"]
