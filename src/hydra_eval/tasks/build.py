"""From the composed config to tasks ready to run. The only place that knows the precedence:
command line > chosen config group > task YAML > default."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.config.functions import is_function_reference, resolve_callable
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig, shared_key, task_config
from hydra_eval.errors import UserError, at_document, did_you_mean
from hydra_eval.file_names import samples_name
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import Doc
from hydra_eval.tasks.docs import load_splits, rows_of
from hydra_eval.tasks.generation import generation, is_sampled, merged_kwargs
from hydra_eval.tasks.shots import pool_split, shot_count
from hydra_eval.tasks.task import ShotPlan, Task, Template
from hydra_eval.tasks.templates import choice_field, key_field, target_field, text_field

log = logging.getLogger(__name__)

SHOT_KEYS = (
    "sampler",
    "split",
    "process_docs",
    "fewshot_indices",
    "samples",
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "gen_prefix",
    "fewshot_delimiter",
    "target_delimiter",
)
"""Keys of a task's `fewshot_config` (lm-eval's)."""
FALLS_BACK = ("doc_to_text", "doc_to_target")
"""Keys of `fewshot_config` whose null means the task's own value, as in lm-eval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One task with one number of shots: one row of the results table."""

    name: str
    key: str
    shots: int


def build_tasks(config: RunConfig) -> list[Task]:
    """Every task of the run, in the order asked for.

    Raises UserError for whatever is wrong in a task file or its data, before any model is loaded.
    """
    if not config.selection:
        raise UserError("No task chosen: write task=NAME; 'hydra-eval run --help' lists the names.")
    checked = {key: task_config(_with_references(content)) for key, content in config.tasks.items()}
    return [build_task(cell, checked[cell.key], config) for cell in cells(config, checked)]


def cells(config: RunConfig, tasks: Mapping[str, TaskConfig]) -> list[Cell]:
    """Selection × task × shots, without repeats; a task's only cell keeps the plain name."""
    wanted: dict[tuple[str, int], None] = {}
    for spec in config.selection.values():
        for key, name in spec["tasks"].items():
            if tasks[key].task != name:
                raise UserError(shared_key(key, name, tasks[key].task))
            wanted[key, shot_count(tasks[key], spec["shots"], config.fewshot)] = None
    keys = [key for key, _ in wanted]
    found = [
        Cell(name=tasks[key].task if keys.count(key) == 1 else f"{tasks[key].task}|{shots}", key=key, shots=shots)
        for key, shots in wanted
    ]
    _refuse_one_file_for_two(found)
    return found


def _refuse_one_file_for_two(found: Sequence[Cell]) -> None:
    owners: dict[str, str] = {}
    for cell in found:
        owner = owners.setdefault(samples_name(cell.name), cell.name)
        if owner != cell.name:
            raise UserError(f"'{owner}' and '{cell.name}' would share one samples file; ask for them in two runs.")


def build_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Task:
    """Load one cell's data and resolve everything about it."""
    splits = load_splits(task, config.data)
    all_docs = _documents(cell.name, task, splits)
    columns = tuple(all_docs[0].row)
    shot_config = _shot_config(task)
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
        shots=_shot_plan(cell, task, config, shot_config, splits),
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
        process_results=_hook(task.process_results, f"{task.file}: process_results"),
        version=task.metadata.get("version", "Yaml"),
        config=_shown_config(task, cell, kwargs),
        source=task.file,
    )


def _documents(name: str, task: TaskConfig, splits: Mapping[str, Any]) -> tuple[Doc, ...]:
    split = task.test_split or task.validation_split
    if split is None:
        raise UserError(f"{task.file}: neither 'test_split' nor 'validation_split' says what to evaluate.")
    rows = rows_of(splits, split, task, _hook(task.process_docs, f"{task.file}: process_docs"))
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


def _shot_config(task: TaskConfig) -> dict[str, Any]:
    given = dict(task.fewshot_config or {})
    for key in FALLS_BACK:
        if given.get(key, "") is None:
            del given[key]
    for key in given:
        if key not in SHOT_KEYS:
            near = did_you_mean(str(key), SHOT_KEYS)
            raise UserError(f"{task.file}: fewshot_config has no key '{key}'.{near} Known: {', '.join(SHOT_KEYS)}.")
    return given


def _shot_plan(
    cell: Cell, task: TaskConfig, config: RunConfig, shot_config: Mapping[str, Any], splits: Mapping[str, Any]
) -> ShotPlan:
    own_split = shot_config.get("split", task.fewshot_split)
    samples = None if own_split or config.fewshot.split else shot_config.get("samples")
    split = None if samples is not None else pool_split(task, own_split=own_split, override=config.fewshot.split)
    rows: Sequence[Mapping[str, Any]] = ()
    if cell.shots and split is not None:
        process = _hook(shot_config.get("process_docs", task.process_docs), f"{task.file}: fewshot_config.process_docs")
        rows = rows_of(splits, split, task, process)
    elif cell.shots:
        rows = _samples(samples, f"{task.file}: fewshot_config.samples")
    return ShotPlan(
        strategy=config.fewshot.strategy,
        n=cell.shots,
        seed=config.seed if config.fewshot.seed is None else config.fewshot.seed,
        pool=tuple(Doc(task=cell.name, split=split or "samples", index=i, row=row) for i, row in enumerate(rows)),
        pool_split=split,
        sampler=shot_config.get("sampler", "default"),
        excludes_doc=(config.fewshot.split or own_split) == task.test_split,
    )


def _hook(value: Any, where: str) -> Any:
    if value is not None and not callable(value):
        raise UserError(f"{where}={value!r} must be a !function.")
    return value


def _samples(value: Any, where: str) -> list[Mapping[str, Any]]:
    rows = value() if callable(value) else value
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"{where}: must be a list of rows (mappings), or a !function that gives one, not {rows!r}.")
    return rows


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


def _with_references(value: Any) -> Any:
    """The same config with every reference to a function replaced by the function."""
    where = value.get("file", "task")

    def resolved(item: Any) -> Any:
        if is_function_reference(item):
            return resolve_callable(item, where=where)
        if isinstance(item, Mapping):
            return {key: resolved(inner) for key, inner in item.items()}
        return [resolved(inner) for inner in item] if isinstance(item, list) else item

    return resolved(value)


def _shown_config(task: TaskConfig, cell: Cell, kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the results file says about the task: every key that is set, with what the run changed."""
    shown = {key: value for key, value in vars(task).items() if value is not None and key != "file"}
    shown |= {"num_fewshot": cell.shots, "metadata": {**task.metadata, "config_source": task.file}}
    return shown | ({"generation_kwargs": dict(kwargs)} if kwargs is not None else {})
