"""How many tokens a run sends, scores and may generate, to the token; and how many of them are the same ones again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from hydra_eval.models.encoding import Encoded, Encoder, encode_requests
from hydra_eval.models.prefixes import packed, packed_prefix_tokens
from hydra_eval.pipeline import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of one task, or of all."""

    rows: int
    requests: int
    prompt_tokens: int
    """As sent: what is cut off is not among them."""
    scored_tokens: int
    """Of all continuations."""
    reply_tokens: int
    """The most that all replies can have: one that stops has fewer."""
    longest: int
    """Positions that the longest request needs before anything is dropped or cut, with its continuation or the room
    for its reply; of an encoder-decoder its encoder's. A longer text that is read whole runs in windows."""
    documents_cut: int
    """Documents whose prompts lose tokens to the window."""
    cut_tokens: int
    run_tokens: int
    """Positions to run before any reply, each request by itself."""
    shared_tokens: int
    """The same where a common beginning is run once: distinct beginnings of all that is run."""

    @property
    def saved(self) -> float:
        """Share of `run_tokens` that common beginnings save."""
        return 1 - self.shared_tokens / self.run_tokens if self.run_tokens else 0.0


@dataclass(slots=True)
class Tally:
    """Counts in the making."""

    requests: int = 0
    prompt_tokens: int = 0
    scored_tokens: int = 0
    reply_tokens: int = 0
    longest: int = 0
    run_tokens: int = 0
    cut: dict[int, int] = field(default_factory=dict)
    """Document → tokens that its prompts lose."""
    run: set[bytes] = field(default_factory=set)
    """What is run, each sequence once, packed: as tuples all ids of a large run would not fit into memory."""

    def add(self, doc: int, sent: Encoded) -> None:
        self.requests += 1
        self.prompt_tokens += len(sent.ids) - sent.scored
        self.scored_tokens += sent.scored
        self.reply_tokens += sent.room
        held = max((len(span.inputs) for span in sent.spans), default=0) + (0 if sent.apart else sent.room)
        self.longest = max(self.longest, held + sent.cut_tokens)
        self.run_tokens += sum(map(len, sent.paths))
        self.run |= set(map(packed, sent.paths))
        if sent.cut_tokens:
            self.cut[doc] = self.cut.get(doc, 0) + sent.cut_tokens

    def counts(self, rows: int) -> Counts:
        return Counts(
            rows=rows,
            requests=self.requests,
            prompt_tokens=self.prompt_tokens,
            scored_tokens=self.scored_tokens,
            reply_tokens=self.reply_tokens,
            longest=self.longest,
            documents_cut=len(self.cut),
            cut_tokens=sum(self.cut.values()),
            run_tokens=self.run_tokens,
            shared_tokens=packed_prefix_tokens(self.run),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All tokens of a run."""

    by_task: Mapping[str, Counts]
    total: Counts
    cut: Mapping[str, Mapping[int, int]]
    """Task → document → tokens that its prompts lose."""


def count(work: Work, encoder: Encoder) -> Counted:
    """Only as many ids as one packet has are in memory at a time."""
    excess = {name: overflow.excess for name, overflow in work.overflow.items()}
    tallies = {name: Tally(longest=encoder.max_length + over if over else 0) for name, over in excess.items()}
    for packet in work.packets:
        for instance, sent in zip(packet.instances, encode_requests(packet.instances, encoder), strict=True):
            tallies[instance.key.task].add(instance.key.doc, sent)
    by_task = {task.name: tallies[task.name].counts(len(task.docs)) for task in work.scored_tasks}
    cut = {name: tally.cut for name, tally in tallies.items()}
    return Counted(by_task=by_task, total=_total(list(by_task.values()), list(tallies.values())), cut=cut)


def _total(found: Sequence[Counts], tallies: Sequence[Tally]) -> Counts:
    """Tasks may share beginnings too."""
    if len(found) == 1:
        return found[0]
    names = [field.name for field in fields(Counts) if field.name not in ("longest", "shared_tokens")]
    return Counts(
        **{name: sum(getattr(counts, name) for counts in found) for name in names},
        longest=max(counts.longest for counts in found),
        shared_tokens=packed_prefix_tokens(set[bytes]().union(*(tally.run for tally in tallies))),
    )
