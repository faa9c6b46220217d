"""A task YAML with its data becomes a task ready to run. The only place that knows the precedence:
command line > chosen config group > task YAML > default."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, at_document
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.docs import load_splits, rows_of
from hydra_eval.tasks.generation import generation, is_sampled, merged_kwargs
from hydra_eval.tasks.hooks import hook
from hydra_eval.tasks.shot_plan import shot_config_of, shot_plan
from hydra_eval.tasks.task import Task, Template
from hydra_eval.tasks.templates import choice_field, key_field, target_field, text_field

log = logging.getLogger(__name__)


def build_yaml_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Task:
    """Load one cell's data and resolve everything about it."""
    splits = load_splits(task, config.data)
    all_docs = _documents(cell.name, task, splits)
    columns = tuple(all_docs[0].row)
    shot_config = shot_config_of(task)
    template, shot_template = _template(task, columns, {}), _template(task, columns, shot_config)
    multiple_input, multiple_target = _shapes(template, all_docs[0])
    kwargs = merged_kwargs(task, config.generation) if task.output_type == "generate_until" else None
    seed = config.generation.seed if config.generation.seed is not None else config.seed
    return Task(
        name=cell.name,
        output_type=task.output_type,
        docs=all_docs[: _count(config.limit, len(all_docs))],
        all_docs=all_docs,
        description=key_field(task.description, where=f"{task.file}: description"),
        template=template,
        shot_template=shot_template,
        shots=shot_plan(cell, task, config, shot_config, splits),
        multiple_input=multiple_input,
        multiple_target=multiple_target,
        generation=None if kwargs is None else generation(kwargs, seed=seed, where=task.file),
        generation_kwargs=kwargs,
        repeats=_repeats(task, config, kwargs),
        filters=build_pipelines(config.filters or task.filter_list, where=task.file),
        metrics=build_metrics(
            config.metrics or task.metric_list,
            output_type=task.output_type,
            has_process_results=task.process_results is not None,
            where=task.file,
        ),
        process_results=hook(task.process_results, f"{task.file}: process_results"),
        version=task.metadata.get("version", "Yaml"),
        config=shown_config(task, cell, kwargs),
        source=task.file,
        specs=cell.specs,
    )


def _documents(name: str, task: TaskConfig, splits: Mapping[str, Any]) -> tuple[Doc, ...]:
    split = task.test_split or task.validation_split
    if split is None:
        raise UserError(f"{task.file}: neither 'test_split' nor 'validation_split' says what to evaluate.")
    rows = rows_of(splits, split, task, hook(task.process_docs, f"{task.file}: process_docs"))
    if not rows:
        raise UserError(f"{task.file}: the split '{split}' has no documents left to evaluate.")
    return tuple(Doc(task=name, split=split, index=index, row=row) for index, row in enumerate(rows))


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
    return Template(
        text=text_field(text, **common, where=f"{prefix}doc_to_text"),
        target=target_field(value("doc_to_target"), **common, where=f"{prefix}doc_to_target"),
        choices=choice_field(value("doc_to_choice"), columns=columns, where=f"{prefix}doc_to_choice"),
        gen_prefix=key_field(value("gen_prefix"), where=f"{prefix}gen_prefix"),
        target_delimiter=value("target_delimiter"),
        fewshot_delimiter=value("fewshot_delimiter"),
    )


def _shapes(template: Template, first: Doc) -> tuple[bool, bool]:
    """(contexts differ per choice, several targets), told from the first document, as in lm-eval."""
    with at_document(first.task, first.index):
        text, target = template.text(first.row), template.target(first.row)
    return template.choices is not None and isinstance(text, int), isinstance(target, list)


def _repeats(task: TaskConfig, config: RunConfig, kwargs: Mapping[str, Any] | None) -> int:
    """Replies per request: `generation.n` is for generated text alone."""
    repeats = task.repeats if kwargs is None else config.generation.n or task.repeats
    if repeats > 1 and kwargs is not None and not is_sampled(kwargs):
        log.warning("%s: %d replies per request are asked for, but greedy decoding gives one.", task.task, repeats)
    return repeats


def _count(limit: Any, total: int) -> int:
    if limit is None:
        return total
    return math.ceil(limit * total) if limit < 1 else min(int(limit), total)


def shown_config(task: TaskConfig, cell: Cell, kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the results file says about the task: every key that is set, with what the run changed."""
    shown = {key: value for key, value in vars(task).items() if value is not None and key != "file"}
    shown |= {"num_fewshot": cell.shots, "metadata": {**task.metadata, "config_source": task.file}}
    return shown | ({"generation_kwargs": dict(kwargs)} if kwargs is not None else {})
