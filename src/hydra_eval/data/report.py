"""What the results file says about one task's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from hydra_eval.data.documents import Documents
from hydra_eval.data.facts import FLOATING, DataFacts, SplitFacts, fingerprint
from hydra_eval.data.selection import Chosen
from hydra_eval.data.task_data import TaskData


def data_facts(data: TaskData, found: Documents, chosen: Chosen, *, pool: Sequence[SplitFacts] = ()) -> DataFacts:
    """The record for the results file."""
    source, choice = data.source, data.choice
    loaded = data.shelf.loaded.get(source.key)
    return DataFacts(
        source=source.kind,
        path=source.path,
        name=source.name,
        revision=(source.revision or FLOATING) if source.kind == "hub" else None,
        commit=None if loaded is None else loaded.commit,
        trust_remote_code=data.config.trust_remote_code,
        splits=found.splits,
        pool=tuple(pool),
        shuffle_seed=data.config.shuffle_seed,
        documents=len(found.docs),
        duplicates=chosen.duplicates,
        chosen_by=choice.name,
        subset=None if choice.subset is None else asdict(choice.subset),
        evaluated=len(chosen.docs),
        fingerprint=fingerprint(doc.row for doc in chosen.docs),
    )
