from __future__ import annotations

from hydra_eval.results.thinking import thinking_facts, unclosed_lines

from ..trackers.rows import choice_row, generation_row

THOUGHT = "so</think>"


def test_each_reply_counts_once_whatever_the_filters() -> None:
    rows = [generation_row(0, filter=name, reasoning=(THOUGHT,)) for name in ("strict", "flexible")]
    rows += [generation_row(1), generation_row(2, finish_reasons=("stop", "length"), reasoning=(THOUGHT, None))]
    assert thinking_facts(rows) == {"replies": 4, "unclosed": 2}


def test_what_is_no_reply_does_not_count() -> None:
    assert thinking_facts([choice_row(0)]) == {"replies": 0, "unclosed": 0}


def test_tasks_with_unclosed_replies_are_named() -> None:
    facts = {"a": {"replies": 4, "unclosed": 0}, "b": {"replies": 4, "unclosed": 3}}
    (line,) = unclosed_lines(facts)
    assert line.startswith("b: 3 of 4 replies have no model.think_end_token")
