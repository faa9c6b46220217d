"""A task class in our own terms, so that our stages word and score what it leaves to its base class."""

from __future__ import annotations

from typing import Any

from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan, Task, Template
from hydra_eval.tasks.templates import key_field

NO_SHOTS = ShotPlan(strategy="task", n=0, seed=0, pool=(), pool_split=None)
"""A class draws its own examples."""


def as_doc(row: Any) -> Doc:
    return Doc(task="", split="", index=0, row=row)


def record_of(task: Any) -> Task:
    """What prompts, requests and scores ask of a task; its documents and model options are not among it."""
    config, where = task.config, str(task.config.task)
    first = task.task_docs[0]
    template, shot_template = _template(task, {}), _template(task, task.fewshot_cfg)
    return Task(
        name=where,
        output_type=config.output_type,
        docs=(),
        all_docs=(),
        description=key_field(config.description, where=f"{where}: description"),
        template=template,
        shot_template=shot_template,
        shots=NO_SHOTS,
        multiple_input=config.doc_to_choice is not None and isinstance(task.doc_to_text(first), int),
        multiple_target=isinstance(task.doc_to_target(first), list),
        generation=None,
        generation_kwargs=config.generation_kwargs,
        repeats=config.repeats,
        filters=(),
        metrics=build_metrics(
            config.metric_list,
            output_type=config.output_type,
            has_process_results=config.process_results is not None,
            where=where,
        ),
        process_results=None,
        version=task.VERSION,
        config={"task": config.task, "gen_prefix": config.gen_prefix},
        source=where,
    )


def _template(task: Any, shot_config: Any) -> Template:
    """The wording of the documents, or with `fewshot_config` that of the examples."""

    def worded(key: str) -> Any:
        """A subclass may override these with one parameter, and then no other wording reaches them."""
        method, other = getattr(task, key), shot_config.get(key)
        return method if other is None else lambda row: method(row, other)

    prefix = shot_config.get("gen_prefix")
    return Template(
        text=worded("doc_to_text"),
        target=worded("doc_to_target"),
        choices=None if task.config.doc_to_choice is None else worded("doc_to_choice"),
        gen_prefix=task.doc_to_prefix if prefix is None else key_field(prefix, where="fewshot_config.gen_prefix"),
        target_delimiter=shot_config.get("target_delimiter", task.config.target_delimiter),
        fewshot_delimiter=shot_config.get("fewshot_delimiter", task.config.fewshot_delimiter),
    )
