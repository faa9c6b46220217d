"""lighteval on one order, in lighteval's own Python: `python -m benchmarks.peers.lighteval_run ORDER.json`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.transformers.transformers_model import TransformersModel, TransformersModelConfig
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.registry import Registry
from lighteval.tasks.requests import Doc

from benchmarks.peers.meter import Meter
from benchmarks.peers.order import ANSWERS, Order, read_order, write_figures
from benchmarks.peers.warm_up import CONTEXTS, CONTINUATION

CHECKPOINT = "checkpoint"


def main(path: str) -> None:
    order = read_order(path)
    without_own_tasks()
    # Its cache lies below a folder named like the model; an absolute name would be that of the checkpoint itself.
    Path(order.folder, CHECKPOINT).symlink_to(order.model, target_is_directory=True)
    os.chdir(order.folder)
    meter = Meter(order)
    with meter.loading():
        model = TransformersModel(config_of(order))
    warm_up(model)
    meter.watch(model.model)
    answered: list[tuple[Doc, Any]] = []
    ask = meter.timed(model.loglikelihood)
    prompts = model.prompt_manager

    def loglikelihood(docs: list[Doc]) -> Any:
        responses = ask(docs)
        answered.extend(zip(docs, responses, strict=True))
        return responses

    model.loglikelihood = loglikelihood
    scores = evaluate(model, order)
    rows = [answer(prompts.prepare_prompt(doc), doc, response) for doc, response in answered]
    content = json.dumps({"scores": scores, "rows": rows}, indent=2)
    (Path(order.folder) / ANSWERS).write_text(content + "\n", encoding="utf-8")
    write_figures(order, meter.figures())


def without_own_tasks() -> None:
    """Whatever is asked for, it imports all its own tasks, and some of them go to the web for that."""
    Registry._load_from_files = staticmethod(lambda files, module_prefix: {})
    Registry._load_from_subdirs = staticmethod(lambda subdirs: {})


def config_of(order: Order) -> TransformersModelConfig:
    return TransformersModelConfig(
        model_name=CHECKPOINT,
        dtype=order.dtype,
        device=order.device,
        batch_size=order.batch,
        override_chat_template=False,
        # It keeps what models said, and would not ask again.
        cache_dir="cache",
    )


def warm_up(model: TransformersModel) -> None:
    """Past its cache of answers."""
    docs = [Doc(query=context, choices=[CONTINUATION, CONTINUATION + " it"], gold_index=0) for context in CONTEXTS]
    model._loglikelihood_tokens(docs)


def evaluate(model: TransformersModel, order: Order) -> dict[str, Any]:
    """Metric → value."""
    parameters = PipelineParameters(
        launcher_type=ParallelismManager.NONE,
        custom_tasks_directory=order.file,
        max_samples=order.documents,
    )
    tracker = EvaluationTracker(output_dir=str(Path(order.folder) / "results"), save_details=False)
    task = f"{order.task}|{order.shots}"
    pipeline = Pipeline(tasks=task, pipeline_parameters=parameters, evaluation_tracker=tracker, model=model)
    pipeline.evaluate()
    return dict(pipeline.get_results()["results"]["all"])


def answer(prompt: str, doc: Doc, response: Any) -> dict[str, Any]:
    return {
        "prompt": prompt,
        "choices": list(doc.choices),
        "sums": list(response.logprobs),
        "is_greedy": list(response.argmax_logits_eq_gold),
    }


if __name__ == "__main__":
    main(sys.argv[1])
