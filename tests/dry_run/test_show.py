from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from hydra_eval.config.schema import ModelConfig
from hydra_eval.dry_run.report import DryRun, dry_run
from hydra_eval.dry_run.show import PROMPTS, REQUESTS, counts_table, first_prompts, forecast
from hydra_eval.models import load_encoder, load_tokenizer
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.fitting import limits_of
from hydra_eval.prompts.style import Style
from hydra_eval.tasks.task import Task

from ..toys import COLOURS, docs_of, shot_plan, toy_task


def found(*tasks: Task, window: int = 1000, overflow: str | Sequence[str] = "cut_left") -> DryRun:
    model = ModelConfig(kind="dummy", max_length=window)
    encoder = load_encoder(model, load_tokenizer(model))
    work = prepare(tasks, Style(), batch_tokens=100, limits=limits_of(overflow, encoder))
    return dry_run(work, encoder, model, ["seed: nothing is drawn."])


def named(name: str, output_type: str = "multiple_choice", n: int = 0) -> Task:
    docs = docs_of(COLOURS, task=name)
    return replace(
        toy_task(output_type),
        name=name,
        docs=docs,
        all_docs=docs,
        shots=shot_plan(n=n, strategy="first_n"),
        config={"task": name},
    )


def table_of(run: DryRun) -> list[list[str]]:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(counts_table(run))
    return [line.split() for line in capture.get().splitlines() if line.split() and "─" not in line]


def test_one_line_per_task_and_one_for_all() -> None:
    assert [line[0] for line in table_of(found(named("a"), named("b", "generate_until")))] == ["task", "a", "b", "all"]
    assert [line[0] for line in table_of(found(named("a")))] == ["task", "a"]


def test_every_number_has_its_column() -> None:
    # Prompts of 6, 8, 7 and 6 words; replies of 16 tokens.
    (_, line) = table_of(found(named("a", "generate_until")))
    rows, requests, prompt, scored, reply, longest, too_long, to_run, shared, saved = line[1:]
    assert (rows, requests, prompt, scored, reply) == ("4", "4", "27", "0", "64")
    assert (longest, too_long, to_run) == ("24", "0", "27")
    # The five words that all begin with are run once.
    assert (shared, saved) == ("12", "55.6%")


@pytest.mark.parametrize(
    ("overflow", "window", "told"),
    [
        # Two examples of 9 and 8 words, questions of 6, 8, 7 and 6, replies of 16 tokens.
        ("cut_left", 24, "4 cut by 63 tokens (prompt.overflow=[cut_left])."),
        (["drop_shots"], 39, "2 with 2 fewer examples (prompt.overflow=[drop_shots])."),
        (["drop_shots", "skip"], 23, "3 with 6 fewer examples, 1 left out (prompt.overflow=[drop_shots,skip])."),
    ],
    ids=["cut", "fewer examples", "left out"],
)
def test_what_becomes_of_long_prompts_is_told(overflow: str | list[str], window: int, told: str) -> None:
    run = found(named("a", "generate_until", n=2), window=window, overflow=overflow)
    assert f"a: documents too long: {told}" in forecast(run)


def test_what_it_comes_to() -> None:
    lines = forecast(found(named("a", "generate_until")))
    assert lines == [
        "Model: dummy, a window of 1,000 tokens.",
        "To run: 27 tokens; 12 where common beginnings run once, and up to 64 tokens of replies.",
        "No effect: seed: nothing is drawn.",
    ]
    assert "replies" not in " ".join(forecast(found(named("a"))))


def test_of_many_tasks_the_first_prompts_are_shown() -> None:
    titles = [title for title, _ in first_prompts(found(*(named(f"t{number}") for number in range(PROMPTS + 2))))]
    assert [title.partition(":")[0] for title in titles if "document 0 " in title] == ["t0", "t1", "t2"]
    assert titles[-1] == "2 more tasks"


def test_of_many_choices_the_first_are_shown() -> None:
    rows = [{**row, "colours": list("abcdef")} for row in COLOURS]
    docs = docs_of(rows)
    titles = [title for title, _ in first_prompts(found(toy_task(docs=docs, all_docs=docs)))]
    assert sum("scored" in title for title in titles) == REQUESTS
    assert titles[-1] == "2 more requests"
