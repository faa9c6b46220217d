"""Every wording of every kind of task on made-up rows: prompts and token ids, tokenizers with BOS and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from .catalogue import Found, found_below, tasks_below
from .conftest import REPOSITORY
from .prompts import Scope, compare_task
from .sides import PLAIN
from .tiny import build

pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")

from .tokens import tokens_of
from .wordings import VARIANTS, chat_wordings

pytestmark = pytest.mark.parity

ACC = [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("acc", "acc_mutual_info")]
KINDS: dict[str, dict[str, Any]] = {
    "choices": {
        "output_type": "multiple_choice",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_choice": "{{words}}",
        "doc_to_target": "answer",
        "metric_list": ACC,
    },
    "blanks": {
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}} \n",
        "doc_to_choice": ["yes ", " no", "\tit may be"],
        "doc_to_target": "answer",
        "target_delimiter": "",
        "fewshot_delimiter": "\n",
        "metric_list": ACC,
    },
    "contexts": {
        "output_type": "multiple_choice",
        "doc_to_text": "answer",
        "doc_to_choice": "{{[question ~ ' ' ~ words[0], question ~ ' ' ~ words[1], words[2]]}}",
        "doc_to_target": "was meant by {{question}}",
        "metric_list": ACC[:1],
    },
    "continuation": {
        "output_type": "loglikelihood",
        "doc_to_text": "{{question}}",
        "doc_to_target": " {{words[answer]}}",
        "metric_list": ACC[:1],
    },
    "reply": {
        "doc_to_text": "Q: {{question}}\nA:",
        "doc_to_target": "{{words[answer]}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8},
    },
    "written out": {
        "doc_to_text": "{{question}} {{words[answer]}}\n\n",
        "doc_to_target": "",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 2000},
        "description": "{{words[0]}}, and so on: ",
    },
}
TRAIN, TEST = 6, 5


def row(number: int) -> dict[str, Any]:
    """The question 0 comes twice, under two ids: the same to read, though not the same row."""
    words = [f"word{number % 4}", "naïve", f"  {'long ' * (number % 3 + 1)}one"]
    return {
        "id": number,
        "question": f"What is {number % 7}, said {number % 5} times?",
        "words": words,
        "answer": number % 3,
    }


def write(folder: Path) -> None:
    for split, numbers in (("train", range(TRAIN)), ("test", [105 * 4, *range(TRAIN, TRAIN + TEST - 1)])):
        lines = (json.dumps(row(number)) for number in numbers)
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, keys in KINDS.items():
        data = {
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"train": "train.jsonl", "test": "test.jsonl"}},
        }
        splits = {"training_split": "train", "test_split": "test"}
        content = {"task": name.replace(" ", "_"), **data, **splits, **keys}
        (folder / f"{content['task']}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    folder = tmp_path_factory.mktemp("kinds")
    write(folder)
    return {one.task.name.replace("_", " "): one for one in found_below(folder, tasks_below(folder))}


@pytest.fixture(scope="module", params=[False, True], ids=["without BOS", "with BOS"])
def scope(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scope:
    folder = build(tmp_path_factory.mktemp("model"), tasks=REPOSITORY / "tasks" / "demo", bos=request.param)
    return Scope(wordings=(PLAIN, *chat_wordings(folder)), shots=(0, 2), tokens=tokens_of(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_same_prompts_and_ids(kind: str, found: dict[str, Found], scope: Scope, tmp_path: Path) -> None:
    verdicts = compare_task(found[kind], tmp_path, scope, VARIANTS)
    assert [(one.wording, one.shots, one.skipped, one.wrong) for one in verdicts if one.skipped or one.wrong] == []
    assert len(verdicts) == len(scope.wordings) * len(VARIANTS) * len(scope.shots)
    assert all(one.docs == TEST and one.ids >= TEST - 1 for one in verdicts)
    assert any(one.leaking for one in verdicts)
