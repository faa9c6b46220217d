"""Run lm-eval's own tasks on local files and keep its own output files. A process of its own, started by compare.py."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .redirect import builtin_files, write_local_wrappers
from .suites import Suite

RECORD = "run.json"


def checkpoint_digest(model: Path) -> str:
    """SHA-256 over the weights, the tokenizer and the configs of a model folder."""
    files = sorted([*model.glob("*.safetensors"), *model.glob("*.json")])
    if not files:
        raise FileNotFoundError(f"no checkpoint in {model}")
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def describe(suite: Suite, model: Path) -> dict[str, Any]:
    """What decides lm-eval's output; two equal descriptions may share one output folder."""
    fields = {**asdict(suite), "tasks": list(suite.tasks), "files": list(suite.files)}
    return {**fields, "checkpoint": checkpoint_digest(model), "lm_eval": version("lm_eval")}


def evaluate(suite: Suite, *, model: Path, wrappers: list[Path], device: str, out: Path) -> None:
    """Run lm-eval; `out/<model>/` gets results_*.json and samples_*.jsonl as lm-eval writes them."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(out))
    results = simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32"},
        tasks=[str(path) for path in wrappers],
        num_fewshot=suite.shots,
        limit=suite.limit,
        apply_chat_template=suite.chat,
        fewshot_as_multiturn=suite.chat and suite.multiturn,
        system_instruction=suite.system,
        batch_size=suite.batch_size,
        device=device,
        log_samples=True,
        evaluation_tracker=tracker,
        task_manager=TaskManager(include_defaults=False),
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in suite.tasks:
        tracker.save_results_samples(task_name=task, samples=samples[task])


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=json.loads, required=True, help="fields of a Suite, as JSON")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    suite = Suite(**{**args.suite, "tasks": tuple(args.suite["tasks"]), "files": tuple(args.suite["files"])})
    torch.set_num_threads(args.threads)
    with TemporaryDirectory() as folder:
        files = [Path(file) for file in suite.files] or builtin_files(suite.tasks)
        wrappers = write_local_wrappers(files, root=args.data, folder=Path(folder))
        start = time.monotonic()
        evaluate(suite, model=args.model.resolve(), wrappers=wrappers, device=args.device, out=args.out)
    record = {**describe(suite, args.model), "device": args.device, "seconds": round(time.monotonic() - start, 2)}
    (args.out / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
