from __future__ import annotations

from pathlib import Path

import pytest

from .hook_worker import resolve_all
from .hooks import Census, jobs_of, table, take_census, tasks_of

FAMILIES = ("bbh", "coqa", "ifeval", "mmlu_prox", "noreval", "score", "squadv2", "super_glue", "unitxt", "xquad")
"""Of lm-eval's tree: relative and absolute imports, `lm_eval` names, classes, partials, dotted references."""
CODE = {
    "good": "def f(doc):\n    return doc\n",
    "needy": "import no_such_package_here\n",
    "late": "from json import no_such_name\n",
    "far": "class OfflineModeIsEnabled(Exception): pass\nraise OfflineModeIsEnabled\n",
    "asking": "raise RuntimeError('please pip install something')\n",
    "dead": "import os\nos._exit(7)\n",
    "slow": "while True: pass\n",
    "loud": "print('x' * 10**6)\ninput()\n",
    "wrong": "1 / 0\n",
    "leaving": "import sys\nsys.exit(3)\n",
}
CAUSES = {
    "needy": "package missing: no_such_package_here",
    "late": "gone upstream: 'no_such_name' from 'json'",
    "far": "needs the hub",
    "asking": "package missing: please pip install something",
    "dead": "ends the process (exit code 7)",
    "slow": "takes longer than 2 s",
    "loud": "other: EOFError: EOF when reading a line",
    "wrong": "other: ZeroDivisionError: division by zero",
    "leaving": "other: SystemExit: 3",
    "nowhere": "the tree: no such file or name",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task per module; `good` twice, once by way of an include."""
    folder = tmp_path_factory.mktemp("tree")
    for name, text in CODE.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    for name in [*CODE, "nowhere"]:
        (folder / f"{name}.yaml").write_text(f"task: {name}\nprocess_docs: !function {name}.f\n", encoding="utf-8")
    (folder / "again.yaml").write_text("task: again\ninclude: good.yaml\n", encoding="utf-8")
    (folder / "none.yaml").write_text("task: none\ndoc_to_text: x\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("hidden", [False, True], ids=["as installed", "lm_eval hidden"])
def test_every_failure_has_its_cause_and_none_ends_the_census(tree: Path, hidden: bool) -> None:
    census = take_census(tree, hidden=hidden, seconds=2)
    assert census.failures == {cause: {"references": 1, "modules": 1, "tasks": 1} for cause in CAUSES.values()}
    assert (census.tasks, census.references, census.modules) == (len(CODE) + 2, len(CODE) + 1, len(CODE) + 1)


def test_the_table_has_a_line_for_each_cause() -> None:
    counts = {"references": 2, "modules": 1, "tasks": 3}
    census = Census(tasks=9, references=8, modules=7, failures={"needs the hub": counts}, details={})
    assert table(census).splitlines() == [
        "9 tasks with 8 different references to 7 modules",
        "",
        "| tasks | modules | references | cause |",
        "|---|---|---|---|",
        "| 3 | 1 | 2 | needs the hub |",
    ]


@pytest.mark.parity
def test_task_code_of_lm_eval_resolves_or_says_what_it_lacks() -> None:
    tasks = pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    tree = Path(str(tasks.__file__)).parent
    jobs = [job for family in FAMILIES for job in jobs_of(tasks_of(tree / family))]
    found = list(resolve_all(jobs, tree, seconds=60, hidden=False))
    strange = [one for one in found if one.cause and not one.cause.startswith(("package missing", "gone", "needs"))]
    assert strange == []
    assert sum(one.cause is None for one in found) > 0.9 * len(found) > 200
