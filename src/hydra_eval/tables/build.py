"""An entry of a TASKS_TABLE with its data becomes a task ready to run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.documents import as_splits
from hydra_eval.data.source import Loaded
from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter, Pipeline
from hydra_eval.filters.build import build_pipelines
from hydra_eval.records import Doc
from hydra_eval.tables.documents import (
    ORDER_SEED,
    Reader,
    first_of_equal_rows,
    in_order,
    numbered,
    pool_splits,
    without_repeats,
)
from hydra_eval.tables.kinds import GENERATIVE, metrics_of, samples_of
from hydra_eval.tables.lighteval.docs import as_list
from hydra_eval.tables.load import table_config
from hydra_eval.tables.metrics import TableMetric, table_metrics
from hydra_eval.tables.requests import Questions
from hydra_eval.tables.scores import sample_scores
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.generation import DEFAULT_LENGTH, LENGTH_KEYS, generation, is_sampled, merged_kwargs
from hydra_eval.tasks.listed_shots import run_samples
from hydra_eval.tasks.shot_plan import run_choices, shot_seed
from hydra_eval.tasks.task import ShotPlan, Task, Template
from hydra_eval.tasks.yaml_task import shown_config

log = logging.getLogger(__name__)

LIGHTEVAL = "lighteval"
NOT_FOR_TABLES = (
    "process_docs",
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "process_results",
    "description",
    "fewshot_config",
    "metric_list",
    "gen_prefix",
)
"""Keys of a task's config that an entry of a table has no use for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An entry of which everything is known but its data."""

    entry: Any
    where: str
    """File and task, for messages."""
    metrics: Sequence[TableMetric]
    questions: Questions


def check_table_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Checked:
    """Raises UserError for whatever is wrong in an entry, its metrics and their parameters, before any data is read."""
    where = f"{task.table}: task '{task.task}'"
    entry = table_config(str(task.table), task.task)
    _refuse_what_has_no_effect(entry, task, config, where)
    metrics = table_metrics(metrics_of(entry, where=str(task.table)), cell.parameters, where=where)
    questions = _questions(entry, task, config, metrics, where)
    return Checked(entry=entry, where=where, metrics=metrics, questions=questions)


def build_table_task(cell: Cell, task: TaskConfig, config: RunConfig, loaded: Loaded) -> Task:
    """Make one cell's documents of what has been loaded, and resolve everything about it."""
    checked = check_table_task(cell, task, config)
    entry, where, metrics, questions = checked.entry, checked.where, checked.metrics, checked.questions
    _say_length(questions, where)
    reader = Reader(entry=entry, where=where, splits=loaded.splits)
    all_docs = _documents(cell, task, config, reader)
    template = _template()
    return Task(
        name=cell.name,
        output_type=task.output_type,
        docs=all_docs,
        all_docs=all_docs,
        description=lambda row: None,
        template=template,
        shot_template=template,
        shots=_shot_plan(cell, task, config, reader),
        multiple_input=False,
        multiple_target=False,
        generation=questions.generation,
        generation_kwargs=questions.generation_kwargs,
        repeats=questions.repeats,
        filters=_pipelines(task, config, where),
        metrics=tuple(bound for metric in metrics for bound in metric.bound),
        process_results=lambda row, outputs: _scores(questions, metrics, row, outputs),
        own_requests=questions.requests,
        version=task.metadata.get("version", 0),
        config=shown_config(task, cell, questions.generation_kwargs),
        source=str(task.table),
        asks=cell.asks,
        key=cell.key,
        order=cell.order,
    )


def _refuse_what_has_no_effect(entry: Any, task: TaskConfig, config: RunConfig, where: str) -> None:
    for key in NOT_FOR_TABLES:
        if getattr(task, key):
            raise UserError(f"{where}: '{key}' has no effect on an entry of a TASKS_TABLE; its own functions count.")
    if config.metrics:
        raise UserError(f"{where}: 'metrics' is for tasks in YAML; an entry of a TASKS_TABLE has its own metrics.")
    if getattr(entry, "generation_grammar", None) is not None:
        raise UserError(f"{where}: generation_grammar is not supported yet.")


def _questions(
    entry: Any, task: TaskConfig, config: RunConfig, metrics: Sequence[TableMetric], where: str
) -> Questions:
    kinds = frozenset(metric.category for metric in metrics)
    kwargs = merged_kwargs(task, config.generation) if GENERATIVE in kinds else None
    seed = config.generation.seed if config.generation.seed is not None else config.seed
    return Questions(
        kinds=kinds,
        unconditioned=any(metric.wants_unconditioned for metric in metrics),
        generation=None if kwargs is None else generation(kwargs, seed=seed, where=where),
        generation_kwargs=kwargs,
        repeats=1 if kwargs is None else _repeats(_wanted(entry, task, config, metrics), kwargs, metrics, where),
    )


def _say_length(questions: Questions, where: str) -> None:
    kwargs = questions.generation_kwargs
    if kwargs is not None and not any(kwargs.get(key) for key in LENGTH_KEYS):
        text = "%s: no generation_size: replies end after %d tokens (generation.max_new_tokens)."
        log.warning(text, where, DEFAULT_LENGTH)


