"""What stands between a prompt and the choice that is scored after it: no white space, or twice, is seldom meant."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from hydra_eval.prompts.style import Style
from hydra_eval.records import DocKey, Instance
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

SHOWN = 24
"""Characters of the prompt's end and of the choice in the message."""
CLOSING = ".,:;?!)]"
NEITHER = "no white space stands between the prompt and the choice"
TWICE = "the delimiter and the choice both bring white space"
BOTH = "the prompt ends in white space and the delimiter or the choice brings more"
REMEDY = {
    NEITHER: "prompt.choice_space=add puts one blank there",
    TWICE: "prompt.choice_space=strip leaves the delimiter alone, add one blank",
    BOTH: "a target_delimiter of '' in the task file leaves the prompt's alone",
}


def say_odd_seams(tasks: Iterable[Task], requests_of: Mapping[DocKey, Sequence[Instance]], style: Style) -> None:
    """One line per task, told from its first document, where `prompt.choice_space` leaves all to the task."""
    said = set()
    for task in tasks:
        if task.base_name not in said and _is_our_business(task, style):
            message = _message(task, requests_of.get(task.docs[0].key, ()), style)
            if message is not None:
                said.add(task.base_name)
                log.warning("task '%s': %s", task.base_name, message)


def _is_our_business(task: Task, style: Style) -> bool:
    return task.own_requests is None and task.output_type == "multiple_choice" and style.choice_space == "keep"


def _message(task: Task, requests: Sequence[Instance], style: Style) -> str | None:
    row = task.docs[0].row
    if not str(task.template.text(row)).strip():
        return None  # whatever stands before such a choice is no part of the question
    header = style.chat is not None and not task.template.gen_prefix(row)
    for one in requests:
        choice = one.continuation or ""
        if (found := _odd(one.context, choice, header=header)) is not None:
            return f"{found}: {one.context[-SHOWN:]!r} + {choice[:SHOWN]!r}; {REMEDY[found]}."
    return None


def _odd(context: str, continuation: str, *, header: bool) -> str | None:
    """`header`: the context ends in a chat template's header, after which nothing needs to stand.

    A blank at the end of a context is told by `say_scored_blanks`, for all tasks in one line.
    """
    if not context or not continuation.strip():
        return None
    if continuation[:2].isspace() and continuation[:2] == continuation[0] * 2:
        return TWICE
    if context[-1] in "\n\r" and continuation[0].isspace() and not header:
        return BOTH
    return NEITHER if not header and _run_together(context[-1], continuation[0]) else None


def _run_together(last: str, first: str) -> bool:
    """Two words with nothing between them; in a script that writes words without blanks that is as it should be."""
    is_wide = any(unicodedata.east_asian_width(char) in "WF" for char in (last, first))
    return (last.isalnum() or last in CLOSING) and first.isalnum() and not is_wide
