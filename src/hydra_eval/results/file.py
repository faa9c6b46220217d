"""The results file: lm-eval's schema, then our own keys under `hydra_eval`."""

from __future__ import annotations

import inspect
import json
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hydra_eval import __version__
from hydra_eval.config.schema import ModelConfig, RunConfig
from hydra_eval.filters.invalid import invalid_rates
from hydra_eval.models.base import ModelFacts
from hydra_eval.models.efficiency import Efficiency, efficiency_figures
from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.families import (
    OrderFamily,
    OrderMetric,
    Row,
    SeedFamily,
    SeedMetric,
    order_of,
    seed_of,
    shots_of,
)
from hydra_eval.results.groups import GroupResult, agreed
from hydra_eval.results.report import Results
from hydra_eval.sample_file import as_plain, digest, task_hash
from hydra_eval.tasks.task import Task

LIBRARIES = ("torch", "transformers", "accelerate", "datasets", "hydra-core", "wandb")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What is known of a run besides its scores."""

    config: RunConfig
    facts: ModelFacts
    world: int
    started: float
    """Seconds since 1970."""
    seconds: Mapping[str, float]
    """Phase → wall-clock seconds on the main process."""
    efficiency: Mapping[str, Efficiency]
    """Request kind → counters summed over all processes."""
    shots: Mapping[str, Mapping[str, Any]]
    """Task → where its examples came from."""
    overflow: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Task → how many of its prompts were too long, and what became of them."""
    thinking: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Task → its replies, and how many have no end of reasoning; empty where nothing marks it."""
    numerics: Mapping[str, Any] = field(default_factory=dict)
    """What a sample gives a second time, in float32; empty where nothing was asked again."""
    chat_template: str | None = None
    """The Jinja text that made the prompts; None: plain text."""


def results_dict(record: RunRecord, results: Results) -> dict[str, Any]:
    """The content of results.json."""
    config, facts = record.config, record.facts
    return {
        **_tables(results),
        "config": _run_config(record),
        "git_hash": commit_of(Path.cwd()),
        "date": record.started,
        "pretty_env_info": environment(),
        "transformers_version": _installed("transformers"),
        "lm_eval_version": None,
        "upper_git_hash": None,
        **dict(facts.tokens),
        "max_length": facts.max_length,
        "task_hashes": {result.name: task_hash(result.rows) for result in results.tasks},
        "model_source": config.model.kind,
        "model_name": facts.source,
        "model_name_sanitized": facts.source.replace("/", "__"),
        "system_instruction": config.prompt.system,
        "system_instruction_sha": digest(config.prompt.system) if config.prompt.system else None,
        "fewshot_as_multiturn": config.prompt.multiturn,
        "chat_template": record.chat_template,
        "chat_template_sha": digest(record.chat_template) if record.chat_template else None,
        "total_evaluation_time_seconds": str(sum(record.seconds.values())),
        "hydra_eval": _own(record, results.tasks) | _families(results),
    }


def environment() -> str:
    """What the program runs on, one line each."""
    libraries = [f"{name} {_installed(name)}" for name in LIBRARIES]
    return "\n".join([f"Python {platform.python_version()}", platform.platform(), *libraries])


def commit_of(folder: Path) -> str | None:
    """What `git describe --always` says there; None outside a repository, or without git."""
    try:
        told = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always"], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return told.stdout.strip() or None


def plain(value: Any) -> Any:
    """The same value in JSON's types; a function is shown by its source text, as in lm-eval."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return _source(value) if callable(value) else value


