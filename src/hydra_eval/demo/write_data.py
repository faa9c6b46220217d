"""Write the rows of the demo tasks: `python -m hydra_eval.demo.write_data [FOLDER]` (default: tasks/demo)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hydra_eval.demo.documents import Document
from hydra_eval.demo.splits import SPLITS


def jsonl(documents: list[Document]) -> str:
    """One row a line, with a line break at the end."""
    return "".join(json.dumps(document.row, ensure_ascii=False) + "\n" for document in documents)


def data_files() -> dict[str, str]:
    """File name → text of each split of each task."""
    return {f"{task}_{split}.jsonl": jsonl(make(split)) for task, make in SPLITS.items() for split in ("train", "test")}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in data_files().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "tasks/demo"))
