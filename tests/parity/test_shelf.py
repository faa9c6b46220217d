"""The bundled tasks against lm-eval's of the same names: same documents in, same requests out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import REPOSITORY
from .redirect import builtin_files, write_local_wrappers, write_wrapper

lm_eval_tasks = pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = pytest.mark.parity

SHELF = REPOSITORY / "tasks"
FILES = {
    "gsm8k": "gsm8k/gsm8k.yaml",
    "arc_easy": "arc/arc_easy.yaml",
    "arc_challenge": "arc/arc_challenge.yaml",
    "winogrande": "winogrande/winogrande.yaml",
    "piqa": "piqa/piqa.yaml",
    "boolq": "boolq/boolq.yaml",
    "lambada_openai": "lambada/lambada_openai.yaml",
}
DOCS, SEED = 50, 1234


@pytest.fixture(scope="module")
def originals() -> dict[str, Path]:
    return dict(zip(FILES, builtin_files(FILES), strict=True))


@pytest.fixture(scope="module", params=list(FILES))
def pair(
    request: pytest.FixtureRequest,
    originals: dict[str, Path],
    data_root: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Any, Any]:
    """Our task and lm-eval's, both built by lm-eval on the same local files."""
    name = request.param
    ours, theirs = (
        load(write_local_wrappers([file], root=data_root, folder=tmp_path_factory.mktemp(name))[0])
        for file in (SHELF / FILES[name], originals[name])
    )
    return ours, theirs


def load(path: Path) -> Any:
    (task,) = lm_eval_tasks.TaskManager(include_defaults=False).load([str(path)])["tasks"].values()
    return task


def with_requests(task: Any, shots: int) -> Any:
    """The task after building the requests of its first documents."""
    task.set_config("num_fewshot", shots)
    task.set_fewshot_seed(SEED)
    task.build_all_requests(limit=DOCS)
    return task


def requests(task: Any) -> list[tuple[Any, ...]]:
    return [(instance.doc_id, instance.idx, instance.request_type, *instance.args) for instance in task.instances]


def scoring(task: Any) -> dict[str, Any]:
    """All that turns replies into numbers."""
    return {
        "filters": task.config.filter_list,
        "metrics": list(task._metric_fn_list),
        "options": task._metric_fn_kwargs,
        "aggregations": task._aggregation_list,
        "directions": task._higher_is_better,
        "repeats": task.config.repeats,
        "shots": task.config.num_fewshot,
        "version": task.VERSION,
    }


def golds(task: Any) -> list[tuple[Any, Any]]:
    docs = [doc for _, doc in task.doc_iterator(limit=DOCS)]
    choices = task.doc_to_choice if task.config.doc_to_choice is not None else (lambda doc: None)
    return [(task.doc_to_target(doc), choices(doc)) for doc in docs]


def test_same_golds_and_scoring(pair: tuple[Any, Any]) -> None:
    ours, theirs = pair
    assert ours.config.metadata["config_source"] != theirs.config.metadata["config_source"]
    assert golds(ours) == golds(theirs)
    assert scoring(ours) == scoring(theirs)


@pytest.mark.parametrize("shots", [0, 1, 5], ids=["no shots", "one shot", "five shots"])
def test_same_requests(pair: tuple[Any, Any], shots: int) -> None:
    ours, theirs = (requests(with_requests(task, shots)) for task in pair)
    assert len(ours) >= DOCS
    assert ours == theirs


def test_lm_eval_finds_the_whole_shelf() -> None:
    manager = lm_eval_tasks.TaskManager(include_path=str(SHELF), include_defaults=False)
    assert {*FILES, "common_words"} <= set(manager.all_subtasks)
    assert manager.task_index["ai2_arc"].tags == {"arc_easy", "arc_challenge"}


def test_lm_eval_takes_common_words(tmp_path: Path) -> None:
    folder = SHELF / "longwords"
    files = {split: str(folder / "data" / f"{split}.jsonl") for split in ("train", "test")}
    keys = {"dataset_kwargs": {"data_files": files}}
    task = with_requests(load(write_wrapper(folder / "common_words.yaml", keys, folder=tmp_path)), 1)
    context, options = task.instances[0].args
    assert context.count("Here is a list of words. 5 of them") == 2
    assert context.endswith("\n\nThe 5 most common words:")
    assert options["max_gen_toks"] == 64
    doc = task.eval_docs[0]
    assert task.process_results(doc, [task.doc_to_target(doc)]) == {"recall": 1.0, "all_found": 1.0}