def _tables(results: Results) -> dict[str, Any]:
    """lm-eval's tables by task and group: first the tasks in the order asked for, then the groups."""
    tasks, groups = results.tasks, results.groups
    group_scores = {group.name: _group_scores(group) for group in groups}
    aggregated = {group.name: group_scores[group.name] for group in groups if group.plan.means}
    directions = {result.name: directions_of(result) for result in tasks}
    return {
        "results": {result.name: _task_scores(result, results.alias(result)) for result in tasks} | group_scores,
        **({"groups": aggregated} if aggregated else {}),
        "group_subtasks": {group.name: list(group.plan.members) for group in groups},
        "configs": {result.name: plain(result.task.config) for result in tasks},
        "versions": {result.name: result.task.version for result in tasks}
        | {group.name: group.plan.version for group in groups},
        "n-shot": {result.name: result.task.shots.n for result in tasks}
        | {group.name: group.plan.shots for group in groups if group.plan.shots is not None},
        "higher_is_better": directions | {group.name: _shared(group, directions) for group in groups},
        "n-samples": {
            result.name: {"original": len(result.task.all_docs), "effective": len(result.task.docs)} for result in tasks
        },
    }


def _task_scores(result: TaskResult, alias: str) -> dict[str, Any]:
    return {"name": result.name, "alias": alias, "sample_len": result.documents, **_scores(result.metrics)}


def _group_scores(group: GroupResult) -> dict[str, Any]:
    head: dict[str, Any] = {"alias": group.plan.alias, "name": group.name}
    if not group.plan.means:
        return head
    counts = {f"{metric.metric},{metric.filter}": metric.n for metric in group.metrics}
    head |= {"sample_len": group.documents, **_scores(group.metrics)}
    return head | ({"sample_count": counts} if counts else {})


def _scores(metrics: Sequence[MetricResult]) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for metric in metrics:
        scores[f"{metric.metric},{metric.filter}"] = metric.value
        scores[f"{metric.metric}_stderr,{metric.filter}"] = "N/A" if metric.stderr is None else metric.stderr
    return scores


def directions_of(result: TaskResult) -> dict[str, bool | None]:
    """Those of the metrics that the task names, and of those that its `process_results` adds."""
    named = {metric.name: metric.higher_is_better for metric in result.task.metrics}
    return named | {metric.metric: metric.higher_is_better for metric in result.metrics}


def _shared(group: GroupResult, directions: Mapping[str, Mapping[str, bool | None]]) -> dict[str, bool | None]:
    """Metric → the direction that all tasks of the group agree on."""
    below = [directions[name] for name in group.plan.tasks]
    names = dict.fromkeys(metric for known in below for metric in known)
    return {metric: agreed(known[metric] for known in below if metric in known) for metric in names}


def _run_config(record: RunRecord) -> dict[str, Any]:
    config, facts = record.config, record.facts
    return {
        "model": config.model.kind,
        "model_args": {**_model_args(config.model), **config.model.kwargs},
        "model_num_parameters": facts.parameters,
        "model_dtype": facts.dtype,
        "model_revision": facts.revision,
        "model_sha": facts.sha,
        **_shas(facts),
        "batch_size": config.model.batch_size,
        "batch_sizes": [],
        "device": facts.device,
        "use_cache": None,
        "limit": config.limit,
        "bootstrap_iters": config.stats.bootstrap,
        "gen_kwargs": {key: value for key, value in asdict(config.generation).items() if value} or None,
        "random_seed": config.seed,
        "numpy_seed": config.seed,
        "torch_seed": config.seed,
        "fewshot_seed": _fewshot_seed(config),
    }


def _model_args(model: ModelConfig) -> dict[str, Any]:
    """lm-eval's names, of those that were given."""
    given = {"peft": model.adapter, "delta": model.delta, "gguf_file": model.gguf_file, "tp_plan": model.tp_plan}
    return {"pretrained": model.pretrained} | {name: value for name, value in given.items() if value is not None}


def _shas(facts: ModelFacts) -> dict[str, Any]:
    """Commits of what was put over the weights."""
    names = {"adapter": "peft_sha", "delta": "delta_sha"}
    return {key: facts.loading[f"{name}_sha"] for name, key in names.items() if facts.loading.get(name) is not None}


