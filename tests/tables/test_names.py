from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.errors import UserError
from hydra_eval.tables.names import static_names


def names_in(folder: Path, source: str) -> list[str] | None:
    path = folder / "table.py"
    path.write_text(source, encoding="utf-8")
    return static_names(path)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1", None),
        ("def f():\n    TASKS_TABLE = [C(name='a')]", None),
        ("TASKS_TABLE = []", []),
        ("TASKS_TABLE = [C(name='a'), C('b', f)]", ["a", "b"]),
        ("a = C(name='a')\nTASKS_TABLE: list = [a]", ["a"]),
        ("a = [C(name='a')]\nb = [C(name='b')]\nTASKS_TABLE = a + [*b]", ["a", "b"]),
        ("TASKS_TABLE = []\nTASKS_TABLE.append(C(name='a'))\nTASKS_TABLE.extend([C(name='b')])", ["a", "b"]),
        ("TASKS_TABLE = [C(name='a')]\nTASKS_TABLE += [C(name='b')]", ["a", "b"]),
        ("TASKS_TABLE = [C(name=f'x:{n}') for n in SUBSETS] + [C(name='a')]", ["a"]),
        ("TASKS_TABLE = TASKS_TABLE = [C(name='a'), C(name='a')]", ["a"]),
        ("raise SystemExit\nTASKS_TABLE = [C(name='a')]", ["a"]),
    ],
    ids=[
        "no table",
        "inside a function",
        "empty",
        "calls",
        "variable",
        "sum and star",
        "append and extend",
        "augmented",
        "computed",
        "repeated",
        "never run",
    ],
)
def test_names_as_far_as_they_are_written_out(tmp_path: Path, source: str, names: list[str] | None) -> None:
    assert names_in(tmp_path, source) == names


def test_a_file_that_is_not_python(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"table\.py: cannot be read as Python"):
        names_in(tmp_path, "TASKS_TABLE = [")
