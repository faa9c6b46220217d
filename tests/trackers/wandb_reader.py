"""Reads back what W&B wrote to an offline run's folder.

The `.wandb` file is a LevelDB log: after a 7-byte file header (magic, version) come blocks of 32 KiB, holding chunks of
a record, each under a 7-byte header: CRC-32 of type and payload, length, type (little-endian). A chunk is a whole
record, or the first, a middle or the last part of one; fewer than 7 bytes at the end of a block are padding.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024
FILE_HEADER = 7
CHUNK_HEADER = struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass
class OfflineRun:
    """One run as the log tells it."""

    folder: Path
    id: str = ""
    name: str = ""
    project: str = ""
    group: str = ""
    job_type: str = ""
    tags: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[Any] = field(default_factory=list)
    exit_code: int | None = None

    def table(self, key: str) -> list[dict[str, Any]]:
        """The table that the history shows under this key, a dictionary per line."""
        entry = next(row[key] for row in self.history if key in row)
        return _lines(_json(self.folder / "files" / entry["path"]))

    def table_artifact(self, key: str) -> list[dict[str, Any]]:
        """The same table as it will be uploaded."""
        return _lines(self._stored(key))

    def column_types(self, key: str) -> dict[str, set[str]]:
        """Column → W&B's names of the types that it takes."""
        types = self._stored(key)["column_types"]["params"]["type_map"]
        return {column: _type_names(kind) for column, kind in types.items()}

    def _stored(self, key: str) -> dict[str, Any]:
        return _json(self.artifact_files("run_table")[f"{key}.table.json"])

    def artifact_files(self, kind: str) -> dict[str, Path]:
        """Name in the artifact → waiting copy, over all artifacts of that type."""
        return {
            entry.path: Path(entry.local_path)
            for artifact in self.artifacts
            if artifact.type == kind
            for entry in artifact.manifest.contents
        }


def offline_runs(folder: Path) -> list[OfflineRun]:
    """All offline runs under a run folder, oldest first."""
    return [read_run(path) for path in sorted(folder.glob("wandb/offline-run-*/*.wandb"))]


def read_run(path: Path, *, patience: float = 20.0) -> OfflineRun:
    """Waits for the exit record: W&B's own process writes the end of the log some milliseconds after `finish`."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if (run := _read(path)).exit_code is not None:
                return run
            missing = "no exit record"
        except ValueError as error:
            missing = str(error)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path}: {missing}")
        time.sleep(0.02)


def _read(path: Path) -> OfflineRun:
    from wandb.proto import wandb_internal_pb2

    run = OfflineRun(folder=path.parent)
    for payload in payloads(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(payload)
        _apply(run, record)
    return run


def payloads(data: bytes) -> Iterator[bytes]:
    if data[:4] != b":W&B":
        raise ValueError(f"not a W&B log: starts with {data[:4]!r}")
    parts: list[bytes] = []
    for kind, chunk in _chunks(data):
        if kind in (FULL, FIRST) and parts:
            raise ValueError("a record begins within another")
        parts.append(chunk)
        if kind in (FULL, LAST):
            yield b"".join(parts)
            parts = []
    if parts:
        raise ValueError("the last record is torn")


def _chunks(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = FILE_HEADER
    while place + CHUNK_HEADER.size <= len(data):
        room = BLOCK - place % BLOCK
        if room < CHUNK_HEADER.size:
            place += room
            continue
        checksum, length, kind = CHUNK_HEADER.unpack_from(data, place)
        place += CHUNK_HEADER.size
        chunk = data[place : place + length]
        if zlib.crc32(bytes([kind]) + chunk) != checksum:
            raise ValueError(f"checksum differs at byte {place}")
        place += length
        yield kind, chunk


def _json(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def _lines(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], cells, strict=True)) for cells in table["data"]]


def _type_names(kind: dict[str, Any]) -> set[str]:
    if kind["wb_type"] == "union":
        return set().union(*(_type_names(inner) for inner in kind["params"]["allowed_types"]))
    return {kind["wb_type"]}


def _apply(run: OfflineRun, record: Any) -> None:
    match record.WhichOneof("record_type"):
        case "run":
            _apply_run(run, record.run)
        case "config":
            _merge(run.config, record.config.update)
        case "summary":
            _merge(run.summary, record.summary.update)
        case "history":
            run.history.append({})
            _merge(run.history[-1], record.history.item)
        case "artifact":
            run.artifacts.append(record.artifact)
        case "exit":
            run.exit_code = record.exit.exit_code


def _apply_run(run: OfflineRun, facts: Any) -> None:
    run.id, run.name, run.project = facts.run_id, facts.display_name, facts.project
    run.group, run.job_type, run.tags = facts.run_group, facts.job_type, list(facts.tags)
    _merge(run.config, facts.config.update)


def _merge(target: dict[str, Any], items: Iterable[Any]) -> None:
    """Sets what the items say; a path of keys stands for dictionaries within dictionaries."""
    for item in items:
        *path, last = item.nested_key or [item.key]
        inner = target
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = json.loads(item.value_json)