def _own(record: RunRecord, results: Sequence[TaskResult]) -> dict[str, Any]:
    """What lm-eval's schema has no place for."""
    config = record.config
    return {
        "status": "complete",
        "version": __version__,
        "libraries": {name: _installed(name) for name in LIBRARIES},
        "world_size": record.world,
        "seeds": {
            "seed": config.seed,
            "fewshot": _fewshot_seed(config),
            "generation": config.seed if config.generation.seed is None else config.generation.seed,
        },
        "fewshot": {name: dict(facts) for name, facts in record.shots.items()},
        "overflow": {name: dict(facts) for name, facts in record.overflow.items()},
        **({"thinking": {name: dict(facts) for name, facts in record.thinking.items()}} if record.thinking else {}),
        "seconds": {phase: round(spent, 3) for phase, spent in record.seconds.items()},
        "model": dict(record.facts.loading),
        "engine": dict(record.facts.engine),
        "efficiency": efficiency_figures(record.efficiency),
        **({"numerics": dict(record.numerics)} if record.numerics else {}),
        "partial": {result.name: is_partial(result.task) for result in results},
        "data": {result.name: asdict(result.task.data) for result in results if result.task.data is not None},
        "config_hashes": {result.name: config_hash(result.task.config) for result in results},
        "stderr_by": {result.name: _error_rules(result) for result in results},
        "invalid": invalid_rates(row for result in results for row in result.rows),
    }


def _fewshot_seed(config: RunConfig) -> int | list[int]:
    """A list where the run has several."""
    fewshot = config.fewshot
    if fewshot.seeds is not None:
        return list(fewshot.seeds) if len(fewshot.seeds) > 1 else int(fewshot.seeds[0])
    return config.seed if fewshot.seed is None else fewshot.seed


def _families(results: Results) -> dict[str, Any]:
    """What tells the rows apart, and what is known over those that differ in one thing alone."""
    return {
        "cells": {row.name: _place(row) for _, row in results.in_order()},
        "over_seeds": {family.name: _over_seeds(family) for family in results.over_seeds},
        "over_orders": {family.name: _over_orders(family) for family in results.over_orders},
    }


def _place(row: Row) -> dict[str, Any]:
    base = row.plan.group if isinstance(row, GroupResult) else row.task.base_name
    return {"task": base, "shots": shots_of(row), "seed": seed_of(row), "order": order_of(row)}


def _over_seeds(family: SeedFamily) -> dict[str, Any]:
    metrics = {f"{metric.metric},{metric.filter}": _figures(metric) for metric in family.metrics}
    rows = [row.name for row in family.rows]
    return {"shots": family.shots, "seeds": list(family.seeds), "rows": rows, "metrics": metrics}


def _over_orders(family: OrderFamily) -> dict[str, Any]:
    metrics = {f"{metric.metric},{metric.filter}": _figures(metric) for metric in family.metrics}
    places = {name: asdict(found) | {"flip_rate": found.flip_rate} for name, found in family.positions.items()}
    rows = [row.name for row in family.rows]
    return {"shots": family.shots, "orders": family.orders, "rows": rows, "metrics": metrics, "positions": places}


def _figures(metric: SeedMetric | OrderMetric) -> dict[str, Any]:
    return {name: value for name, value in asdict(metric).items() if name not in ("metric", "filter")}


def config_hash(config: Mapping[str, Any]) -> str:
    """Over everything that the task says, its functions by their source text; the same wherever its file lies."""
    metadata = {key: value for key, value in config.get("metadata", {}).items() if key != "config_source"}
    content = plain({**config, "metadata": metadata})
    return digest(json.dumps(content, sort_keys=True, ensure_ascii=False, default=as_plain))


def _error_rules(result: TaskResult) -> dict[str, str]:
    return {f"{metric.metric},{metric.filter}": metric.stderr_by for metric in result.metrics}


def is_partial(task: Task) -> bool:
    """Not every document is evaluated."""
    return task.data.is_partial if task.data is not None else len(task.docs) < len(task.all_docs)


def _source(function: Callable[..., Any]) -> str:
    """The same in every process: what `repr` says of a function is its place in memory."""
    if isinstance(function, partial):
        return f"partial({_source(function.func)}, *{plain(function.args)}, **{plain(function.keywords)})"
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # a builtin or a callable object has no source text of its own
        return str(getattr(function, "__qualname__", type(function).__qualname__))


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
