"""How many prompts were too long for the model's window, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra_eval.errors import counted
from hydra_eval.records import SampleRow

CUTS = {"cut_left": "left", "cut_middle": "middle"}
"""Policy → where the context loses tokens."""
DEFAULT = ("cut_left",)
SHOWN_IDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What became of one task's prompts that were too long, as far as it is settled before the model is asked."""

    policies: tuple[str, ...] = DEFAULT
    dropped: Mapping[int, int] = field(default_factory=dict)
    """Document → examples that it does not show."""
    skipped: tuple[int, ...] = ()
    """Documents that are left out."""
    excess: int = 0
    """Tokens by which the longest request was too long, before anything was dropped, cut or left out; 0 also where the
    only policy is to cut, which the model does and counts."""

    def lines(self) -> Iterator[str]:
        """What a person is told before the model loads."""
        if self.dropped:
            prompts = counted(len(self.dropped), "prompt was too long and shows", "prompts were too long and show")
            yield f"{prompts} {counted(sum(self.dropped.values()), 'fewer example')}."
        if self.skipped:
            shown = ", ".join(map(str, self.skipped[:SHOWN_IDS]))
            end = ", …" if len(self.skipped) > SHOWN_IDS else "."
            yield f"{counted(len(self.skipped), 'document is', 'documents are')} too long and left out: {shown}{end}"


def overflow_facts(overflow: Overflow, rows: Sequence[SampleRow]) -> dict[str, Any]:
    """What the results say of one task. `rows` are the task's, of any number of filters."""
    return facts_of(overflow, {row.doc_id: sum(row.cut_tokens) for row in rows if any(row.cut_tokens)})


def facts_of(overflow: Overflow, cut: Mapping[int, int]) -> dict[str, Any]:
    """The same, from the tokens that each document's prompts lose."""
    return {
        "policy": list(overflow.policies),
        "documents": len({*overflow.dropped, *overflow.skipped, *cut}),
        "documents_with_fewer_shots": len(overflow.dropped),
        "shots_dropped": sum(overflow.dropped.values()),
        "documents_cut": len(cut),
        "tokens_cut": sum(cut.values()),
        "documents_skipped": len(overflow.skipped),
        "skipped": list(overflow.skipped),
    }


def cut_line(facts: Mapping[str, Any], *, documents: int) -> str | None:
    """What a person is told at the end, where tokens were cut."""
    if not facts["documents_cut"]:
        return None
    side = next(CUTS[policy] for policy in facts["policy"] if policy in CUTS)
    where = "in the middle" if side == "middle" else "on the left"
    tokens = counted(facts["tokens_cut"], "token")
    line = f"{facts['documents_cut']:,} of {counted(documents, 'document')} had prompts cut {where}, {tokens}."
    offers = " prompt.overflow offers drop_shots (fewer examples), cut_middle, skip and error."
    return line + (offers if is_default(facts) else "")


def is_default(facts: Mapping[str, Any]) -> bool:
    """Nobody asked for it."""
    return tuple(facts["policy"]) == DEFAULT
