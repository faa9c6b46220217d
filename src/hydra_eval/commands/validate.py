"""`hydra-eval validate`: whether tasks would run, check by check, without a model."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hydra_eval.commands.composed import composed
from hydra_eval.commands.list import present_index
from hydra_eval.config.command_line import quoted
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.spec import parse_spec
from hydra_eval.config.task_config import TaskConfig, task_config
from hydra_eval.config.task_names import find
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of
from hydra_eval.errors import UserError
from hydra_eval.fewshot import pick_shots
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics
from hydra_eval.pipeline import document_requests
from hydra_eval.prompts.style import Style
from hydra_eval.records import Instance, RequestKind, Response
from hydra_eval.scoring import Answered, check_filters, score_documents
from hydra_eval.tasks.build import build_task
from hydra_eval.tasks.cells import cells
from hydra_eval.tasks.hooks import with_references
from hydra_eval.tasks.task import Task

ROWS = 3
"""Documents that templates and scores are tried on."""
EXISTENCE, SYNTAX, FIELDS, HOOKS, FILTERS, METRICS, DATA, TEMPLATES, SCORES = CHECKS = (
    "existence",
    "syntax",
    "required fields",
    "hooks",
    "filters",
    "metrics",
    "data access",
    "templates",
    "scores",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the checks found about one task; a check that could not be made is in neither."""

    task: str
    passed: tuple[str, ...]
    errors: Mapping[str, str]
    """Check → what is wrong."""


@dataclass(slots=True)
class Subject:
    """One task on its way through the checks; each fills in what the later ones need."""

    key: str
    config: RunConfig
    content: Mapping[str, Any] = field(default_factory=dict)
    task: TaskConfig | None = None
    built: Task | None = None
    requests: list[list[Instance]] = field(default_factory=list)


def specs_and_overrides(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What names tasks, also as `task=NAME`, apart from overrides of the run's config."""
    overrides = [text for text in arguments if "=" in text.partition("@")[0] and not text.startswith("task=")]
    return [text.removeprefix("task=") for text in arguments if text not in overrides], overrides


def validate(specs: Sequence[str], overrides: Sequence[str]) -> Iterator[Verdict]:
    """One verdict per task that `specs` stand for."""
    for spec in specs:
        name = None
        try:
            name = parse_spec(spec).name
            config = composed([f"task={quoted(spec)}", *overrides])
        except UserError as error:
            known = name is not None and _is_known(name)
            yield Verdict(
                task=spec,
                passed=(EXISTENCE,) if known else (),
                errors={SYNTAX if known else EXISTENCE: str(error)},
            )
            continue
        for key, content in config.tasks.items():
            yield _verdict(Subject(key=key, config=config, content=content))


def _is_known(name: str) -> bool:
    """Some file stands for the name, readable or not."""
    index = present_index()
    return Path(name).is_file() or find(name, index) is not None or any(path.stem == name for path in index.broken)


def _verdict(subject: Subject) -> Verdict:
    passed, errors = [EXISTENCE], dict[str, str]()
    for name, check in STEPS.items():
        if any(needed in errors or needed not in passed for needed in NEEDS[name]):
            continue
        if (error := _error_of(check, subject)) is None:
            passed.append(name)
        else:
            errors[name] = error
    return Verdict(task=str(subject.content["task"]), passed=tuple(passed), errors=errors)


def _error_of(check: Callable[[Subject], None], subject: Subject) -> str | None:
    try:
        check(subject)
    except UserError as error:
        return str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a task's own code may raise anything; to tell is the job
        last = traceback.extract_tb(error.__traceback__)[-1]
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        return f"{type(error).__name__}: {error}{notes}, raised in {last.filename}, line {last.lineno}"
    return None


def _syntax(subject: Subject) -> None:
    subject.task = task_config(subject.content)


def _fields(subject: Subject) -> None:
    task = _of(subject.task)
    if task.python_class is not None or task.table is not None:
        return
    wanted = {
        "dataset_path": task.dataset_path or task.custom_dataset,
        "test_split": task.test_split or task.validation_split,
        "doc_to_target": task.doc_to_target if task.process_results is None else True,
        "doc_to_text": task.doc_to_text if task.output_type != "loglikelihood_rolling" else True,
        "doc_to_choice": task.doc_to_choice if task.output_type == "multiple_choice" else True,
    }
    if missing := [key for key, value in wanted.items() if value is None]:
        raise UserError(f"{task.file}: {', '.join(missing)} missing; a {task.output_type} task needs it.")


def _hooks(subject: Subject) -> None:
    subject.task = task_config(with_references(subject.content))


def _filters(subject: Subject) -> None:
    task = _of(subject.task)
    build_pipelines(subject.config.filters or task.filter_list, where=task.file)


def _metrics(subject: Subject) -> None:
    task = _of(subject.task)
    build_metrics(
        subject.config.metrics or task.metric_list,
        output_type=task.output_type,
        has_process_results=task.process_results is not None,
        where=task.file,
    )


def _data(subject: Subject) -> None:
    task = _of(subject.task)
    if task.python_class is None and task.table is None and task.custom_dataset is None:
        load(source_of(task, subject.config.data), retries=subject.config.data.retries)


def _templates(subject: Subject) -> None:
    config = _for_one(subject.config, subject.key)
    cell, *_ = cells(config, {subject.key: _of(subject.task)})
    subject.built = task = build_task(cell, _of(subject.task), config)
    shots = pick_shots(task).shots
    subject.requests = [document_requests(task, doc, shots[doc.index], Style()) for doc in task.docs[:ROWS]]


def _for_one(config: RunConfig, key: str) -> RunConfig:
    """The config of a run of one task alone, of those that a group or a pattern stands for."""
    asking = {text: spec for text, spec in config.selection.items() if key in spec["tasks"]}
    return replace(
        config, selection={text: {**spec, "tasks": {key: spec["tasks"][key]}} for text, spec in asking.items()}
    )


def _scores(subject: Subject) -> None:
    """On made-up replies: a hook that cannot take them would fail after hours of inference."""
    task = _of(subject.built)
    check_filters(task, subject.requests[0])
    answered = [
        Answered(doc, (), [(instance, _made_up(instance)) for instance in instances])
        for doc, instances in zip(task.docs, subject.requests, strict=False)
    ]
    score_documents(task, answered)


def _made_up(instance: Instance) -> Response:
    if instance.kind is RequestKind.GENERATE:
        return Response(key=instance.key, text="")
    return Response(key=instance.key, logprob=-1.0, is_greedy=False)


def _of(value: Any) -> Any:
    """What an earlier check filled in."""
    assert value is not None
    return value


STEPS: Mapping[str, Callable[[Subject], None]] = {
    SYNTAX: _syntax,
    FIELDS: _fields,
    HOOKS: _hooks,
    FILTERS: _filters,
    METRICS: _metrics,
    DATA: _data,
    TEMPLATES: _templates,
    SCORES: _scores,
}
NEEDS: Mapping[str, tuple[str, ...]] = {
    SYNTAX: (),
    FIELDS: (SYNTAX,),
    HOOKS: (SYNTAX,),
    FILTERS: (HOOKS,),
    METRICS: (HOOKS,),
    DATA: (FIELDS, HOOKS),
    TEMPLATES: (FILTERS, METRICS, DATA),
    SCORES: (TEMPLATES,),
}
"""Check → those that must have passed before it can be made."""
