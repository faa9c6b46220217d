"""A task YAML with its data becomes a task ready to run. The only place that knows the precedence:
command line > chosen config group > task YAML > default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.documents import documents
from hydra_eval.data.report import data_facts
from hydra_eval.data.selection import choose
from hydra_eval.data.task_data import TaskData
from hydra_eval.errors import at_document
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.formulations import worded
from hydra_eval.tasks.generation import generation
from hydra_eval.tasks.hooks import hook
from hydra_eval.tasks.measures import Measures
from hydra_eval.tasks.shot_plan import SHOT_KEYS, shot_config_of, shot_plan, shot_pool
from hydra_eval.tasks.task import Task, Template
from hydra_eval.tasks.templates import choice_field, key_field, once_per_row, target_field, text_field


def build_yaml_task(cell: Cell, task: TaskConfig, config: RunConfig, data: TaskData, *, measures: Measures) -> Task:
    """Number one cell's documents and resolve everything about it."""
    found = documents(cell.name, task, data, hook(task.process_docs, f"{task.file}: process_docs"))
    columns = tuple(found.docs[0].row)
    own = _template(task, columns, {})
    chosen = choose(found.docs, data.choice, partial(_asked, own))
    templates = (own, _template(task, columns, shot_config_of(task)))
    template, shot_template = worded(cell, task, config=config, docs=found.docs, templates=templates)
    multiple_input, multiple_target = _shapes(template, found.docs[0])
    pool = shot_pool(cell, task, config, data)
    kwargs = measures.generation_kwargs
    seed = config.generation.seed if config.generation.seed is not None else config.seed
    return Task(
        name=cell.name,
        output_type=task.output_type,
        docs=chosen.docs,
        all_docs=found.docs,
        description=key_field(task.description, where=f"{task.file}: description"),
        template=template,
        shot_template=shot_template,
        shots=shot_plan(cell, task, config, pool),
        multiple_input=multiple_input,
        multiple_target=multiple_target,
        generation=None if kwargs is None else generation(kwargs, seed=seed, where=task.file),
        generation_kwargs=kwargs,
        repeats=measures.repeats,
        filters=measures.filters,
        metrics=measures.metrics,
        process_results=hook(task.process_results, f"{task.file}: process_results"),
        version=task.metadata.get("version", "Yaml"),
        config=shown_config(task, cell, kwargs) | {"fewshot_config": shown_shots(task)},
        source=task.file,
        asks=cell.asks,
        key=cell.key,
        order=cell.order,
        data=data_facts(data, found, chosen, pool=pool.splits),
    )


def _asked(template: Template, row: Mapping[str, Any]) -> list[Any]:
    """What is asked of a row and its answer."""
    return [template.text(row), template.choices(row) if template.choices else None, template.target(row)]


def _template(task: TaskConfig, columns: Sequence[str], shot_config: Mapping[str, Any]) -> Template:
    """The task's own template, or with `fewshot_config`'s fields over it the one of its examples."""

    def value(key: str) -> Any:
        return shot_config.get(key, getattr(task, key))

    prefix = f"{task.file}: fewshot_config." if shot_config else f"{task.file}: "
    has_choices = task.doc_to_choice is not None
    common: Any = {"columns": columns, "has_choices": has_choices}
    text = value("doc_to_text")
    if text is None and task.output_type == "loglikelihood_rolling":
        text = ""  # never shown: the whole target is scored on its own
    choices = choice_field(value("doc_to_choice"), columns=columns, where=f"{prefix}doc_to_choice")
    return Template(
        text=once_per_row(text_field(text, **common, where=f"{prefix}doc_to_text")),
        target=once_per_row(target_field(value("doc_to_target"), **common, where=f"{prefix}doc_to_target")),
        choices=None if choices is None else once_per_row(choices),
        gen_prefix=key_field(value("gen_prefix"), where=f"{prefix}gen_prefix"),
        target_delimiter=value("target_delimiter"),
        fewshot_delimiter=value("fewshot_delimiter"),
    )


def _shapes(template: Template, first: Doc) -> tuple[bool, bool]:
    """(contexts differ per choice, several targets), told from the first document, as in lm-eval."""
    with at_document(first.task, first.index):
        text, target = template.text(first.row), template.target(first.row)
    return template.choices is not None and isinstance(text, int), isinstance(target, list)


def shown_config(task: TaskConfig, cell: Cell, kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the results file says about the task: every key that is set, with what the run changed."""
    shown = {key: value for key, value in vars(task).items() if value is not None and key not in ("file", "options")}
    shown |= {"num_fewshot": cell.shots, "metadata": {**task.metadata, "config_source": task.file}}
    return shown | ({"generation_kwargs": dict(kwargs)} if kwargs is not None else {})


def shown_shots(task: TaskConfig) -> dict[str, Any]:
    """Its `fewshot_config` with all that it takes from the task, as lm-eval's results file has it."""
    inherited = {key: getattr(task, key, None) for key in SHOT_KEYS}
    return {**inherited, "sampler": "default", "split": task.fewshot_split, **shot_config_of(task)}
