# ruff: noqa: T201
"""Run lm-eval and hydra-eval on the same rows and weights, and compare all they write.

    python -m tests.parity.compare --model DIR --data ROOT --out DIR [--suite NAME …] [--wording NAME …] [overrides …]

from the repository's root, with the extra `parity` installed. Exit code 1 where anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from .diff import TaskDiff, compare_folders
from .oracle import RECORD, describe
from .suites import QUICK, SUITES, WORDINGS, Suite, found_suite

REPOSITORY = Path(__file__).resolve().parents[2]
KINDS = ("row", "prompt", "target", "logprob", "choice", "text", "score", "result", "schema")
SHOWN = 5
FOUND = "found"
SUITE_HELP = f"default: {', '.join(SUITES)}; {FOUND}: all of lm-eval's tasks whose data is there, from its own files"
ALL = "all"
WORDING_HELP = (
    "default: plain; turns: under the tokenizer's chat template; one_turn: there, all of a prompt in one turn"
)


def run(command: Sequence[str], *, threads: int, log: Path) -> float:
    """Seconds that the command took; its output goes to `log`."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
    env = {**os.environ, **offline, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        done = subprocess.run(command, cwd=REPOSITORY, env=env, stdout=stream, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise RuntimeError(f"exit code {done.returncode} from {' '.join(command)}\n{log} ends:\n{tail}")
    return time.monotonic() - start


def clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def run_lm_eval(suite: Suite, args: argparse.Namespace, folder: Path) -> None:
    """lm-eval's output in `folder`; taken as it is where the same run left one."""
    record, wanted = folder / RECORD, describe(suite, args.model)
    if record.exists():
        found = json.loads(record.read_text(encoding="utf-8"))
        other = [key for key, value in wanted.items() if found.get(key) != value]
        if other:
            raise RuntimeError(
                f"{folder} holds another run of lm-eval (other {', '.join(other)}): name another --oracle"
            )
        return
    clear(folder)
    options = {"model": args.model, "data": args.data, "out": folder, "device": args.device, "threads": args.threads}
    command = [sys.executable, "-m", "tests.parity.oracle", "--suite", json.dumps(asdict(suite))]
    command += [part for key, value in options.items() for part in (f"--{key}", str(value))]
    run(command, threads=args.threads, log=folder / "log.txt")


def quoted(value: object) -> str:
    """A value as Hydra's command line takes it, whatever characters a path holds."""
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def hydra_command(suite: Suite, args: argparse.Namespace, folder: Path) -> list[str]:
    launch = ["--num_machines", "1", "--num_processes", str(args.processes)]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    launch += ["--multi_gpu"] if args.processes > 1 else ["--cpu"] if args.device == "cpu" else []
    overrides = [
        f"task=[{','.join(map(quoted, suite.files or suite.tasks))}]",
        "model=hf",
        f"model.pretrained={quoted(args.model.resolve())}",
        "model.dtype=float32",
        f"model.device={args.device}",
        f"data.root={quoted(args.data.resolve())}",
        f"fewshot.n={suite.shots}",
        "fewshot.on_pinned=keep",
        f"limit={suite.limit}",
        "tracker=none",
        f"hydra.run.dir={quoted(folder.resolve())}",
        *wording_of(suite),
    ]
    return [sys.executable, "-m", "accelerate.commands.launch", *launch, "run.py", *overrides, *args.overrides]


def wording_of(suite: Suite) -> list[str]:
    """The overrides that word the prompts as lm-eval words them for this suite."""
    overrides = [] if suite.system is None else [f"prompt.system={quoted(suite.system)}"]
    if suite.chat:
        multiturn = str(suite.multiturn).lower()
        overrides += ["prompt.chat_template=true", f"prompt.multiturn={multiturn}", "prompt.no_system_role=drop"]
    return overrides


def run_hydra_eval(suite: Suite, args: argparse.Namespace, folder: Path) -> float:
    """A fresh run in `folder`: an earlier one would be resumed."""
    clear(folder)
    return run(hydra_command(suite, args, folder), threads=args.threads, log=folder.with_name(folder.name + ".log"))


def table(suite: str, diffs: Iterable[TaskDiff]) -> str:
    """One line per task; a count says in how many places the two differ."""
    heads: tuple[str, ...] = ("suite", "task", "docs", "max |Δ logprob|", "over bound", *KINDS)
    lines = [heads]
    for diff in diffs:
        counts = diff.counts()
        worst = "-" if diff.worst is None else f"{diff.worst:.1e}"
        cells = [f"{counts[kind]} differ" if counts[kind] else "equal" for kind in KINDS]
        lines.append((suite, diff.task, str(diff.docs), worst, str(diff.over_bound), *cells))
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def details(diffs: Iterable[TaskDiff]) -> list[str]:
    """The first differences of each task and kind, cut to fit a line."""
    lines = []
    for diff in diffs:
        for kind in diff.counts():
            of_kind = [finding for finding in diff.findings if finding.kind == kind]
            for finding in of_kind[:SHOWN]:
                values = f"lm-eval {finding.theirs!r:.200} | hydra-eval {finding.ours!r:.200}"
                lines.append(f"{diff.task}: {kind}: {finding.where}: {values}")
    return lines


def compare_suite(name: str, wording: str, args: argparse.Namespace) -> bool:
    """True where all is equal."""
    suite = found_suite(args.data) if name == FOUND else {**SUITES, **QUICK}[name]
    suite = replace(suite, **WORDINGS[wording])
    name = name if wording == "plain" else f"{name}_{wording}"
    theirs, ours = args.oracle / name, args.out / name / "hydra_eval"
    run_lm_eval(suite, args, theirs)
    seconds = json.loads((theirs / RECORD).read_text(encoding="utf-8"))["seconds"]
    if args.oracle_only:
        print(f"{name}: lm-eval {seconds:.1f} s in {theirs}")
        return True
    wall = run_hydra_eval(suite, args, ours)
    diffs = compare_folders(suite.tasks, theirs=theirs, ours=ours)
    print(table(name, diffs), *details(diffs), sep="\n")
    print(f"lm-eval {seconds:.1f} s (loading, running); hydra-eval {wall:.1f} s (whole program)\n", flush=True)
    return not any(diff.findings for diff in diffs)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="local folder with weights and tokenizer")
    parser.add_argument("--data", type=Path, required=True, help="local data sets: ORG/NAME/SUBSET/SPLIT.jsonl")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--suite", action="append", choices=[*SUITES, *QUICK, FOUND], help=SUITE_HELP)
    parser.add_argument("--wording", action="append", choices=[*WORDINGS, ALL], help=WORDING_HELP)
    parser.add_argument("--oracle", type=Path, help="keep and reuse lm-eval's output here (default: OUT/oracle)")
    parser.add_argument("--oracle-only", action="store_true", help="run lm-eval alone")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1, help="of hydra-eval")
    parser.add_argument("overrides", nargs="*", help="more of hydra-eval's, such as model.batch_tokens=4096")
    args = parser.parse_args(argv)
    args.oracle = (args.oracle or args.out / "oracle").resolve()
    args.out = args.out.resolve()
    return args


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    wordings = WORDINGS if ALL in (args.wording or ()) else args.wording or ["plain"]
    equal = [compare_suite(name, wording, args) for name in args.suite or SUITES for wording in wordings]
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
