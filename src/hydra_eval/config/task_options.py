"""What one SPEC adds to the config of a run."""

from __future__ import annotations

import logging
from typing import Any

from hydra_eval.config.spec import Spec, parse_spec
from hydra_eval.config.task_files import find_file, with_computed
from hydra_eval.config.task_groups import Expansion
from hydra_eval.config.task_index import TaskIndex
from hydra_eval.config.task_names import Named, find, why_unknown
from hydra_eval.errors import UserError

log = logging.getLogger(__name__)

OWN = "Tasks of your own: hydra.searchpath=[tasks://FOLDER], or HYDRA_EVAL_TASK_PATH=FOLDER."


def options_for(text: str, index: TaskIndex) -> dict[str, Any]:
    """Its tasks with every key filled, the groups it names, and the selection. Raises UserError for an unknown name."""
    spec = parse_spec(text)
    named = find(spec.name, index)
    outside = find_file(spec.name, index) if named is None else None
    named = named or outside
    if named is None or (named.is_open and named is not outside):
        index, named = _with_computed(spec, index)
    expansion = Expansion(index)
    leaves = expansion.add(named)
    chosen = {"name": spec.name, "tasks": leaves, "shots": spec.shots, "parameters": dict(spec.parameters)}
    return {"tasks": expansion.tasks, "groups": expansion.groups, "selection": {text: chosen | _file_of(outside)}}


def _with_computed(spec: Spec, index: TaskIndex) -> tuple[TaskIndex, Named]:
    """The same question put to the index that knows the computed names of tables too."""
    index, reasons = with_computed(index)
    named = find(spec.name, index)
    if named is None:
        why = why_unknown(spec.name, index)
        own = [OWN] if why.startswith("unknown") else []
        raise UserError(" ".join((f"task={spec.text}: {why}", *reasons, *own)))
    for reason in reasons:
        log.warning("task=%s: %s", spec.text, reason)
    return index, named


def _file_of(outside: Named | None) -> dict[str, str]:
    """The file of tasks that were asked for by their path."""
    entry = outside.entries[0] if outside else None
    return {"file": str(entry.path)} if entry and entry.kind != "group" else {}
