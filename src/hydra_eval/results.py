"""The results file: lm-eval's schema, then our own keys under `hydra_eval`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hydra_eval import __version__
from hydra_eval.aggregate import TaskResult, group_members
from hydra_eval.config.schema import RunConfig
from hydra_eval.models.base import Efficiency, ModelFacts
from hydra_eval.sample_file import digest, task_hash

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


def results_dict(record: RunRecord, results: Sequence[TaskResult]) -> dict[str, Any]:
    """The content of results.json."""
    config, facts = record.config, record.facts
    return {
        "results": {result.task.name: _scores(result) for result in results},
        "group_subtasks": group_members(config.groups),
        "configs": {result.task.name: plain(result.task.config) for result in results},
        "versions": {result.task.name: result.task.version for result in results},
        "n-shot": {result.task.name: result.task.shots.n for result in results},
        "higher_is_better": {result.task.name: _directions(result) for result in results},
        "n-samples": {
            result.task.name: {"original": len(result.task.all_docs), "effective": len(result.task.docs)}
            for result in results
        },
        "config": _run_config(record),
        "git_hash": None,
        "date": record.started,
        "transformers_version": _installed("transformers"),
        "lm_eval_version": None,
        **dict(facts.tokens),
        "max_length": facts.max_length,
        "task_hashes": {result.task.name: task_hash(result.rows) for result in results},
        "model_source": config.model.kind,
        "model_name": facts.source,
        "model_name_sanitized": facts.source.replace("/", "__"),
        "system_instruction": config.prompt.system,
        "system_instruction_sha": digest(config.prompt.system) if config.prompt.system else None,
        "fewshot_as_multiturn": config.prompt.multiturn,
        "chat_template": config.prompt.chat_template or None,
        "total_evaluation_time_seconds": str(sum(record.seconds.values())),
        "hydra_eval": _own(record, results),
    }


def plain(value: Any) -> Any:
    """The same value in JSON's types; a function is shown by its source text, as in lm-eval."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return _source(value) if callable(value) else value


def _scores(result: TaskResult) -> dict[str, Any]:
    alias = result.task.config.get("task_alias") or result.task.name
    scores: dict[str, Any] = {"name": result.task.name, "alias": alias, "sample_len": result.documents}
    for metric in result.metrics:
        scores[f"{metric.metric},{metric.filter}"] = metric.value
        scores[f"{metric.metric}_stderr,{metric.filter}"] = "N/A" if metric.stderr is None else metric.stderr
    return scores


def _directions(result: TaskResult) -> dict[str, bool | None]:
    return {metric.metric: metric.higher_is_better for metric in result.metrics}


def _run_config(record: RunRecord) -> dict[str, Any]:
    config, facts = record.config, record.facts
    return {
        "model": config.model.kind,
        "model_args": {"pretrained": config.model.pretrained, **config.model.kwargs},
        "model_num_parameters": facts.parameters,
        "model_dtype": facts.dtype,
        "model_revision": facts.revision,
        "model_sha": facts.sha,
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
        "fewshot_seed": config.seed if config.fewshot.seed is None else config.fewshot.seed,
    }


def _own(record: RunRecord, results: Sequence[TaskResult]) -> dict[str, Any]:
    config = record.config
    return {
        "status": "complete",
        "version": __version__,
        "libraries": {name: _installed(name) for name in LIBRARIES},
        "world_size": record.world,
        "seeds": {
            "seed": config.seed,
            "fewshot": config.seed if config.fewshot.seed is None else config.fewshot.seed,
            "generation": config.seed if config.generation.seed is None else config.generation.seed,
        },
        "fewshot": {name: dict(facts) for name, facts in record.shots.items()},
        "seconds": {phase: round(spent, 3) for phase, spent in record.seconds.items()},
        "efficiency": {kind: asdict(counters) for kind, counters in record.efficiency.items()},
        "partial": {result.task.name: len(result.task.docs) < len(result.task.all_docs) for result in results},
    }


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        # A partial, a builtin or a callable object has no source text of its own.
        return repr(function)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
