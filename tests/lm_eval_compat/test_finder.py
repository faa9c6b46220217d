"""Each test runs in a process of its own: what Python has found once, it does not look for again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..without_lm_eval import output_of

RESOLVE = """
from pathlib import Path
from hydra_eval.config.functions import function_reference, resolve_function
def found(folder, dotted):
    return resolve_function(function_reference(Path(folder), dotted), where="t")
"""


def tree(folder: Path, **files: str) -> Path:
    """Files of Python code; `__` in a name stands for a folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_file_of_a_task_folder_is_the_module_that_its_neighbours_import(tmp_path: Path) -> None:
    tree(tmp_path, x__table="WORDS = []\n", x__utils="from lm_eval.tasks.x.table import WORDS\n")
    code = RESOLVE + "print(found('x', 'utils.WORDS') is found('x', 'table.WORDS'))"
    assert output_of(code, cwd=tmp_path, HYDRA_EVAL_TASK_PATH=".") == "True\n"


def test_two_task_folders_with_a_file_of_the_same_place_keep_them_apart(tmp_path: Path) -> None:
    tree(tmp_path, one__x__utils="NAME = 'one'\n", two__x__utils="NAME = 'two'\n")
    code = RESOLVE + "print(found('one/x', 'utils.NAME'), found('two/x', 'utils.NAME'))"
    assert output_of(code, cwd=tmp_path, HYDRA_EVAL_TASK_PATH="one:two") == "one two\n"


def test_a_dotted_path_where_no_file_is(tmp_path: Path) -> None:
    tree(tmp_path, x__utils="NAME = 'x'\n")
    code = RESOLVE + "print(found('y', 'lm_eval.tasks.x.utils.NAME'))"
    assert output_of(code, cwd=tmp_path, HYDRA_EVAL_TASK_PATH=".") == "x\n"


def test_a_folder_inside_a_copy_of_lm_evals_tree_imports_from_all_of_it(tmp_path: Path) -> None:
    tree(tmp_path, lm_eval__tasks__x__table="N = 3\n", lm_eval__tasks__y__utils="from lm_eval.tasks.x.table import N\n")
    code = RESOLVE + "print(found('lm_eval/tasks/y', 'utils.N'))"
    assert output_of(code, cwd=tmp_path, HYDRA_EVAL_TASK_PATH="lm_eval/tasks/y") == "3\n"


def test_task_folders_named_later_are_found_too(tmp_path: Path) -> None:
    tree(
        tmp_path, one__x__utils="N = 1\n", two__y__utils="from lm_eval.tasks.y.more import N\n", two__y__more="N = 2\n"
    )
    code = RESOLVE + (
        "import os\n"
        "print(found('one/x', 'utils.N'))\n"
        "import lm_eval.tasks\n"
        "os.environ['HYDRA_EVAL_TASK_PATH'] = 'one:two'\n"
        "print(found('two/y', 'utils.N'))"
    )
    assert output_of(code, cwd=tmp_path, HYDRA_EVAL_TASK_PATH="one") == "1\n2\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import lm_eval.models", "lm_eval is not installed"),
        ("import lm_eval.tasks.nowhere", "No module named 'lm_eval.tasks.nowhere'"),
        ("from lm_eval.utils import nothing_such", "lm_eval_compat/utils.py"),
    ],
)
def test_what_the_stand_in_lacks_is_said(tmp_path: Path, statement: str, message: str) -> None:
    code = f"""
from hydra_eval.lm_eval_compat.finder import serve
serve(())
try:
    {statement}
except ImportError as error:
    print(error)
"""
    assert message in output_of(code, cwd=tmp_path)


def test_nothing_is_served_before_task_code_is_asked_for(tmp_path: Path) -> None:
    code = "import hydra_eval.tasks.build\n"
    code += "try:\n    import lm_eval\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert output_of(code, cwd=tmp_path) == "No module named 'lm_eval'\n"


@pytest.mark.parity
def test_an_installed_lm_eval_wins(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval.utils", reason="needs lm-evaluation-harness (extra: parity)")
    code = "from hydra_eval.lm_eval_compat.finder import serve; serve(()); import lm_eval; print(lm_eval.__file__)"
    assert "lm_eval_compat" not in output_of(code, cwd=tmp_path, hidden=False)


@pytest.mark.parametrize("hidden", [True, False], ids=["lm_eval hidden", "as installed"])
def test_a_removed_part_of_transformers_is_served(tmp_path: Path, hidden: bool) -> None:
    tree(
        tmp_path,
        utils="import transformers.data.metrics.squad_metrics as squad\nf1 = squad.compute_f1('a cat', 'Cat!')\n",
    )
    code = RESOLVE + "print(found('.', 'utils.f1'))"
    assert output_of(code, cwd=tmp_path, hidden=hidden) == "1.0\n"
