"""lm-evaluation-harness on one order: `python -m benchmarks.peers.lm_eval_run ORDER.json`."""

from __future__ import annotations

import sys
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from benchmarks.peers.meter import Meter
from benchmarks.peers.order import Order, read_order, write_figures
from benchmarks.peers.warm_up import CONTEXTS, CONTINUATION, REPLY, STOP


def main(path: str) -> None:
    order = read_order(path)
    meter = Meter(order)
    with meter.loading():
        lm = HFLM(pretrained=order.model, dtype=order.dtype, device=order.device, batch_size=order.batch or 1)
    warm_up(lm)
    meter.watch(lm.model)
    # The evaluator looks these up on the object.
    lm.loglikelihood = meter.timed(lm.loglikelihood)
    lm.generate_until = meter.timed(lm.generate_until)
    evaluate(lm, order)
    write_figures(order, meter.figures())


def warm_up(lm: HFLM) -> None:
    pairs = [(context, CONTINUATION) for context in CONTEXTS]
    lm.loglikelihood([_instance("loglikelihood", pair) for pair in pairs])
    options = {"until": [STOP], "max_gen_toks": REPLY, "do_sample": False}
    lm.generate_until([_instance("generate_until", (context, options)) for context in CONTEXTS])


def evaluate(lm: HFLM, order: Order) -> None:
    """As lm-eval's command line does it; below the order's folder are its own results and samples files."""
    tracker = EvaluationTracker(output_path=order.folder)
    results = simple_evaluate(
        model=lm,
        tasks=[order.file],
        num_fewshot=order.shots,
        limit=order.documents,
        log_samples=True,
        evaluation_tracker=tracker,
        task_manager=TaskManager(include_defaults=False),
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=order.task, samples=samples[order.task])


def _instance(kind: str, arguments: tuple[Any, ...]) -> Instance:
    return Instance(request_type=kind, doc={}, arguments=arguments, idx=0, metadata=("warm-up", 0, 1))


if __name__ == "__main__":
    main(sys.argv[1])
