"""Answers `import lighteval…` in task files where lighteval is not installed. Where it is, its own modules are found
first, because this finder stands last."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from hydra_eval.errors import did_you_mean

log = logging.getLogger(__name__)

OURS = "hydra_eval.tables.lighteval"
ALL_METRICS = (
    "metric_types",
    "choice_metrics",
    "text_metrics",
    "sampled_metrics",
    "refused",
    "extraction",
    "drop",
    "corpus_metrics",
    "preparators",
    "normalizations",
    "language",
    "docs",
    "answers",
)
TEMPLATES = ("templates", "formulations", "literals", "docs", "language")
SERVED: dict[str, tuple[str, ...]] = {
    "lighteval": (),
    "lighteval.metrics": (),
    "lighteval.metrics.dynamic_metrics": ("dynamic", *ALL_METRICS),
    "lighteval.metrics.harness_compatibility": (),
    "lighteval.metrics.harness_compatibility.drop": ("drop",),
    "lighteval.metrics.harness_compatibility.truthful_qa": ("choice_metrics",),
    "lighteval.metrics.metrics": ("metrics", *ALL_METRICS),
    "lighteval.metrics.metrics_corpus": ("corpus_metrics", "metric_types"),
    "lighteval.metrics.metrics_sample": ALL_METRICS,
    "lighteval.metrics.normalizations": ("normalizations", "language"),
    "lighteval.metrics.sample_preparator": ("preparators", "metric_types"),
    "lighteval.metrics.utils": (),
    "lighteval.metrics.utils.extractive_match_utils": ("extraction",),
    "lighteval.metrics.utils.metric_utils": ("metric_types", "docs"),
    "lighteval.models": (),
    "lighteval.models.model_output": ("answers",),
    "lighteval.tasks": (),
    "lighteval.tasks.lighteval_task": ("task_config", "docs"),
    "lighteval.tasks.requests": ("docs",),
    "lighteval.tasks.templates": (),
    "lighteval.tasks.templates.multichoice": TEMPLATES,
    "lighteval.tasks.templates.qa": TEMPLATES,
    "lighteval.tasks.templates.continuation": TEMPLATES,
    "lighteval.tasks.templates.utils": (),
    "lighteval.tasks.templates.utils.formulation": ("formulations",),
    "lighteval.tasks.templates.utils.translation_literals": ("literals",),
    "lighteval.tasks.multilingual": (),
    "lighteval.tasks.multilingual.utils": (),
    "lighteval.tasks.multilingual.utils.task_utils": ("formulations",),
    "lighteval.utils": (),
    "lighteval.utils.imports": ("libraries",),
    "lighteval.utils.language": ("language",),
    "lighteval.utils.utils": ("docs",),
}
"""Module of lighteval's → the files of ours that have its names."""
INERT = "inspect_ai"
"""lighteval's other engine: task files hand it scorers and solvers, which nothing here runs."""


def serve() -> None:
    """From now on task files can import lighteval's names, whether it is installed or not.

    An installed one that cannot be imported (it wants another antlr than the config library) is passed over.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    finder = _Finder()
    sys.meta_path.append(finder)
    try:
        importlib.import_module("lighteval.metrics.metrics")
    except (ImportError, TypeError) as error:
        log.warning("The installed lighteval cannot be imported (%s); hydra-eval's stand-in takes its place.", error)
        for name in [name for name in sys.modules if name.partition(".")[0] == "lighteval"]:
            del sys.modules[name]
        sys.meta_path.remove(finder)
        sys.meta_path.insert(0, finder)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        root = name.partition(".")[0]
        if root == INERT:
            return ModuleSpec(name, _InertLoader(), is_package=True)
        if root != "lighteval":
            return None
        if name not in SERVED:
            raise ModuleNotFoundError(
                f"lighteval is not installed, and hydra-eval has no stand-in for '{name}'.{did_you_mean(name, SERVED)} "
                "With lighteval installed (pip install lighteval) the file works as it is",
                name=name,
            )
        return ModuleSpec(name, _Loader(), is_package=not SERVED[name])


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        for file in reversed(SERVED[module.__name__]):
            source = importlib.import_module(f"{OURS}.{file}")
            vars(module).update({name: value for name, value in vars(source).items() if not name.startswith("_")})


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or f"{self.__name__}.{name}" in SERVED:
            raise AttributeError(name)
        # Not AttributeError, of which `from … import …` would leave nothing but the name.
        raise ImportError(
            f"hydra-eval's stand-in for '{self.__name__}' has no '{name}'.{did_you_mean(name, vars(self))} "
            "With lighteval installed (pip install lighteval) the file works as it is"
        )


class _InertLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _InertModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


class _InertModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert


class Inert:
    """Stands for any class, function or decorator that is named and never run."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self
