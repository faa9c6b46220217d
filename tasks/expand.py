"""Writes the files of families whose tasks differ in a few words, and of their groups: `python tasks/expand.py`.

`FAMILY/_table` holds `rows` (words by column; a list stands for one row per item), `tasks` and `groups` (names, each
with the text of its file). In names and texts `$column` stands for the row's word, `${column_words}` for the same with
blanks and `${column_dashed}` with hyphens in place of underscores, `$members` for the tasks of a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from string import Template
from typing import Any

import yaml

SHELF = Path(__file__).resolve().parent
NOTE = "# Written by tasks/expand.py from _table: change that.\n"


def main(shelf: Path = SHELF) -> None:
    """Write every family's files, and remove those that its table no longer has."""
    for table in sorted(shelf.glob("*/_table")):
        files = expanded(yaml.safe_load(table.read_text(encoding="utf-8")))
        for path in table.parent.glob("*.yaml"):
            if path.name not in files and path.read_text(encoding="utf-8").startswith(NOTE):
                path.unlink()
        for name, text in files.items():
            (table.parent / name).write_text(text, encoding="utf-8")


def expanded(table: Mapping[str, Any]) -> dict[str, str]:
    """File name → text."""
    tasks: dict[str, str] = {}
    groups: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    rows = [_with_variants(row) for columns in table["rows"] for row in _rows(columns)]
    for row in rows:
        names = {_filled(name, row): _filled(text, row) for name, text in table["tasks"].items()}
        tasks |= names
        for name in table.get("groups", {}):
            members.setdefault(_filled(name, row), []).extend(names)
    for row in rows:
        for name, text in table.get("groups", {}).items():
            listed = "".join(f"\n  - {member}" for member in members[_filled(name, row)])
            groups[_filled(name, row)] = _filled(text, {**row, "members": listed})
    return {f"{name}.yaml": NOTE + text for name, text in (tasks | groups).items()}


def _rows(columns: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    choices = (value if isinstance(value, list) else [value] for value in columns.values())
    for words in product(*choices):
        yield dict(zip(columns, words, strict=True))


def _with_variants(row: Mapping[str, str]) -> dict[str, str]:
    words = {f"{column}_words": word.replace("_", " ") for column, word in row.items()}
    dashed = {f"{column}_dashed": word.replace("_", "-") for column, word in row.items()}
    return {**row, **words, **dashed}


def _filled(text: str, row: Mapping[str, str]) -> str:
    return Template(text).substitute(row)


if __name__ == "__main__":
    main()
