"""A bundled task beside lm-eval's of the same name, on rows that a test makes up.

A `Case` says which files and which rows; `built_pair` writes the rows in the hub's layout and builds both files with
lm-eval; every entry of `FACETS` then gives two values that must be equal. All of a test module:

    CASES = {"sciq": Case(ours="sciq/sciq.yaml", theirs="sciq/sciq.yaml", rows=sciq_rows)}

    @pytest.fixture(scope="module", params=list(CASES))
    def pair(request, tmp_path_factory):
        return built_pair(CASES[request.param], tmp_path_factory.mktemp("pair"))

    @pytest.mark.parametrize("facet", list(FACETS))
    def test_equals_lm_eval(pair, facet):
        ours, theirs = FACETS[facet](pair)
        assert ours == theirs
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_yaml import read_task_yaml
from hydra_eval.pipeline import Work, prepare, score
from hydra_eval.prompts.style import Style
from hydra_eval.records import Instance, RequestKind, Response
from hydra_eval.results.aggregate import aggregate, merge_rows

from ..parity.redirect import local_dataset, write_wrapper
from ..toys import built, write_rows

SHELF = Path(__file__).resolve().parents[2] / "tasks"
SEED = 1234
SHOTS = (0, 1, 3)

Row: TypeAlias = Mapping[str, Any]
Splits: TypeAlias = Mapping[str, Sequence[Row]]
"""Split → its rows, columns and types as on the hub."""
Replies: TypeAlias = Callable[[Row], Sequence[str]]
"""Document → replies to try on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a comparison needs to know of one task."""

    ours: str
    """YAML below `tasks/`."""
    theirs: str
    """YAML below lm-eval's `tasks/`."""
    rows: Callable[[], Splits]
    replies: Replies | None = None
    """For generated text: replies to try on a document, right ones and wrong ones; its own number picks one."""
    most_shots: int = max(SHOTS)
    """Fewer where lm-eval itself fails on examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Our file and lm-eval's, both built by lm-eval on the same rows."""

    case: Case
    ours: Any
    theirs: Any
    root: Path
    """Where the rows lie, in the hub's layout."""

    @property
    def name(self) -> str:
        return str(self.theirs.config.task)


def original(path: str) -> Path:
    """A file of lm-eval's own tree."""
    import lm_eval

    return Path(lm_eval.__file__).parent / "tasks" / path


def write_splits(root: Path, task_file: Path, splits: Splits) -> None:
    """`root/ORG/NAME/SUBSET/SPLIT.jsonl` for the data set that `task_file` names."""
    config = read_task_yaml(task_file)
    folder = root / config["dataset_path"] / (config.get("dataset_name") or "default")
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in splits.items():
        write_rows(folder / f"{split}.jsonl", rows)


def built_pair(case: Case, folder: Path) -> Pair:
    """Write the rows below `folder`, and build both files on them with lm-eval."""
    root = folder / "data"
    write_splits(root, SHELF / case.ours, case.rows())
    sides = {"ours": SHELF / case.ours, "theirs": original(case.theirs)}
    tasks = {side: _built_by_lm_eval(file, root, folder / side) for side, file in sides.items()}
    return Pair(case=case, root=root, **tasks)


def _built_by_lm_eval(file: Path, root: Path, folder: Path) -> Any:
    from lm_eval.tasks import TaskManager

    folder.mkdir()
    wrapper = write_wrapper(file, local_dataset(read_task_yaml(file), root), folder=folder)
    (task,) = TaskManager(include_defaults=False).load([str(wrapper)])["tasks"].values()
    return task


# What is compared. Each function gives (ours, theirs).


def documents(pair: Pair) -> tuple[Any, Any]:
    """Rows after `process_docs`, the columns that our file does not make left out."""
    ours, theirs = ([dict(doc) for doc in task.eval_docs] for task in (pair.ours, pair.theirs))
    return ours, [{key: row[key] for key in own if key in row} for own, row in zip(ours, theirs, strict=True)]


def golds(pair: Pair) -> tuple[Any, Any]:
    return _golds(pair.ours), _golds(pair.theirs)


