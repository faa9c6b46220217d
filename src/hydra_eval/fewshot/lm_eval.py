"""lm-eval's own picks (0.4.13, `lm_eval.api.samplers`), minus its leaks.

One `random.Random(seed)` per task is consumed document by document, so a document's examples depend on all draws
before it. Here that happens over all documents before sharding: the number of processes cannot change a prompt. Where
an example would be the document itself, only that prompt differs from lm-eval's: the example is replaced from a
generator of its own, and the shared one goes on as if nothing had happened.
"""

from __future__ import annotations

import random

from hydra_eval.fewshot.picks import Candidates, Draw, Strategy, mended
from hydra_eval.records import Doc


def default(draw: Draw) -> Candidates:
    """lm-eval's `default` sampler: n rows at random for each document."""
    shared = random.Random(draw.plan.seed)
    return mended(draw, [_drawn(shared, draw, doc) for doc in draw.docs], fills=True)


def _drawn(shared: random.Random, draw: Draw, doc: Doc) -> list[Doc]:
    """The rows that lm-eval draws for one document, consuming `shared` exactly as it does; none where it fails."""
    pool, n, excludes = draw.plan.pool, draw.plan.n, draw.plan.excludes_doc
    if len(pool) < n + excludes:
        return []
    if not excludes:
        return shared.sample(pool, n)
    kept = [shot for shot in shared.sample(pool, n + 1) if shot.row != doc.row][:n]
    if len(kept) < n:
        rest = [shot for shot in pool if shot.row != doc.row]
        kept = shared.sample(rest, n) if len(rest) >= n else []
    return kept


def first_n(draw: Draw) -> Candidates:
    """lm-eval's `first_n` sampler: the first rows of the pool, without the document where lm-eval takes it out."""
    pool = draw.plan.pool
    if not draw.plan.excludes_doc:
        return lambda doc, free: pool
    return lambda doc, free: (shot for shot in pool if shot.row != doc.row)


SAMPLERS: dict[str, Strategy] = {"default": default, "first_n": first_n}
