"""The same toy task through lm-eval and through us under a real tokenizer: the same text, and the same ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.fewshot import pick_shots
from hydra_eval.models.chat import style_of
from hydra_eval.models.encoding import encode_pairs
from hydra_eval.models.hf import HFModel
from hydra_eval.pipeline import document_requests
from hydra_eval.prompts.style import Style
from hydra_eval.records import Instance, RequestKind
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, built, data_sets_prepared_in, oracle_task, write_task
from .building import CHAT

pytestmark = pytest.mark.parity

PREFIXES = {"no prefix": None, "prefix": "It is", "prefix with a blank": "It is "}
DESCRIPTIONS = {"no description": {}, "description": {"description": "Name the colour."}}
BARE: Mapping[str, Any] = {"doc_to_choice": None, "fewshot_config": {"doc_to_choice": None}}
KINDS: dict[str, Mapping[str, Any]] = {
    "choices": {},
    "contexts": {
        "doc_to_text": "label",
        "doc_to_choice": "{{[thing + ' is ' + colours[0], thing + ' is ' + colours[1]]}}",
        "doc_to_target": "in truth",
    },
    "likelihood": {**BARE, "output_type": "loglikelihood", "doc_to_target": " {{colour}}"},
    "rolling": {**BARE, "output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{thing}}."},
    "generation": {**BARE, "output_type": "generate_until", "doc_to_target": "colour"},
}
FORMS = {
    f"{form}, {system or 'no system'}": PromptConfig(
        chat_template=form != "plain", multiturn=form != "one turn", system=system
    )
    for form in ("plain", "turns", "one turn")
    for system in (None, "Be brief.")
}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with data_sets_prepared_in(tmp_path_factory.mktemp("datasets")):
        yield


@pytest.fixture(params=["tiny", "tinybos"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ours(name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> HFModel:
    model: HFModel = request.getfixturevalue(name)
    monkeypatch.setattr(model.tokenizer, "chat_template", CHAT)
    return model


@pytest.fixture
def theirs(name: str, oracles: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(oracles[name].tokenizer, "chat_template", CHAT)
    return oracles[name]


def asked_by_us(task: Task, style: Style) -> list[list[Instance]]:
    shots = pick_shots(task).shots
    return [document_requests(task, doc, shots[doc.index], style) for doc in task.docs]


def asked_by_them(task: Any, model: Any, form: PromptConfig) -> list[list[Any]]:
    """The arguments of every request, by document."""
    task.set_fewshot_seed(1234)
    task.build_all_requests(
        system_instruction=form.system,
        apply_chat_template=form.chat_template,
        fewshot_as_multiturn=form.multiturn,
        chat_template=model.apply_chat_template if form.chat_template else None,
    )
    by_doc = groupby(task.instances, key=lambda instance: instance.doc_id)
    return [[instance.arguments for instance in instances] for _, instances in by_doc]


def our_ids(instance: Instance, model: HFModel) -> Any:
    if instance.kind is RequestKind.LOGLIKELIHOOD:
        return tuple(map(list, encode_pairs([instance], model.encoder)[0]))
    text = instance.continuation if instance.kind is RequestKind.ROLLING else instance.context
    assert text is not None
    return list(model.encoder.encode([text])[text])


def their_ids(instance: Instance, model: Any) -> Any:
    if instance.kind is RequestKind.LOGLIKELIHOOD:
        return tuple(map(list, model._encode_pair(*instance.arguments)))
    if instance.kind is RequestKind.ROLLING:
        return model.tok_encode(instance.arguments[0])
    return model.tok_batch_encode([instance.arguments[0]])[0][0].tolist()


@pytest.mark.parametrize("n", [0, 2], ids=["0 shots", "2 shots"])
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("description", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_same_text_and_the_same_ids(
    kind: Mapping[str, Any],
    description: Mapping[str, Any],
    prefix: str | None,
    n: int,
    ours: HFModel,
    theirs: Any,
    tmp_path: Path,
) -> None:
    path = write_task(tmp_path, {**CHOICE, **kind, **description, "gen_prefix": prefix})
    (task,), oracle = built(tmp_path, f"toy|{n}"), oracle_task(path, n=n)
    for form, config in FORMS.items():
        asked = asked_by_us(task, style_of(config, ours.tokenizer))
        assert [[one.arguments for one in of_doc] for of_doc in asked] == asked_by_them(oracle, theirs, config), form
        flat = [one for of_doc in asked for one in of_doc]
        assert [our_ids(one, ours) for one in flat] == [their_ids(one, theirs) for one in flat], form
