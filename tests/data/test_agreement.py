"""What processes tell each other of their rows, and what a run tells the next of its choice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hydra_eval.errors import UserError
from hydra_eval.fleet import Fleet
from hydra_eval.run_files import write_ids
from hydra_eval.runner import SAME_ROWS, check_agreement
from hydra_eval.tasks.task import chosen_ids, rows_digest

from ..toys import FRUIT, docs_of, shot_plan, toy_task


@pytest.mark.parametrize(
    ("rank", "local_rank", "leader"), [(0, 0, 0), (3, 3, 0), (8, 0, 8), (11, 3, 8)], ids=["0", "3", "8", "11"]
)
def test_the_first_process_of_a_machine_leads_it(
    monkeypatch: pytest.MonkeyPatch, rank: int, local_rank: int, leader: int
) -> None:
    monkeypatch.setenv("LOCAL_RANK", str(local_rank))
    assert Fleet(rank=rank, world=16, device="cpu").node_leader == leader


def test_a_process_alone_leads_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert Fleet(rank=0, world=1, device="cpu").node_leader == 0


def test_equal_rows_agree() -> None:
    task = toy_task()
    check_agreement([task], [{"toy": rows_digest(task)}, {"toy": rows_digest(toy_task())}], "rows", SAME_ROWS)


def test_other_examples_do_not_agree() -> None:
    one, other = toy_task(), toy_task(shots=shot_plan(docs_of(FRUIT[:2])))
    with pytest.raises(UserError, match=r"toy.yaml: 'toy' has other rows in each process. .* seed what it draws"):
        check_agreement([one], [{"toy": rows_digest(one)}, {"toy": rows_digest(other)}], "rows", SAME_ROWS)


def test_cells_with_the_same_documents_share_an_entry() -> None:
    first, second = (replace(toy_task(), name=f"toy|{shots}") for shots in (0, 5))
    fewer = replace(second, docs=second.docs[1:3])
    assert chosen_ids([first, second]) == {"toy": [0, 1, 2, 3]}
    assert chosen_ids([first, fewer]) == {"toy": [0, 1, 2, 3], "toy|5": [1, 2]}


def test_the_file_of_numbers(tmp_path: Path) -> None:
    path = write_ids(tmp_path, {"tö|5": [1, 2]})
    assert (path.name, json.loads(path.read_text(encoding="utf-8"))) == ("sample_ids.json", {"tö|5": [1, 2]})
