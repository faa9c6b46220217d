"""How many replies of a task ended before their reasoning did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hydra_eval.records import SampleRow


def thinking_facts(rows: Iterable[SampleRow]) -> dict[str, int]:
    """`replies` of one task, and how many of them have no end of reasoning (`unclosed`)."""
    replies = {row.doc_id: row for row in rows}.values()
    closed = [bool(row.reasoning) and row.reasoning[at] is not None for row in replies for at in _replied(row)]
    return {"replies": len(closed), "unclosed": closed.count(False)}


def unclosed_lines(thinking: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One for each task with such replies."""
    return [
        f"{task}: {facts['unclosed']} of {facts['replies']} replies have no model.think_end_token, so all their text "
        "counts as the answer. Where the room ran out, raise generation.max_new_tokens."
        for task, facts in thinking.items()
        if facts["unclosed"]
    ]


def _replied(row: SampleRow) -> Sequence[int]:
    """Which of the row's requests were replied to."""
    return [at for at, reason in enumerate(row.finish_reasons) if reason is not None]
