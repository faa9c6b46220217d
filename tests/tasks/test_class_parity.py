"""Task classes through our adapter: against lm-eval's own objects, and with our stand-in in place of lm-eval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, FewshotConfig, RunConfig
from hydra_eval.config.task_config import fill_defaults
from hydra_eval.config.task_yaml import read_task_yaml
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

from ..toys import write_rows
from ..without_lm_eval import output_of
from .classes import CONFIGURED, REPLIES, STYLES, asked, class_task, scored, write_classes

pytestmark = pytest.mark.parity

SQUAD = [
    {
        "id": str(number),
        "title": f"Stone {number}",
        "context": "One stone, two sticks.",
        "question": f"How many, {number}?",
        "answers": {"text": ["two"] * (number % 3), "answer_start": [11] * (number % 3)},
    }
    for number in range(5)
]
BASED = [{"text": f" The weight of stone {number} is ", "value": f"{number} kg "} for number in range(5)]
UPSTREAM: dict[str, tuple[str, Sequence[dict[str, Any]]]] = {
    "squadv2": ("lighteval/squad_v2", SQUAD),
    "squad_completion": ("hazyresearch/based-squad", BASED),
    "fda": ("hazyresearch/based-fda", BASED),
    "swde": ("hazyresearch/based-swde-v2", BASED),
}
"""Name of a class task in lm-eval's tree → its data set, and rows of ours in that shape."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    write_classes(folder)
    return folder


def theirs(made: Any, n: int, style: Style) -> list[Any]:
    """The requests of lm-eval's own object, document by document."""
    made.set_config("num_fewshot", n)
    made.set_fewshot_seed(1234)
    made.build_all_requests(
        system_instruction=style.system,
        apply_chat_template=style.chat is not None,
        fewshot_as_multiturn=style.multiturn,
        chat_template=None
        if style.chat is None
        else lambda m, add_generation_prompt=True: style.chat(m, add_generation_prompt),
    )
    by_doc: dict[int, list[Any]] = {}
    for instance in made.instances:
        by_doc.setdefault(instance.doc_id, []).append((instance.request_type, list(instance.args)))
    return list(by_doc.values())


def their_scores(made: Any) -> list[Any]:
    replies = {kind.value: reply for kind, reply in REPLIES.items()}
    by_doc: dict[int, list[Any]] = {}
    for instance in made.instances:
        by_doc.setdefault(instance.doc_id, []).append(replies[instance.request_type])
    return [made.process_results(doc, by_doc[number]) for number, doc in enumerate(made.eval_docs)]


def own_object(folder: Path, name: str) -> Any:
    """lm-eval's object of one of our classes, its data read by lm-eval's own code."""
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(folder / f"{name}.yaml")
    made = config["class"]
    place = str(folder / "data" / "toys" / "spans" / "default")
    if "dataset_path" in config:
        config["dataset_path"] = place
    made.DATASET_PATH = place
    return made(config=config)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("name", "n"), [("spans", 0), *((name, n) for name in CONFIGURED for n in (0, 2) if name != "read" or n == 0)]
)
def test_requests_are_those_of_lm_evals_own_object(folder: Path, name: str, n: int, style: str) -> None:
    ours = class_task(folder, name, fewshot=FewshotConfig(n=n))
    assert asked(ours, STYLES[style]) == theirs(own_object(folder, name), n, STYLES[style])


@pytest.mark.parametrize("name", ["spans", *CONFIGURED])
def test_scores_are_those_of_lm_evals_own_object(folder: Path, name: str) -> None:
    made = own_object(folder, name)
    theirs(made, 0, Style())
    assert scored(class_task(folder, name)) == their_scores(made)


def test_the_stand_in_gives_what_lm_eval_gives(folder: Path) -> None:
    shots = [("spans", 0), ("spans", 2), ("echo", 0), *((name, 2) for name in CONFIGURED if name != "read")]
    cases = [(*case, style) for case in shots for style in ("plain", "one turn")]
    code = f"from tests.tasks.classes import described; print(described({str(folder)!r}, {cases!r}))"
    hidden, installed = (json.loads(output_of(code, cwd=folder, hidden=hidden)) for hidden in (True, False))
    for case, without, with_it in zip(cases, hidden, installed, strict=True):
        assert without == with_it, case


@pytest.mark.parametrize("name", UPSTREAM)
def test_class_tasks_of_lm_evals_tree(tmp_path: Path, name: str) -> None:
    tasks = pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    path = Path(str(tasks.__file__)).parent / name / f"{name}.yaml"
    data_set, rows = UPSTREAM[name]
    place = tmp_path / data_set / "default"
    place.mkdir(parents=True)
    for split in ("train", "validation"):
        write_rows(place / f"{split}.jsonl", rows)
    ours = upstream_task(path, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        cls: Any = type(ours.own_requests.made)  # type: ignore[union-attr]
        patch.setattr(cls, "DATASET_PATH", str(place))
        made = cls()
        requests = theirs(made, 0, Style())
    assert asked(ours, Style()) == requests
    assert scored(ours) == their_scores(made)
    assert [metric.name for metric in ours.metrics] == list(made.aggregation())
    assert ours.version == made.VERSION


def test_the_package_that_unitxt_tasks_need_is_named() -> None:
    tasks = pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    path = Path(str(tasks.__file__)).parent / "unitxt" / "ag_news.yaml"
    with pytest.raises(Exception, match=r"ag_news.yaml: the class Unitxt cannot be made: .*install unitxt"):
        upstream_task(path, path.parent)


def upstream_task(path: Path, root: Path) -> Task:
    content = fill_defaults(read_task_yaml(path), path=path)
    name = content["task"]
    selection = {name: {"tasks": {name: name}, "shots": None}}
    (task,) = build_tasks(RunConfig(tasks={name: content}, selection=selection, data=DataConfig(root=str(root))))
    return task