def settings(pair: Pair) -> tuple[Any, Any]:
    """All that turns replies into numbers, and where the data comes from."""
    files = SHELF / pair.case.ours, original(pair.case.theirs)
    ours, theirs = (
        {**_settings(task), **_written(read_task_yaml(file))}
        for task, file in zip((pair.ours, pair.theirs), files, strict=True)
    )
    return ours, theirs


def requests(pair: Pair, shots: int) -> tuple[Any, Any]:
    """Requests of both files, as lm-eval builds them."""
    shots = min(shots, pair.case.most_shots)
    ours, theirs = (_requests(_with_requests(task, shots).instances) for task in (pair.ours, pair.theirs))
    return ours, theirs


def own_requests(pair: Pair, shots: int) -> tuple[Any, Any]:
    """Our file as hydra_eval builds it against lm-eval's, but for documents that lm-eval shows among their examples."""
    shots = min(shots, pair.case.most_shots)
    leaking = _own_examples(pair.theirs, shots)
    theirs = _requests(_with_requests(pair.theirs, shots).instances)
    work = own_work(pair.name, pair.root, shots=shots)
    ours, theirs = ([item for item in side if item[0] not in leaking] for side in (_own_requests(work), theirs))
    return ours, theirs


def scores(pair: Pair) -> tuple[Any, Any]:
    """Every metric's values, its number and its direction, on replies that are made up for each request."""
    return own_scores(own_work(pair.name, pair.root, shots=0), pair.case.replies), _their_scores(pair)


FACETS: dict[str, Callable[[Pair], tuple[Any, Any]]] = {
    "documents": documents,
    "golds": golds,
    "settings": settings,
    **{f"requests, {shots} shots": partial(requests, shots=shots) for shots in SHOTS},
    **{f"hydra_eval's requests, {shots} shots": partial(own_requests, shots=shots) for shots in SHOTS},
    "hydra_eval's scores": scores,
}


# lm-eval's side.


def _golds(task: Any) -> list[tuple[Any, Any]]:
    """(right answer, choices); a right answer given by its text as the index that it stands for."""
    found = []
    for doc in task.eval_docs:
        choices = task.doc_to_choice(doc) if task.config.doc_to_choice is not None else []
        gold = task.doc_to_target(doc)
        found.append((choices.index(gold) if isinstance(gold, str) and gold in choices else gold, choices))
    return found


def _settings(task: Any) -> dict[str, Any]:
    config = task.config
    keys = ("output_type", "test_split", "validation_split", "training_split", "fewshot_split", "task_alias")
    keys += ("description", "target_delimiter", "fewshot_delimiter", "gen_prefix", "generation_kwargs")
    return {
        **{key: getattr(config, key) for key in keys},
        "task": config.task,
        "repeats": config.repeats,
        "filters": config.filter_list,
        "sampler": type(task.sampler).__name__ if hasattr(task, "sampler") else None,
        "metrics": list(task._metric_fn_list),
        "options": task._metric_fn_kwargs,
        "aggregations": {name: _function(combine) for name, combine in task._aggregation_list.items()},
        "directions": task._higher_is_better,
        "version": task.VERSION,
    }


def _function(value: Any) -> str:
    """lm-eval's own functions by name; a task file's by the fact that it has one: `scores` compares what they do."""
    if not callable(value):
        return str(value)
    module = getattr(value, "__module__", "")
    is_registered = module.startswith("lm_eval.") and not module.startswith("lm_eval.tasks.")
    return value.__name__ if is_registered else "the task's own"


