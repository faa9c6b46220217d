# ruff: noqa: T201
"""lm-eval's task families on rows made up to fit them: the same prompts, and the same scores for the same replies.

    python -m tests.parity.families [--families GLOB] [--per-family N]

from the repository's root, with the extra `parity` installed. Prints each family that is left out, and why. Exit code 1
where anything differs that should not.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hydra_eval.errors import UserError

from .catalogue import Found, TaskFile, tasks_below, tasks_root
from .features import cover
from .learn import learn
from .prompts import Scope, compare_loaded
from .replies import differences, our_scores, their_scores
from .sides import PLAIN, Wording, our_task, our_work, seen_by_lm_eval, their_task
from .standins import stood_in_for
from .synthetic import ROWS, make_rows, write_data_set
from .trace import traced
from .verdicts import HEADS, Verdict, line, refused, short, told
from .wordings import few_wordings

SHOTS = (0, None, 2)
TRIES = 45
MOST_ROWS = 120
SECONDS = 60


@cache
def family_tasks(family: str) -> tuple[TaskFile, ...]:
    """The tasks of one folder below `lm_eval/tasks`, in lm-eval's order."""
    return tuple(tasks_below(tasks_root() / family).values())


def chosen(family: str, count: int) -> list[TaskFile]:
    """The fewest tasks of a family that show most of what it uses, `count` at the most."""
    return cover(family_tasks(family), count)


def compare_family(
    family: str, folder: Path, *, count: int = 1, rows: int = ROWS, wordings: Sequence[Wording] = (PLAIN,)
) -> Iterator[Verdict]:
    """Prompts at each number of examples, then scores, of the chosen tasks of one family."""
    for number, task in enumerate(chosen(family, count)):
        verdicts: list[Verdict] = []
        try:
            with stood_in_for(), _time_limit(), redirect_stdout(StringIO()):
                verdicts.extend(compare_made_up(task, folder / f"{number}", rows=rows, wordings=wordings))
        except TooLong:
            verdicts.append(Verdict(task=task.name, skipped=f"takes more than {SECONDS} s"))
        yield from verdicts


def compare_made_up(task: TaskFile, root: Path, *, rows: int, wordings: Sequence[Wording]) -> Iterator[Verdict]:
    try:
        found, theirs = prepared(task, root, rows)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a task's own code raises
        yield Verdict(task=task.name, skipped=f"lm-eval: {short(error)}")
        return
    yield from compare_loaded(found, theirs, root, Scope(wordings=wordings, shots=SHOTS))
    yield _scores(task, theirs, root)


def prepared(task: TaskFile, root: Path, rows: int) -> tuple[Found, Any]:
    """Made-up data that lm-eval takes, and its task on them. Raises what lm-eval raises when nothing helps."""
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(task.path)
    if "class" in config:
        raise ValueError("a Python class with a download of its own")
    shape = traced(config)
    rich, count = True, rows
    for _ in range(TRIES):
        files = write_data_set(task, make_rows(task, shape, rich=rich, count=count), root)
        theirs, error = _tried(task, files)
        if error is None:
            return Found(task=task, files=files), theirs
        if learn(error, shape):
            traced(config, shape)
        elif "larger than population" in str(error) and count < MOST_ROWS:
            count = MOST_ROWS
        elif rich:
            rich = False
        elif theirs is None:
            raise error
        else:  # lm-eval cannot score it, whatever the rows
            return Found(task=task, files=files), theirs
    raise ValueError(f"no rows that fit after {TRIES} tries")


def _tried(task: TaskFile, files: Mapping[str, Path]) -> tuple[Any, Exception | None]:
    """lm-eval's task and what went wrong with it: None for the task where it cannot even ask."""
    theirs = None
    try:
        loaded = their_task(task, files)
        seen_by_lm_eval(loaded, shots=0)
        theirs = loaded
        their_scores(theirs)
        seen_by_lm_eval(theirs, shots=2)
    except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
        return theirs, error
    return theirs, None


def _scores(task: TaskFile, theirs: Any, root: Path) -> Verdict:
    """The same replies, right and wrong ones, through both programs."""
    here = Verdict(task=task.name, wording="scores", shots="0")
    try:
        asked = seen_by_lm_eval(theirs, shots=0)
        expected, replies = their_scores(theirs)
    except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
        return replace(here, skipped=f"lm-eval: {short(error)}")
    here = replace(here, docs=len(asked.docs))
    try:
        built = our_task(task, root, shots=0)
        work = our_work(built)
        return replace(here, wrong=tuple(differences(expected, our_scores(built, work, replies))))
    except UserError as error:
        return refused(here, error)


class TooLong(BaseException):
    """No error of a program's: nothing that goes on after errors may catch it."""


@contextmanager
def _time_limit() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def all_families() -> list[str]:
    return sorted(path.name for path in tasks_root().iterdir() if path.is_dir() and not path.name.startswith("_"))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default="*", help="folders below lm_eval/tasks, with * and ?")
    parser.add_argument("--per-family", type=int, default=3, help="most tasks of one family")
    parser.add_argument("--rows", type=int, default=ROWS, help="of each split")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    logging.disable(logging.WARNING)
    options = {"count": args.per_family, "rows": args.rows, "wordings": few_wordings()}
    compared, left_out, wrong = set(), set(), 0
    print(line(HEADS))
    for family in all_families():
        if not fnmatch(family, args.families):
            continue
        with TemporaryDirectory() as folder:
            verdicts = list(compare_family(family, Path(folder), **options))
        print(*told(verdicts, shown=3), sep="\n", flush=True)
        wrong += sum(bool(one.wrong) for one in verdicts)
        (left_out if all(one.skipped for one in verdicts) else compared).add(family)
    print(
        f"\n{len(compared)} families compared, {wrong} differences; left out: {', '.join(sorted(left_out)) or 'none'}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
