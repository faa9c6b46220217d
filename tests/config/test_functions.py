from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from hydra_eval.config.functions import function_reference, is_function_reference, resolve_callable, resolve_function
from hydra_eval.errors import UserError


def module(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("value", "expected"),
    [("!function /a/utils.f", True), ("!functionless", False), ("see !function x.y", False), (3, False), (None, False)],
)
def test_what_is_a_reference(value: object, expected: bool) -> None:
    assert is_function_reference(value) is expected


def test_two_folders_with_a_utils_each_get_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        module(tmp_path / name / "utils.py", f"def f():\n    return '{name}'\n")
    found = [resolve_callable(function_reference(tmp_path / name, "utils.f"), where="t") for name in ("one", "two")]
    assert [f() for f in found] == ["one", "two"]


def test_a_module_is_imported_once_for_all_its_functions(tmp_path: Path) -> None:
    module(tmp_path / "utils.py", "seen = []\ndef add():\n    seen.append(1)\n")
    resolve_callable(function_reference(tmp_path, "utils.add"), where="t")()
    assert resolve_function(function_reference(tmp_path, "utils.seen"), where="t") == [1]


@pytest.mark.parametrize("imported", ["from .table import WORDS", "from . import table; WORDS = table.WORDS"])
def test_a_relative_import_finds_the_neighbour(tmp_path: Path, imported: str) -> None:
    module(tmp_path / "table.py", "WORDS = ['a']\n")
    module(tmp_path / "utils.py", f"{imported}\n")
    assert resolve_function(function_reference(tmp_path, "utils.WORDS"), where="t") == ["a"]


def test_a_relative_import_finds_the_folder_above(tmp_path: Path) -> None:
    module(tmp_path / "table.py", "WORDS = ['a']\n")
    module(tmp_path / "deep" / "utils.py", "from ..table import WORDS\n")
    assert resolve_function(function_reference(tmp_path / "deep", "utils.WORDS"), where="t") == ["a"]


@pytest.mark.parametrize("dotted", ["deep.utils.f", "deep/utils.f"])
def test_a_file_in_a_folder_below(tmp_path: Path, dotted: str) -> None:
    module(tmp_path / "deep" / "utils.py", "def f():\n    return 7\n")
    assert resolve_callable(function_reference(tmp_path, dotted), where="t")() == 7


@pytest.mark.parametrize("folder", ["with space", "with.dot", "über"])
def test_folders_with_odd_names(tmp_path: Path, folder: str) -> None:
    module(tmp_path / folder / "utils.py", "def f():\n    return 7\n")
    assert resolve_callable(function_reference(tmp_path / folder, "utils.f"), where="t")() == 7


def test_what_is_no_function_but_can_be_called(tmp_path: Path) -> None:
    module(tmp_path / "utils.py", "from functools import partial\nf = partial(int, base=2)\nclass C:\n    pass\n")
    assert isinstance(resolve_callable(function_reference(tmp_path, "utils.f"), where="t"), partial)
    assert isinstance(resolve_callable(function_reference(tmp_path, "utils.C"), where="t"), type)


@pytest.mark.parametrize("reference", ["!function {}/os.path.join", "!function {}/os.path:join", "os.path:join"])
def test_an_installed_module_where_no_file_is(tmp_path: Path, reference: str) -> None:
    import os.path

    assert resolve_function(reference.format(tmp_path), where="t") is os.path.join


@pytest.mark.parametrize("reference", ["!function utils.f", "!function deep/utils.f"])
def test_a_reference_typed_on_the_command_line_counts_from_the_tasks_file(tmp_path: Path, reference: str) -> None:
    module(tmp_path / "utils.py", "def f():\n    return 'utils'\n")
    module(tmp_path / "deep" / "utils.py", "def f():\n    return 'deep/utils'\n")
    found = resolve_callable(reference, where=str(tmp_path / "t.yaml"))
    assert f"!function {found()}.f" == reference


def test_a_file_beside_the_yaml_wins_over_an_installed_module(tmp_path: Path) -> None:
    module(tmp_path / "json.py", "def dumps(x):\n    return 'mine'\n")
    assert resolve_callable(function_reference(tmp_path, "json.dumps"), where="t")({}) == "mine"


@pytest.mark.parametrize(
    ("dotted", "message"),
    [
        ("util.f", r"'!function util.…' wants the file .*/util.py, which does not exist"),
        ("nowhere.deep.f", r"wants the file .*/nowhere/deep.py, which does not exist"),
        ("f", r"'!function f' names no file; write '!function file.f'"),
        ("utils.celan", r"utils.py has no 'celan'. Did you mean 'clean'\?"),
        ("broken.f", r"cannot import .*/broken.py: ZeroDivisionError: division by zero \(.*/broken.py, line 1\)"),
        ("wrong.f", "cannot import .*/wrong.py: SyntaxError: "),
        ("needy.f", r"/needy.py: ModuleNotFoundError: .*/needy.py, line 1\). Install the package 'not_installed_here'"),
        ("leaving.f", r"cannot import .*/leaving.py: SystemExit: bye \(.*/leaving.py, line 2\)"),
        ("broken.sub.f", r"'!function broken.sub.…' wants the file .*/broken/sub.py, which does not exist"),
        ("utils.LIMIT", "'.*utils.LIMIT' is of type int, not a function"),
        (".utils.clean", "cannot import"),
    ],
)
def test_what_is_wrong_with_a_reference(tmp_path: Path, dotted: str, message: str) -> None:
    module(tmp_path / "utils.py", "LIMIT = 3\ndef clean(doc):\n    return doc\n")
    module(tmp_path / "broken.py", "1 / 0\n")
    module(tmp_path / "wrong.py", "def f(:\n")
    module(tmp_path / "needy.py", "import not_installed_here\n")
    module(tmp_path / "leaving.py", "import sys\nsys.exit('bye')\n")
    with pytest.raises(UserError, match=f"(?s)^t.yaml: .*{message}"):
        resolve_callable(function_reference(tmp_path, dotted), where="t.yaml")


def test_a_failed_import_keeps_its_cause(tmp_path: Path) -> None:
    module(tmp_path / "broken.py", "1 / 0\n")
    with pytest.raises(UserError) as caught:
        resolve_callable(function_reference(tmp_path, "broken.f"), where="t")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_resolving_leaves_the_search_path_alone(tmp_path: Path) -> None:
    module(tmp_path / "utils.py", "def f():\n    return 1\n")
    before = list(sys.path)
    resolve_callable(function_reference(tmp_path, "utils.f"), where="t")
    assert sys.path == before


@pytest.mark.parity
def test_a_file_of_lm_evals_tree_is_the_module_that_its_neighbours_import() -> None:
    pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    from lm_eval.tasks.mmlu_prox import lang_libs

    folder = Path(str(lang_libs.__file__)).parent
    assert resolve_function(function_reference(folder, "lang_libs.LANG_LIBS"), where="t") is lang_libs.LANG_LIBS
