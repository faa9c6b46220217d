"""The JSON file of a benchmark: what was run on what, and how figures measured before are taken up again."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers.bounds import Verdict
from benchmarks.peers.comparing import Agreement
from benchmarks.peers.order import Figures, order_of
from benchmarks.peers.processes import OUT, Outcome

LIBRARIES = ("torch", "transformers")


def describe(args: argparse.Namespace) -> dict[str, Any]:
    """What decides the figures, as far as it can be named."""
    return {
        "machine": {"name": platform.node(), "processor": _processor(), "cores": os.cpu_count()},
        "libraries": {name: version(name) for name in LIBRARIES},
        "model": str(args.model.resolve()),
        "data": str(args.data.resolve()),
        "dtype": args.dtype,
        "device": args.device,
        "threads": args.threads,
        "documents": args.documents,
    }


def as_record(
    ours: Outcome | None, peers: Iterable[Outcome], agreements: Mapping[int, Agreement], verdicts: Sequence[Verdict]
) -> dict[str, Any]:
    """One setting."""
    return {
        "ours": asdict(ours) if ours else None,
        "peers": [asdict(peer) for peer in peers],
        "agreements": {str(batch): asdict(one) for batch, one in agreements.items()},
        "verdicts": [asdict(one) for one in verdicts],
    }


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Written whole after each setting: what is measured stays, whatever comes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(path.name + ".part")
    whole.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    whole.replace(path)


def earlier_settings(path: Path | None, present: Mapping[str, Any], *, is_wanted: bool) -> dict[str, Any]:
    """Name → record of each setting in an earlier run's file; none where that run was another one.

    Raises SystemExit for another one that `is_wanted`.
    """
    if path is None or not (is_wanted or path.exists()):
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    other = [key for key, value in present.items() if content["run"].get(key) != value]
    if other and is_wanted:
        told = "; ".join(f"{key}: {content['run'].get(key)} there, {present[key]} here" for key in other)
        raise SystemExit(f"--reuse {path}: its figures are of another run ({told}). Measure the peer again.")
    return {} if other else dict(content["settings"])


def outcomes_of(record: Mapping[str, Any]) -> list[Outcome]:
    """The peers in a setting's record that came to an answer, out of memory among them."""
    found = []
    for content in record.get("peers", ()):
        order, figures = order_of(content["order"]), content["figures"]
        if figures or content["failure"] == OUT:
            figures = figures and Figures(**figures)
            found.append(Outcome(**{**content, "order": order, "figures": figures, "is_reused": True}))
    return found


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
