"""A task written as a Python class, lm-eval's own or over its stand-in, becomes a task like any other.

The class words its prompts, draws its examples and scores its documents; everything else is ours. Calls and their
order: lm-eval 0.4.13, `TaskFactory._build_task`, `simple_evaluate`, `Task.build_all_requests`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hydra_eval.config.functions import told
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, noted
from hydra_eval.filters.build import build_pipelines
from hydra_eval.lm_eval_compat import registered
from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.metrics.base import Aggregation, BoundMetric
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.class_requests import ClassRequests
from hydra_eval.tasks.code_gate import refuse_code
from hydra_eval.tasks.custom_data import run_metadata
from hydra_eval.tasks.local_loading import local_loading
from hydra_eval.tasks.shot_plan import shot_seed
from hydra_eval.tasks.task import ShotPlan, Task, Template

NOT_FOR_CLASSES = ("file", "python_class", "options", "table", "tag")
WORDED = ("doc_to_text", "doc_to_target", "doc_to_choice")
BARE = "document"
"""Column of documents that are no mapping (a text, say)."""


def build_class_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Task:
    """Make the object, load its data through it, and bind what it says of itself."""
    _check_choices(cell, task, config)
    seed = shot_seed(cell, config)
    made = _made(task, config)
    made.set_config("num_fewshot", cell.shots)
    made.set_fewshot_seed(seed)
    given = _eval_docs(made, task)
    docs = tuple(Doc(task=cell.name, split=_split(made), index=i, row=_row(doc)) for i, doc in enumerate(given))
    repeats = config.generation.n or made.get_config("repeats") or 1
    template = Template(
        text=lambda row: made.doc_to_text(_doc(row)),
        target=lambda row: made.doc_to_target(_doc(row)),
        choices=None,
        gen_prefix=lambda row: None,
        target_delimiter="",
        fewshot_delimiter="",
    )
    return Task(
        name=cell.name,
        output_type=made.OUTPUT_TYPE or "generate_until",
        docs=docs,
        all_docs=docs,
        description=lambda row: None,
        template=template,
        shot_template=template,
        shots=ShotPlan(strategy="task", n=cell.shots, seed=seed, pool=(), pool_split=None, drawn_by_task=True),
        multiple_input=False,
        multiple_target=False,
        generation=None,
        generation_kwargs=None,
        repeats=repeats,
        filters=build_pipelines(config.filters or made.get_config("filter_list"), where=task.file),
        metrics=tuple(_metrics(made)),
        process_results=lambda row, outputs: made.process_results(_doc(row), outputs),
        own_requests=ClassRequests(made=made, cell=cell, task=task, config=config, docs=given, repeats=repeats),
        version=made.VERSION,
        config=_shown(made, task, cell),
        source=task.file,
        asks=cell.asks,
        key=cell.key,
        order=cell.order,
    )


def _check_choices(cell: Cell, task: TaskConfig, config: RunConfig) -> None:
    """What a class decides by itself cannot be chosen for it."""
    if cell.shots and config.fewshot.strategy != "task":
        raise UserError(
            f"{task.file}: a Python class draws its own examples, so fewshot_strategy={config.fewshot.strategy} cannot "
            "be followed. Leave it at fewshot_strategy=task, or ask for no examples (fewshot.n=0)."
        )
    if config.metrics:
        raise UserError(f"{task.file}: a Python class scores its documents itself; leave 'metrics=' at task.")
    for name, usual in (("style", "lm_eval"), ("choice_space", "keep")):
        if (given := getattr(config.prompt, name)) != usual:
            raise UserError(
                f"{task.file}: a Python class words its prompts itself, so prompt.{name}={given} cannot be followed. "
                "Run it by itself without that option."
            )


def _made(task: TaskConfig, config: RunConfig) -> Any:
    """The object, made as lm-eval makes it. What its constructor raises is told with file and line."""
    if not inspect.isclass(task.python_class):
        raise UserError(f"{task.file}: class={task.python_class!r} must be a class (!function file.Class).")
    cls: Any = task.python_class
    takes_config = "config" in inspect.signature(cls.__init__).parameters
    try:
        with local_loading(task, config.data):
            made = cls(config=class_config(task, config)) if takes_config else cls()
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{task.file}: the class {cls.__name__} cannot be made: {told(error)}") from error
    if hasattr(getattr(made, "config", None), "task"):
        made.config.task = task.task
    if getattr(made, "UNSAFE_CODE", False) and not config.allow_code_execution:
        refuse_code(task.file, [task.task])
    _mend_wording(made)
    return made


def class_config(task: TaskConfig, config: RunConfig) -> dict[str, Any]:
    """The keys of the task's YAML as lm-eval hands them to a constructor."""
    blank = TaskConfig(task="", file="")
    set_keys = {
        field.name: value
        for field in dataclasses.fields(TaskConfig)
        if field.name not in NOT_FOR_CLASSES and (value := getattr(task, field.name)) != getattr(blank, field.name)
    }
    return {**task.options, **set_keys, "class": task.python_class, "metadata": run_metadata(task, config.model)}


def _mend_wording(made: Any) -> None:
    """lm-eval calls these with the examples' own wording as a second argument, which few classes take: they fail there
    with any example. Where a class takes none, it words examples like documents."""
    for name in WORDED:
        method = getattr(made, name, None)
        if method is not None and _takes_one(method):
            setattr(made, name, _ignoring_second(method))


def _takes_one(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters.values()
    return len(parameters) == 1 and all(parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters)


def _ignoring_second(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda doc, _=None: method(doc)


def _eval_docs(made: Any, task: TaskConfig) -> list[Any]:
    with noted(f"in the documents of the class {type(made).__name__} of {task.file}"):
        docs = list(made.eval_docs or ())
    if not docs:
        raise UserError(f"{task.file}: the class {type(made).__name__} has no documents to evaluate.")
    return docs


def _split(made: Any) -> str:
    return "test" if made.has_test_docs() else "validation"


def _row(doc: Any) -> dict[str, Any]:
    return dict(doc) if isinstance(doc, Mapping) else {BARE: doc}


def _doc(row: Mapping[str, Any]) -> Any:
    return row[BARE] if set(row) == {BARE} else row


def _metrics(made: Any) -> list[BoundMetric]:
    directions = made.higher_is_better() or {}
    return [
        BoundMetric(
            name=name, score=None, aggregation=_aggregation(name, combine), higher_is_better=directions.get(name)
        )
        for name, combine in made.aggregation().items()
    ]


def _aggregation(metric: str, combine: Callable[..., Any]) -> Aggregation:
    """Ours where the class names lm-eval's, which have a standard error there; else the class's own, which has none."""
    for name, own in AGGREGATIONS.items():
        if combine in (own.combine, registered("aggregation", name)):
            return own
    return Aggregation(getattr(combine, "__name__", metric), combine)


def _shown(made: Any, task: TaskConfig, cell: Cell) -> dict[str, Any]:
    shown = dict(made.dump_config())
    metadata = {**(shown.get("metadata") or {}), "config_source": task.file}
    return {**shown, "task": task.task, "num_fewshot": cell.shots, "metadata": metadata}
