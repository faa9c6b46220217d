"""Reading from a hub, played by a server on this machine; in processes of their own, which read its address once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .fake_hub import COMMIT, Hub, serving

FILES = {
    "README.md": b"---\nlicense: mit\n---\nA data set.\n",
    "train.jsonl": b'{"n": 1}\n{"n": 2}\n',
    "test.jsonl": b'{"n": 3}\n',
    "more/x.csv": b"4,5\n",
}
PINNED = {"revision": "v1", "data_files": {"test": "more/x.csv"}, "column_names": ["a", "b"], "header": None}
CASES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "pinned": {"dataset_kwargs": PINNED},
    "builder": {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "hf://datasets/org/name/test.jsonl"}},
    },
    "no data set": {"dataset_path": "org/none"},
    "no subset": {"dataset_name": "subs"},
}
READER = """
import json, sys, time
from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of
from hydra_eval.errors import UserError

for asked in json.loads(sys.argv[1]):
    begin = time.monotonic()
    try:
        loaded = load(source_of(TaskConfig(task="t", file="t.yaml", **asked), DataConfig()), retries=2)
        found = {"splits": {split: list(rows) for split, rows in loaded.splits.items()}, "commit": loaded.commit}
    except UserError as error:
        found = {"error": str(error)}
    print(json.dumps(found | {"seconds": time.monotonic() - begin}))
"""


def read(endpoint: str, home: Path, *cases: str) -> list[dict[str, Any]]:
    """What a fresh process makes of each case, with nothing in its caches but what `home` has."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    asked = [{"dataset_path": "org/name", **CASES[case]} for case in cases]
    command = [sys.executable, "-c", READER, json.dumps(asked)]
    done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def online(home: Path) -> Iterator[dict[str, Any]]:
    """Every case, from a hub that answers; and what it was asked."""
    with serving(Hub(repo="org/name", files=FILES)) as hub:
        yield dict(zip(CASES, read(hub.endpoint, home, *CASES), strict=True)) | {"asked": hub.asked}


def test_a_data_set_with_its_commit(online: dict[str, Any]) -> None:
    assert online["plain"]["splits"] == {"train": [{"n": 1}, {"n": 2}], "test": [{"n": 3}]}
    assert online["plain"]["commit"] == COMMIT


def test_a_revision_and_files_of_the_repository(online: dict[str, Any]) -> None:
    assert online["pinned"]["splits"] == {"test": [{"a": 4, "b": 5}]}
    assert any("/resolve/v1/" in request for request in online["asked"])


def test_a_builder_over_files_on_the_hub(online: dict[str, Any]) -> None:
    assert online["builder"]["splits"] == {"test": [{"n": 3}]}


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("no data set", "'org/none' cannot be had from the hub: DatasetNotFoundError"),
        ("no subset", "'org/name/subs' cannot be had from the hub: .*'subs' not found. Available"),
    ],
)
def test_what_is_not_there_is_asked_for_once(online: dict[str, Any], case: str, message: str) -> None:
    assert online[case]["seconds"] < 5
    assert re.search(message, online[case]["error"])


def test_without_the_hub_the_cache_is_read_and_nothing_is_waited_for(online: dict[str, Any], home: Path) -> None:
    cached, missing = read("http://127.0.0.1:9", home, "plain", "no data set")
    assert (cached["splits"], cached["commit"]) == (online["plain"]["splits"], COMMIT)
    assert "is not cached here and the hub cannot be reached" in missing["error"]
    assert cached["seconds"] + missing["seconds"] < 5


def test_a_busy_hub_is_asked_again(tmp_path: Path) -> None:
    with serving(Hub(repo="org/name", files=FILES, busy=1)) as hub:
        (found,) = read(hub.endpoint, tmp_path, "plain")
    assert found["commit"] == COMMIT