def _wanted(entry: Any, task: TaskConfig, config: RunConfig, metrics: Sequence[TableMetric]) -> int:
    """Replies per prompt: the run's word, else one typed for the task, else as many as its metrics score."""
    in_file = samples_of(entry, metrics_of(entry, where=str(task.table)))
    typed = task.repeats if task.repeats != in_file else None
    return config.generation.n or typed or samples_of(entry, [metric.metric for metric in metrics])


def _repeats(wanted: int, kwargs: Mapping[str, Any], metrics: Sequence[TableMetric], where: str) -> int:
    for metric in metrics:
        if metric.replies > wanted:
            raise UserError(
                f"{where}: metric '{next(iter(metric.names.values()))}' scores {metric.replies} replies, but only "
                f"{wanted} are asked for (generation.n)."
            )
    if wanted > 1 and not is_sampled(kwargs):
        raise UserError(
            f"{where}: {wanted} replies per prompt are asked for, but greedy decoding gives one: add "
            "generation.do_sample=true generation.temperature=0.8, say."
        )
    return wanted


def _documents(cell: Cell, task: TaskConfig, config: RunConfig, reader: Reader) -> tuple[Doc, ...]:
    """In lighteval's order, unless the run wants the file's (fewshot.compat=lm_eval)."""
    docs = reader.docs(cell.name, _evaluated(task), as_shots=False)
    if not docs:
        raise UserError(f"{reader.where}: the split '{', '.join(_evaluated(task))}' has no documents to evaluate.")
    if _compat(config) != LIGHTEVAL:
        return numbered(without_repeats(docs) if reader.entry.must_remove_duplicate_docs else docs)
    if reader.entry.must_remove_duplicate_docs:
        # lighteval compares documents with their row numbers, so that no two of a split are ever equal.
        docs = list(first_of_equal_rows(docs))
    seed = config.data.shuffle_seed
    return in_order(docs, ORDER_SEED if seed is None else seed)


def _evaluated(task: TaskConfig) -> list[str]:
    return [task.test_split] if isinstance(task.test_split, str) else list(task.test_split or ())


def _compat(config: RunConfig) -> str:
    return config.fewshot.compat or LIGHTEVAL


def _shot_plan(cell: Cell, task: TaskConfig, config: RunConfig, reader: Reader) -> ShotPlan:
    own, samples = as_splits(config.fewshot.split or task.fewshot_split), run_samples(config.fewshot)
    evaluated = _evaluated(task)
    splits = [] if samples else list(own) if own else pool_splits(reader.entry, evaluated) if cell.shots else []
    rows = replace(reader, splits={"samples": samples}) if samples else reader
    pool = rows.docs(cell.name, ["samples"] if samples else splits, as_shots=True) if cell.shots else []
    as_lighteval = _compat(config) == LIGHTEVAL
    return ShotPlan(
        **run_choices(config),
        n=cell.shots,
        seed=shot_seed(cell, config, compat=_compat(config)),
        pool=tuple(pool),
        pool_split=", ".join(splits) or None,
        sampler=(reader.entry.few_shots_select or "balanced") if as_lighteval else "default",
        excludes_doc=splits == evaluated,
        compat=_compat(config),
        from_eval=cell.shots > 0 and not set(splits).isdisjoint(evaluated),
        docs_are_shuffled=as_lighteval,
    )


def _pipelines(task: TaskConfig, config: RunConfig, where: str) -> tuple[Pipeline, ...]:
    """Every reply as it is, unless the run names filters; those see the replies alone, never the likelihoods."""
    spec = config.filters or task.filter_list
    if not spec:
        return (Pipeline("none", (_unwrapped,)),)
    return tuple(
        Pipeline(pipeline.name, (_on_replies(pipeline), _unwrapped), pipeline.step_names)
        for pipeline in build_pipelines(spec, where=where)
    )


def _on_replies(pipeline: Pipeline) -> Filter:
    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        texts = [place for place, replies in enumerate(resps) if isinstance(replies[0], str)]
        # Not the choice of one reply at its end: metrics over several replies want them all.
        done = pipeline.keep([resps[place] for place in texts], [docs[place] for place in texts])
        outputs = dict(zip(texts, done, strict=True))
        return [outputs.get(place, replies) for place, replies in enumerate(resps)]

    return step


def _unwrapped(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The reply itself where a request has one."""
    return [replies[0] if isinstance(replies, list) and len(replies) == 1 else replies for replies in resps]


def _scores(questions: Questions, metrics: Sequence[TableMetric], row: Any, outputs: Sequence[Any]) -> dict[str, Any]:
    responses = questions.responses(row.doc, outputs)
    scores: dict[str, Any] = {}
    for metric in metrics:
        scores |= sample_scores(metric, row.doc, responses[metric.kind])
    return scores


def _template() -> Template:
    """For what is shown of a row; prompts come from `Questions`."""
    return Template(
        text=lambda row: row["query"],
        target=golds_of,
        choices=None,
        gen_prefix=lambda row: None,
        target_delimiter="",
        fewshot_delimiter="",
    )


def golds_of(row: Mapping[str, Any]) -> Any:
    """The right answer's text, or a list of several; "" where a row has none."""
    choices = row["choices"] or []
    golds = [index for index in as_list(row["gold_index"]) if isinstance(index, int) and index < len(choices)]
    texts = [text for index in golds for text in as_list(choices[index])]
    return texts[0] if len(texts) == 1 else texts or ""
