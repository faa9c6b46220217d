from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.commands.show import show
from hydra_eval.errors import UserError

from ..tables.files import HEAD, TEST, TRAIN
from ..toy_tasks import write_task
from ..toys import write_rows

pytestmark = pytest.mark.usefixtures("tasks")


def sections(*overrides: str, number: int = 0, answer: str | None = None) -> dict[str, str]:
    return dict(show([*overrides, "model=dummy", "tracker=none"], number=number, answer=answer))


def test_a_choice_is_shown_as_the_model_sees_it(tasks: Path) -> None:
    shown = sections("task=choice", "fewshot.n=1", number=2)
    assert f"file     {tasks / 'choice.yaml'}" in shown["choice"]
    assert '"question": "test 2: word1 word1 word1?"' in shown["document 2 of 4 (test, row 2)"]
    assert shown["target"] == "2"
    assert shown["choices"].splitlines() == ["0  'yes'", "1  'no'", "2  'maybe so'"]
    (prompt,) = (text for title, text in shown.items() if "prompt" in title)
    assert prompt.endswith("⏎\n⏎\ntest·2:·word1·word1·word1?")
    scored = [text for title, text in shown.items() if title.endswith(("1 token", "2 tokens")) and "scored" in title]
    assert scored == ["·yes", "·no", "·maybe·so"]


def test_the_examples_are_named_by_their_rows() -> None:
    shown = sections("task=choice", "fewshot_strategy=first_n", "fewshot.n=2")
    assert shown["2 examples (first_n)"] == "train 0, train 1"


def test_the_scored_ids_are_marked_and_a_prompt_is_shown_once() -> None:
    ids = [text for title, text in sections("task=choice").items() if title.endswith("ids")]
    assert [text.count("⟦") for text in ids] == [1, 1, 1]
    assert not ids[0].startswith("⟦")
    assert all(text.startswith("⟦") for text in ids[1:])


def test_every_step_of_a_filter_is_shown_on_an_answer() -> None:
    lines = sections("task=reply", answer="it is yes or no")["filter word"].splitlines()
    assert [line.split(maxsplit=1 if line[1] == " " else 2)[-1] for line in lines] == [
        "['it is yes or no']",
        "['yes']",
        "'yes'",
        "1.0",
    ]


def test_the_number_of_a_choice_stands_for_an_answer() -> None:
    right, wrong = (sections("task=choice", answer=answer)["filter none"] for answer in ("0", "1"))
    assert right.split()[-1] == "1.0"
    assert wrong.split()[-1] == "0.0"


def test_a_text_read_whole_gets_a_likelihood_as_answer(tasks: Path) -> None:
    write_task(tasks, "read", 2, output_type="loglikelihood_rolling", doc_to_text="", doc_to_target="{{question}}")
    reply, taken, *_ = sections("task=read", answer="0")["filter none"].splitlines()
    assert (reply.split()[-1], taken.split()[-1]) == ("[0.0]", "0.0")


def test_an_entry_that_asks_for_likelihoods_and_for_text(tmp_path: Path) -> None:
    metrics = "metrics=[Metrics.loglikelihood_acc, Metrics.exact_match]"
    entry = f"LightevalTaskConfig(name='both', prompt_function=pick, {metrics}, generation_size=8, **DATA)"
    (tmp_path / "table.py").write_text(f"{HEAD}\nTASKS_TABLE = [{entry}]\n", encoding="utf-8")
    (tmp_path / "org" / "set" / "default").mkdir(parents=True)
    for split, rows in (("train", TRAIN), ("test", TEST)):
        write_rows(tmp_path / "org" / "set" / "default" / f"{split}.jsonl", rows)
    shown = sections(f"task={tmp_path}/table.py:both", f"data.root={tmp_path}", answer="1")
    assert "'1'" in shown["filter none"]
    assert "(0.0, True)" in shown["filter none"]


@pytest.mark.parametrize(
    ("overrides", "options", "message"),
    [
        (["task=choice"], {"number": 4}, "--doc 4: 'choice' has the documents 0 to 3."),
        (["task=choice"], {"answer": "yes"}, "--answer yes: the model of 'choice' chooses between texts"),
        (["task=choise"], {}, "unknown task 'choise'. Did you mean 'choice'"),
        (["task=choice", "limitt=3"], {}, "no key 'limitt'"),
    ],
    ids=["no such document", "no such choice", "no such task", "no such key"],
)
def test_what_cannot_be_shown_is_said(overrides: list[str], options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as caught:
        sections(*overrides, **options)  # type: ignore[arg-type]
    assert message in str(caught.value)
