"""All prompts of lm-eval's tasks on the data at hand: the first documents here, every one in prompts.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hydra_eval.errors import UserError

from .catalogue import found_below, tasks_below
from .conftest import DATA
from .prompts import SHELF, Scope, compare_task, numbers_of_shots
from .sides import Asked, Seen
from .verdicts import Verdict, compared, first_difference, refused

DATA_SETS = sorted(str(path.relative_to(DATA)) for path in DATA.glob("*/*") if path.is_dir())
DOCS = 10


@pytest.fixture(scope="module")
def wordings() -> tuple[object, ...]:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    from .wordings import few_wordings

    return few_wordings()


def verdicts_of(data_set: str, **options: object) -> list[Verdict]:
    """Of every task of one data set; skips where there is none."""
    tasks = [found for found in found_below(DATA) if found.task.data_set[0] == data_set]
    verdicts = [verdict for found in tasks for verdict in compare_task(found, DATA, Scope(**options))]
    if all(verdict.skipped for verdict in verdicts):
        pytest.skip("; ".join(f"{verdict.task}: {verdict.skipped}" for verdict in verdicts) or "no task of lm-eval's")
    return verdicts


@pytest.mark.parity
@pytest.mark.parametrize("data_set", DATA_SETS)
def test_same_prompts(data_set: str, wordings: tuple[object, ...], tmp_path: Path) -> None:
    verdicts = verdicts_of(data_set, wordings=wordings, limit=DOCS)
    assert [(one.task, one.wording, one.shots, one.wrong) for one in verdicts if one.wrong] == []


SHELF_TASKS = ("arc_easy", "gsm8k", "humaneval", "lambada_openai", "winogrande", "demo_scales")
"""One of each kind of request, and of each place of the data."""


@pytest.mark.parity
@pytest.mark.parametrize("name", SHELF_TASKS)
def test_same_prompts_of_the_shelf(name: str, wordings: tuple[object, ...], data_root: Path) -> None:
    from .wordings import VARIANTS

    (found,) = (one for one in found_below(data_root, tasks_below(SHELF)) if one.task.name == name)
    verdicts = compare_task(found, data_root, Scope(wordings=wordings, limit=3), VARIANTS[::3])
    assert [(one.wording, one.shots, one.skipped, one.wrong) for one in verdicts if one.wrong or one.skipped] == []
    assert {one.docs for one in verdicts} == {3}


@pytest.mark.parity
def test_only_documents_that_are_their_own_examples_differ(data_root: Path) -> None:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    (verdict,) = [
        verdict
        for found in found_below(data_root)
        if found.task.name == "lambada_openai"
        for verdict in compare_task(found, data_root, Scope(shots=(25,), limit=101))
    ]
    assert verdict.leaking > 0
    assert verdict.wrong == ()


ASKED = Asked(doc_hash="d", target_hash="t", prompt_hash="p", arguments=(("question", " answer"),))
SAME = Seen(docs={0: ASKED, 1: ASKED})


@pytest.mark.parametrize(
    ("theirs", "ours", "wrong"),
    [
        pytest.param(SAME, SAME, [], id="nothing"),
        pytest.param(SAME, Seen(docs={0: ASKED}), ["document 1 is in one program only"], id="a document"),
        pytest.param(
            SAME, replace(SAME, replaced=1), ["0 examples leak in lm-eval, 1 were replaced"], id="replacements"
        ),
        pytest.param(
            replace(SAME, leaks={0: 1}), replace(SAME, replaced=1), ["document 0 is its own example"], id="a leak stays"
        ),
    ],
)
def test_compared(theirs: Seen, ours: Seen, wrong: list[str]) -> None:
    assert list(compared(theirs, ours)) == wrong


@pytest.mark.parametrize(
    ("change", "where"),
    [
        pytest.param(lambda asked: replace(asked, doc_hash="x"), "doc_hash", id="document"),
        pytest.param(lambda asked: replace(asked, target_hash="x"), "target_hash", id="target"),
        pytest.param(lambda asked: replace(asked, prompt_hash="x"), "prompt", id="prompt"),
        pytest.param(lambda asked: replace(asked, arguments=(("question", "answer"),)), "arguments", id="arguments"),
    ],
)
def test_sees(change: Callable[[Asked], Asked], where: str) -> None:
    (wrong,) = compared(SAME, Seen(docs={0: ASKED, 1: change(ASKED)}))
    assert wrong.startswith(f"document 1: {where}: ")


@pytest.mark.parametrize(
    ("message", "skipped"),
    [("images are not supported yet.", True), ("only 1 other row is in the pool.", True), ("no column 'x'.", False)],
    ids=["kind of task", "small pool", "anything else"],
)
def test_refusals_on_purpose_are_no_differences(message: str, skipped: bool) -> None:
    verdict = refused(Verdict(task="toy"), UserError(message))
    assert (verdict.skipped is not None, bool(verdict.wrong)) == (skipped, not skipped)


def test_a_leak_excuses_the_prompt_alone() -> None:
    other = replace(ASKED, prompt_hash="x", arguments=(("another question", " answer"),))
    leaking = replace(SAME, leaks={0: 1})
    assert compared(leaking, Seen(docs={0: other, 1: ASKED}, replaced=1)) == ()
    assert len(compared(leaking, Seen(docs={0: replace(other, target_hash="x"), 1: ASKED}, replaced=1))) == 1
    assert len(compared(leaking, Seen(docs={0: other, 1: other}, replaced=1))) == 1


def test_first_difference_shows_where_texts_part() -> None:
    theirs, ours = (f"{'x' * 100} the end is {word}" for word in ("here", "there"))
    assert first_difference(((theirs, "a"),), ((ours, "a"),)) == (
        f"lm-eval …{theirs[-34:]!r}, hydra-eval …{ours[-35:]!r}"
    )


@pytest.mark.parametrize(
    ("own", "numbers"),
    [pytest.param(None, [0, 3], id="none"), pytest.param(0, [0], id="pinned"), pytest.param(8, [0, 8, 3], id="eight")],
)
def test_numbers_of_shots(own: int | None, numbers: list[int]) -> None:
    assert numbers_of_shots(own, (0, None, 3)) == numbers