def _written(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a comparison changes in the built task, from the file."""
    return {key: config.get(key) for key in ("dataset_path", "dataset_name", "num_fewshot")}


def _with_requests(task: Any, shots: int) -> Any:
    task.set_config("num_fewshot", 0 if task.OUTPUT_TYPE == "loglikelihood_rolling" else shots)
    task.set_fewshot_seed(SEED)
    task.build_all_requests()
    return task


def _own_examples(task: Any, shots: int) -> set[int]:
    """Documents that lm-eval shows among their own examples; here such an example is replaced."""
    if not shots or task.OUTPUT_TYPE == "loglikelihood_rolling":
        return set()
    drawn: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        sample = task.sampler.sample
        patch.setattr(task.sampler, "sample", lambda **given: drawn.append(sample(**given)) or drawn[-1])
        _with_requests(task, shots)
    return {number for number, (doc, shown) in enumerate(zip(task.eval_docs, drawn, strict=True)) if doc in shown}


def _requests(instances: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [(instance.doc_id, instance.idx, instance.request_type, *instance.args) for instance in instances]


def _their_scores(pair: Pair) -> dict[tuple[str, str], Any]:
    task = _with_requests(pair.theirs, 0)
    for instance in task.instances:
        asked = (instance.doc_id, instance.idx, instance.request_type)
        instance.resps = [_reply(pair.case.replies, instance.doc, *asked, repeat) for repeat in range(instance.repeats)]
    task.apply_filters()
    values: dict[tuple[str, str], list[Any]] = {}
    for pipeline in task.instances[0].filtered_resps:
        for doc_id, doc in enumerate(task.eval_docs):
            outputs = [item.filtered_resps[pipeline] for item in task.instances if item.doc_id == doc_id]
            for metric, value in task.process_results(doc, outputs).items():
                values.setdefault((metric, pipeline), []).append(value)
    combine, directions = task.aggregation(), task.higher_is_better()
    return {
        (metric, pipeline): _score(found, combine[metric](found), directions[metric])
        for (metric, pipeline), found in values.items()
    }


# hydra_eval's side.


def own_work(name: str, root: Path, *, shots: int) -> Work:
    """The task's requests, on the rows below `root`."""
    tasks = built(SHELF, f"{name}|{shots}", data=DataConfig(root=str(root)), allow_code_execution=True)
    return prepare(tasks, Style(), batch_tokens=8192)


def _own_requests(work: Work) -> list[tuple[Any, ...]]:
    return [
        (instance.key.doc, instance.key.request, instance.kind.value, *instance.arguments)
        for instance in _instances(work)
        if instance.key.repeat == 0
    ]


def own_scores(work: Work, replies: Replies | None) -> dict[tuple[str, str], Any]:
    """(metric, filter) → its values, its number and its direction, on made-up replies."""
    (task,) = work.tasks
    responses = [_response(replies, task.docs[item.key.doc].row, item) for item in _instances(work)]
    rows = merge_rows([score(work, responses).rows], work.tasks)
    results = aggregate(task, rows, bootstrap=0).metrics
    return {
        (result.metric, result.filter): _score(
            [row.scores[result.metric] for row in rows if row.filter == result.filter],
            result.value,
            result.higher_is_better,
        )
        for result in results
    }


def _instances(work: Work) -> list[Instance]:
    return [instance for of_document in work.requests_of.values() for instance in of_document]


def _response(replies: Replies | None, row: Row, instance: Instance) -> Response:
    key = instance.key
    reply = _reply(replies, row, key.doc, key.request, instance.kind.value, key.repeat)
    if instance.kind is RequestKind.GENERATE:
        return Response(key=key, text=reply)
    if instance.kind is RequestKind.ROLLING:
        return Response(key=key, logprob=reply)
    return Response(key=key, logprob=reply[0], is_greedy=reply[1])


# Both sides.


def _reply(replies: Replies | None, row: Row, doc: int, request: int, kind: str, repeat: int) -> Any:
    """What a model might say: the same on both sides."""
    chance = random.Random(f"{doc}/{request}/{repeat}")
    if kind == "generate_until":
        assert replies is not None, "a task that generates text needs replies to try"
        candidates = replies(row)
        return candidates[(doc + repeat) % len(candidates)]
    logprob = -20 * chance.random()
    return logprob if kind == "loglikelihood_rolling" else (logprob, chance.random() < 0.4)


def _score(values: Sequence[Any], number: Any, higher_is_better: Any) -> dict[str, Any]:
    return {"values": [_plain(value) for value in values], "number": _plain(number), "up": higher_is_better}


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's, to twelve digits: two orders of the same sums are equal."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | None):
        return value
    return float(f"{float(value):.12g}")
