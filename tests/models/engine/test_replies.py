"""Rows that come and go say what each prompt gets by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids
from hydra_eval.models.engine import trunk as trunk_module
from hydra_eval.models.engine.replies import Flight, Pilot, fly
from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.engine.trunk import NO_PREFIX
from hydra_eval.models.replies import Manner, Wanted, find_ending
from hydra_eval.records import Generation, InstanceKey

from .families import EXACT, VOCABULARY, family, plain_engine, tree_engine, trunk_of

START: Ids = tuple(range(10, 25))
PROMPTS: tuple[Ids, ...] = (
    (*START, 3, 4, 5),
    (*START, 3, 4),
    (*START, 3, 4, 5, 9, 9, 2),
    START,
    (7,),
    (*START[:6], 8),
    (*START, 3, 4),
    (5, 5, 5, 40),
)
"""One begins another, two are equal, and some do not begin as most do."""
EOS = (11, 30)


def spell(ids: Sequence[int]) -> str:
    """A text in which stop strings may lie across tokens."""
    return "".join(f"{token:02d}" for token in ids)


def manner(*, stops: tuple[str, ...] = (), eos_ids: tuple[int, ...] = EOS, room: int = 12, **fields: Any) -> Manner:
    generation = Generation(max_new_tokens=room, stop=stops, **fields)
    return Manner(generation=generation, eos_ids=eos_ids, stops=stops, pad_id=0, decode=spell)


def wanted(prompts: Sequence[Ids], *, sampled: bool = False) -> list[Wanted]:
    return [
        Wanted(prompt, InstanceKey("t", at, 0, 0), 100 + at if sampled else None) for at, prompt in enumerate(prompts)
    ]


def ended(rows: Sequence[Sequence[int]], how: Manner) -> list[list[int]]:
    """The replies up to their ends: rows of a padded batch go on."""
    endings = [find_ending(row, how) for row in rows]
    return [list(row[: ending.tokens]) for row, ending in zip(rows, endings, strict=True)]


MANNERS = {
    "greedy": manner(),
    "one token": manner(room=1),
    "stop strings": manner(stops=("5", "013", "22"), room=30),
    "no end": manner(eos_ids=(), room=20),
    "repetition penalty": manner(extra={"repetition_penalty": 1.4}),
    "least tokens": manner(extra={"min_new_tokens": 6}),
    "bad words": manner(extra={"bad_words_ids": [[3], [12, 13]]}),
    "no repeats": manner(extra={"no_repeat_ngram_size": 2}, room=20),
    "penalty on the prompt": manner(extra={"encoder_repetition_penalty": 1.5}),
    "sampled": manner(do_sample=True, temperature=1.0),
    "cooled": manner(do_sample=True, temperature=0.6, top_k=5),
    "nucleus": manner(do_sample=True, temperature=1.3, top_p=0.8, extra={"min_p": 0.01}),
}


@pytest.mark.parametrize("how", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("name", EXACT)
def test_replies_are_those_of_the_plain_engine(name: str, how: Manner) -> None:
    asked = wanted(PROMPTS, sampled=how.generation.do_sample)
    spent = Efficiency()
    ours = tree_engine(name, rows=3).reply(asked, how, START[:10], spent)
    theirs = plain_engine(name, rows=1).reply(asked, how, (), Efficiency())
    assert ours == ended(theirs, how)
    # No step is made for a row that has stopped.
    assert spent.row_steps == sum(len(reply) - 1 for reply in ours)


@pytest.mark.parametrize("how", [MANNERS["greedy"], MANNERS["sampled"]], ids=["greedy", "sampled"])
def test_replies_do_not_hang_on_what_is_beside_them(how: Manner) -> None:
    asked = wanted(PROMPTS, sampled=how.generation.do_sample)
    together = tree_engine("llama").reply(asked, how, START, Efficiency())
    alone = [tree_engine("llama", rows=1).reply([one], how, (), Efficiency())[0] for one in asked]
    assert together == alone == tree_engine("llama", rows=2).reply(asked[::-1], how, (), Efficiency())[::-1]


@pytest.mark.parametrize("extra", [{"num_beams": 3}, {"prompt_lookup_num_tokens": 2}, {"guidance_scale": 1.5}], ids=str)
def test_what_needs_generate_goes_through_it(extra: dict[str, Any]) -> None:
    how = manner(extra=extra)
    asked = wanted(PROMPTS[:1])
    assert tree_engine("llama").reply(asked, how, (), Efficiency()) == plain_engine("llama").reply(
        asked, how, (), Efficiency()
    )


def test_the_models_own_generation_config_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree_engine("llama").reply(wanted(PROMPTS), MANNERS["no end"], (), Efficiency())
    monkeypatch.setattr(family("llama").generation_config, "repetition_penalty", 1.5)
    now = tree_engine("llama").reply(wanted(PROMPTS), MANNERS["no end"], (), Efficiency())
    assert now == plain_engine("llama", rows=1).reply(wanted(PROMPTS), MANNERS["no end"], (), Efficiency()) != before


def test_a_long_prompt_is_run_before_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trunk_module, "LONG_START", 8)
    asked, how = wanted(PROMPTS[:3]), MANNERS["greedy"]
    ours = tree_engine("gemma3").reply(asked, how, (), Efficiency())
    assert ours == ended(plain_engine("gemma3").reply(asked, how, (), Efficiency()), how)


ids = st.integers(1, VOCABULARY - 1)
prompts = st.lists(st.lists(st.integers(1, 2) | ids, min_size=1, max_size=9).map(tuple), min_size=1, max_size=9)


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(found=prompts, rooms=st.lists(st.integers(1, 9), min_size=9, max_size=9), rows=st.integers(1, 5))
def test_flights_have_rooms_of_their_own(name: str, found: list[Ids], rooms: list[int], rows: int) -> None:
    trunk, spent = trunk_of(family(name)), Efficiency()
    flights = [Flight(prompt=prompt, room=room) for prompt, room in zip(found, rooms, strict=False)]
    pilot = Pilot(choose=lambda logits, _: logits.argmax(dim=-1), ended=lambda flight: False, rows=rows, budget=20)
    fly(flights, trunk, NO_PREFIX, pilot, spent)
    for flight in flights:
        how = manner(eos_ids=(), room=flight.room)
        (alone,) = plain_engine(name).reply(wanted([flight.prompt]), how, (), Efficiency())
        assert flight.reply == alone
    assert spent.row_steps == sum(flight.room - 1 for flight in flights)


@contextmanager
def passes(engine: TreeEngine) -> Iterator[list[int]]:
    """Tokens of each forward pass that is made meanwhile."""
    seen: list[int] = []
    embedding = engine.trunk.model.get_input_embeddings()
    hook = embedding.register_forward_hook(lambda _, __, made: seen.append(math.prod(made.shape[:-1])))
    yield seen
    hook.remove()


def test_equal_prompts_are_run_once() -> None:
    engine = tree_engine("llama")
    with passes(engine) as seen:
        replies = engine.reply(wanted([PROMPTS[0]] * 5, sampled=True), MANNERS["sampled"], (), Efficiency())
    assert seen[0] == len(PROMPTS[0]) and sum(seen) == len(PROMPTS[0]) + sum(len(reply) - 1 for reply in replies)


@pytest.mark.parametrize("start", [(), START[:6]], ids=["no start", "start"])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_a_prompt_is_run_once_where_its_replies_start_one_after_the_other(name: str, rows: int, start: Ids) -> None:
    asked = wanted([PROMPTS[at] for at in (0, 2, 0, 5, 2, 0, 0, 2)], sampled=True)
    engine, how, spent = tree_engine(name, rows=rows), MANNERS["sampled"], Efficiency()
    with passes(engine) as seen:
        replies = engine.reply(asked, how, start, spent)
    assert replies == ended(plain_engine(name, rows=1).reply(asked, how, (), Efficiency()), how)
    apart = sum(len(PROMPTS[at]) - len(start) for at in (0, 2, 5))
    assert sum(seen) <= len(start) + apart + spent.row_steps
    assert spent.row_steps == sum(len(reply) - 1 for reply in replies)
