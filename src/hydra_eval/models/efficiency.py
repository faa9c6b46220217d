"""What the model's work cost, independent of the machine where that can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hydra_eval.models.prefixes import Folded, folded_prefix_tokens
from hydra_eval.records import RequestKind


@dataclass
class Efficiency:
    """Counters of the work done so far by this process."""

    forward_tokens: int = 0
    """Positions sent through the model, padding included."""
    logit_positions: int = 0
    """Positions for which a row of vocabulary logits was made."""
    generated_tokens: int = 0
    row_steps: int = 0
    """Of replies: rows times steps, the pass over their prompts aside. At least one less per reply than its tokens."""
    model_seconds: float = 0.0
    peak_memory_bytes: int = 0
    """On a GPU, of the tensors there; else of the whole process."""
    prefixes: list[Folded] = field(default_factory=list)
    """What had to be run: of every request the context and the continuation without its last token."""

    def __add__(self, other: Efficiency) -> Efficiency:
        return Efficiency(
            forward_tokens=self.forward_tokens + other.forward_tokens,
            logit_positions=self.logit_positions + other.logit_positions,
            generated_tokens=self.generated_tokens + other.generated_tokens,
            row_steps=self.row_steps + other.row_steps,
            model_seconds=self.model_seconds + other.model_seconds,
            peak_memory_bytes=max(self.peak_memory_bytes, other.peak_memory_bytes),
            prefixes=[*self.prefixes, *other.prefixes],
        )

    def figures(self) -> dict[str, Any]:
        """As a results file has them. Tokens per second are those of one process."""
        return {
            "forward_tokens": self.forward_tokens,
            "unique_prefix_tokens": folded_prefix_tokens(self.prefixes),
            "logit_positions": self.logit_positions,
            "generated_tokens": self.generated_tokens,
            "row_steps": self.row_steps,
            "model_seconds": self.model_seconds,
            "tokens_per_second": self.forward_tokens / self.model_seconds if self.model_seconds else None,
            "peak_memory_bytes": self.peak_memory_bytes,
        }


def fresh_counters() -> dict[str, Efficiency]:
    """By request kind."""
    return {kind.value: Efficiency() for kind in RequestKind}


def added_up(per_rank: Iterable[Mapping[str, Efficiency]]) -> dict[str, Efficiency]:
    """By request kind, over all processes."""
    total: dict[str, Efficiency] = {}
    for spent in per_rank:
        for kind, counters in spent.items():
            total[kind] = total[kind] + counters if kind in total else counters
    return total


def efficiency_figures(spent: Mapping[str, Efficiency]) -> dict[str, dict[str, Any]]:
    """By request kind, and in total."""
    by_kind = {kind: counters.figures() for kind, counters in spent.items()}
    # Counting prefixes takes long, and most runs ask one kind of request.
    asked = [kind for kind, counters in spent.items() if counters.prefixes]
    total = dict(by_kind[asked[0]]) if len(asked) == 1 else sum(spent.values(), Efficiency()).figures()
    return {**by_kind, "total": total}
