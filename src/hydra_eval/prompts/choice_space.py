"""White space between a context and the choice that is scored after it: `prompt.choice_space`."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from hydra_eval.errors import known_names
from hydra_eval.records import Instance, Request, RequestKind

log = logging.getLogger(__name__)

BLANKS = (" ", "\t")
DOUBLED = "as in lm-eval two blanks are scored with a choice, the prompt's last and the choice's first"
HEADER = "as in lm-eval the line end of the chat template's header is scored with a choice"
SHOWN = 5
"""Task names in one line."""


def choice_request(
    context: str, choice: str, *, delimiter: str = "", space: str = "keep", header: bool = False
) -> Request:
    """The request that scores one choice after its context.

    `keep` leaves the bytes to task and delimiter. `add` puts one blank before the choice, `strip` the delimiter alone,
    whatever white space the task wrote there; where it has no delimiter, its white space becomes one blank. `header`
    says that the context ends in a chat template's assistant header: it stays whole, and under `strip` nothing stands
    between.
    """
    if space == "keep":
        return _scored(context, delimiter + choice)
    text = choice.lstrip() or choice
    if header:
        return _scored(context, (" " if space == "add" else "") + text, moves_blanks=False)
    bare = context.rstrip("".join(BLANKS))
    between = delimiter or (" " if bare != context or text != choice else "")
    return _scored(bare, (" " if space == "add" else between) + text)


def say_scored_blanks(instances: Iterable[Instance], *, chat: bool) -> None:
    """One line where lm-eval's rule scores two blanks before a choice, or a chat template's line end."""
    found: dict[str, dict[str, None]] = {DOUBLED: {}, HEADER: {}}
    for instance in instances:
        if instance.kind is RequestKind.LOGLIKELIHOOD and instance.moves_blanks:
            spaced = (instance.continuation or "")[:1].isspace()
            if spaced and instance.context.endswith(BLANKS):
                found[DOUBLED][instance.key.task] = None
            elif chat and not spaced and instance.context.endswith("\n"):
                found[HEADER][instance.key.task] = None
    for told, tasks in found.items():
        if tasks:
            log.warning("%s: %s; prompt.choice_space=strip leaves it out.", known_names(tasks, shown=SHOWN), told)


def _scored(context: str, continuation: str, *, moves_blanks: bool = True) -> Request:
    return Request(kind=RequestKind.LOGLIKELIHOOD, arguments=(context, continuation), moves_blanks=moves_blanks)
