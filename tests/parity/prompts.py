# ruff: noqa: T201
"""Every prompt of every task whose data is at hand, in lm-eval and in hydra-eval. No model is needed.

    python -m tests.parity.prompts [--shelf] [--tokenizer FOLDER] [--data ROOT] [--tasks GLOB] [--limit N]

from the repository's root, with the extra `parity` installed. Plain prompts are compared for all documents; those with
a system text, a chat template, a description or a prefix of the answer for the first 200. With a tokenizer its chat
template makes the turns, and the token ids of the first 50 are compared too. Exit code 1 where anything differs that
should not.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.tasks.task import Task

from .catalogue import Found, found_below, tasks_below
from .sides import NOTHING, PLAIN, Seen, Wording, our_task, our_work, seen_by_lm_eval, seen_by_us, their_task
from .standins import stood_in_for
from .tokens import Tokens, tokens_of
from .verdicts import HEADS, Verdict, compared, line, refused, short, summary, told
from .wordings import OWN, VARIANTS, Variant, chat_wordings

SHELF = Path(__file__).resolve().parents[2] / "tasks"
SHOTS = (0, None, 3)
"""None: the task's own number."""
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is compared."""

    wordings: Sequence[Wording] = (PLAIN,)
    shots: Sequence[int | None] = SHOTS
    limit: int | None = None
    """Documents per task; None: all."""
    worded: int = 200
    """Documents under anything but the plain file: the same examples, with something else between them."""
    tokens: Tokens | None = None
    ids: int = 50
    """Documents whose token ids are compared."""

    def documents(self, *, plain: bool) -> int | None:
        return self.limit if plain else min(self.limit or self.worded, self.worded)


def compare_task(found: Found, root: Path, scope: Scope, variants: Sequence[Variant] = (OWN,)) -> list[Verdict]:
    """One verdict per number of examples, wording and variant; a single one where the task cannot be loaded."""
    if found.reason:
        return [Verdict(task=found.task.name, skipped=found.reason)]
    verdicts: list[Verdict] = []
    with stood_in_for():
        for variant in variants:
            try:
                theirs = their_task(found.task, found.files, variant.keys)
            except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
                return [Verdict(task=found.task.name, skipped=f"lm-eval: {short(error)}")]
            verdicts += compare_loaded(found, theirs, root, scope, variant)
    return verdicts


def compare_loaded(found: Found, theirs: Any, root: Path, scope: Scope, variant: Variant = OWN) -> Iterator[Verdict]:
    """`theirs` is lm-eval's task on the same files and keys."""
    for number in numbers_of_shots(theirs.config.num_fewshot, scope.shots):
        built = cache(lambda number=number: _built(found, root, number, scope.limit, variant.keys))
        for wording in scope.wordings:
            is_plain = wording is PLAIN and variant is OWN
            verdict = _verdict(theirs, built, number, wording, replace(scope, limit=scope.documents(plain=is_plain)))
            yield replace(verdict, wording=" + ".join(filter(None, (wording.name, variant.name))))


def numbers_of_shots(own: int | None, wanted: Sequence[int | None]) -> list[int]:
    """Each number once: a task that says 0 keeps it."""
    numbers = [(own or 0) if own == 0 or shots is None else shots for shots in wanted]
    return list(dict.fromkeys(numbers))


def _built(found: Found, root: Path, shots: int, limit: int | None, keys: Mapping[str, Any] = NOTHING) -> Task:
    return our_task(found.task, root, shots=shots, limit=limit, keys=keys)


def _verdict(theirs: Any, built: Callable[[], Task], shots: int, wording: Wording, scope: Scope) -> Verdict:
    own = " (own)" if shots == (theirs.config.num_fewshot or 0) else ""
    here = Verdict(task=theirs.config.task, shots=f"{shots}{own}")
    try:
        expected = seen_by_lm_eval(theirs, shots=shots, wording=wording, limit=scope.limit)
    except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
        return replace(here, skipped=f"lm-eval: {short(error)}")
    try:
        task = built()
        task = replace(task, docs=task.docs[: scope.limit])
        ours = seen_by_us(task, our_work(task, wording))
        ids, different = _compared_ids(expected, ours, scope)
    except UserError as error:
        return refused(replace(here, docs=len(expected.docs)), error)
    wrong = compared(expected, ours) + tuple(different)
    return replace(here, docs=len(expected.docs), leaking=len(expected.leaks), ids=ids, wrong=wrong)


def _compared_ids(theirs: Seen, ours: Seen, scope: Scope) -> tuple[int, list[str]]:
    """Requests whose token ids were compared, and what differs: of the first documents with equal requests."""
    if scope.tokens is None:
        return 0, []
    same = [number for number in theirs.docs if ours.docs.get(number) == theirs.docs[number]][: scope.ids]
    pairs = [(theirs.docs[number].requests, ours.docs[number].requests) for number in same]
    differences = [text for pair in pairs for text in scope.tokens.differences(*pair)]
    return sum(len(requests) for requests, _ in pairs), differences


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="data sets in the hub's layout")
    parser.add_argument("--shelf", action="store_true", help="the bundled task files instead of lm-eval's own")
    parser.add_argument(
        "--tokenizer", type=Path, help="folder with tokenizer and config.json: chat template, token ids"
    )
    parser.add_argument("--tasks", default="*", help="names of tasks, with * and ?")
    parser.add_argument("--limit", type=int, help="documents per task; default: all")
    parser.add_argument(
        "--worded", type=int, default=200, help="documents under each other wording; default: %(default)s"
    )
    parser.add_argument(
        "--ids", type=int, default=50, help="documents whose token ids are compared; default: %(default)s"
    )
    parser.add_argument("--plain", action="store_true", help="no chat templates, no descriptions, no prefixes")
    return parser.parse_args(argv)


def scope_of(args: argparse.Namespace) -> Scope:
    wordings = (PLAIN,) if args.plain else (PLAIN, *chat_wordings(args.tokenizer))
    tokens = tokens_of(args.tokenizer) if args.tokenizer else None
    return Scope(wordings=wordings, limit=args.limit, worded=args.worded, tokens=tokens, ids=args.ids)


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    logging.disable(logging.WARNING)
    scope, variants = scope_of(args), (OWN,) if args.plain else VARIANTS
    print(line(HEADS))
    verdicts: list[Verdict] = []
    for found in found_below(args.data, tasks_below(SHELF) if args.shelf else None):
        if fnmatch(found.task.name, args.tasks):
            of_task = compare_task(found, args.data, scope, variants)
            print(*told(of_task, shown=SHOWN), sep="\n", flush=True)
            verdicts += of_task
    print(summary(verdicts))
    return 1 if not verdicts or any(one.wrong for one in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
