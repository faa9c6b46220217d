from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.errors import UserError
from hydra_eval.models.decoding import StopStrings
from hydra_eval.models.hf import HFModel
from hydra_eval.models.replies import Manner
from hydra_eval.records import Generation

from .asking import by_key, reordered, reply_packet
from .building import NEVER, load, save_rigged

PROMPTS = [
    "Question: Which of these floats on water? Answer:",
    "The ferry",
    "She walked to the market, " * 4,
    "<s>Wood burns, iron rusts,",
    "def area(width, height):\n",
]
GREEDY = Generation(max_new_tokens=20, stop=("\n\n", "e"))
SAMPLED = Generation(max_new_tokens=12, stop=(), do_sample=True, temperature=1.0)


def texts(model: HFModel, prompts: list[str], generation: Generation) -> list[str | None]:
    return [response.text for response in model.generate(reply_packet(prompts, generation))]


@pytest.mark.parity
@pytest.mark.parametrize("stop", [(), ("e",), ("\n\n", "er", "o"), ("th", "</s>")], ids=str)
@pytest.mark.parametrize("name", ["tiny", "tinybos"])
def test_greedy_replies_are_those_of_lm_eval(
    stop: tuple[str, ...], name: str, oracles: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    from lm_eval.api.instance import Instance

    # lm-eval looks for BOS in the first prompt of a batch only: such a prompt goes in a batch of its own.
    prompts = [prompt for prompt in PROMPTS if not prompt.startswith("<s>")]
    arguments = [(prompt, {"until": list(stop), "max_gen_toks": 20}) for prompt in prompts]
    requests = [Instance(request_type="generate_until", doc={}, arguments=args, idx=0) for args in arguments]
    ours = texts(request.getfixturevalue(name), prompts, Generation(max_new_tokens=20, stop=stop))
    assert ours == oracles[name].generate_until(requests, disable_tqdm=True)


@pytest.mark.parity
def test_options_of_transformers_are_those_of_lm_eval(tiny: HFModel, oracles: dict[str, Any]) -> None:
    from lm_eval.api.instance import Instance

    extra = {"num_beams": 3, "repetition_penalty": 1.3}
    arguments = [(prompt, {"until": ["q"], "max_gen_toks": 12, **extra}) for prompt in PROMPTS[:3]]
    requests = [Instance(request_type="generate_until", doc={}, arguments=args, idx=0) for args in arguments]
    ours = texts(tiny, PROMPTS[:3], Generation(max_new_tokens=12, stop=("q",), extra=extra))
    assert ours == oracles["tiny"].generate_until(requests, disable_tqdm=True)
    assert ours != texts(tiny, PROMPTS[:3], Generation(max_new_tokens=12, stop=("q",)))


def test_every_end_id_of_the_model_ends_a_reply(successor: HFModel) -> None:
    packet = reply_packet(["a", "c", "b", "f"], Generation(max_new_tokens=7, stop=()))
    responses = successor.generate(packet)
    assert [response.text for response in responses] == ["bc", "", "c", "ghijklm"]
    assert [response.finish_reason for response in responses] == ["stop", "stop", "stop", "length"]
    assert [response.output_tokens for response in responses] == [3, 1, 2, 7]


def test_rows_leave_when_they_have_stopped(successor: HFModel) -> None:
    before = successor.efficiency["generate_until"].forward_tokens
    successor.generate(reply_packet(["a", "b"], Generation(max_new_tokens=64 - 2, stop=())))
    # One token each, and the steps until each has met "d": "b" has it before "a".
    assert successor.efficiency["generate_until"].forward_tokens - before == 2 + 2 + 1


def test_rows_stop_at_their_own_stop_string(successor: HFModel) -> None:
    generation = Generation(max_new_tokens=9, stop=("hi", "mno", "st"))
    responses = successor.generate(reply_packet(["e", "j", "p"], generation))
    assert [response.text for response in responses] == ["fg", "kl", "qr"]
    assert [response.output_tokens for response in responses] == [4, 5, 4]


def test_stop_string_of_several_tokens_is_found_at_once(tiny: HFModel) -> None:
    generation = Generation(max_new_tokens=20, stop=("stone sinks",))
    how = Manner(generation=generation, eos_ids=(), stops=generation.stop, pad_id=0, decode=tiny.tokenizer.decode)
    criterion = StopStrings(how, prompt_length=2)
    prompt, reply = [5, 6], tiny.encoder.encode_bare(["the stone sinks"])["the stone sinks"]
    assert len(reply) > 3
    done = [bool(criterion(torch.tensor([prompt + list(reply[:end])]), None)) for end in range(1, len(reply) + 1)]
    assert done == [False] * (len(reply) - 1) + [True]


def test_prompt_is_not_searched_for_stop_strings(successor: HFModel) -> None:
    assert texts(successor, ["fg"], Generation(max_new_tokens=3, stop=("g",))) == ["hij"]


def test_long_prompt_is_cut_by_its_own_length_only(tiny: HFModel) -> None:
    long, short = tiny.generate(reply_packet(["water " * 200, "The ferry"], Generation(max_new_tokens=100, stop=())))
    assert (long.input_tokens, short.cut_tokens) == (28, 0)
    assert long.cut_tokens > 0


def test_no_room_for_a_prompt_is_an_error(tiny: HFModel) -> None:
    with pytest.raises(UserError, match="window of 128 tokens"):
        tiny.generate(reply_packet(["a"], Generation(max_new_tokens=128, stop=())))


def test_misspelt_option_is_an_error(tiny: HFModel) -> None:
    with pytest.raises(UserError, match="Did you mean 'repetition_penalty'"):
        tiny.generate(reply_packet(["a"], Generation(max_new_tokens=9, stop=(), extra={"repetition_penality": 2})))


def test_requests_of_a_packet_may_be_generated_differently(successor: HFModel) -> None:
    packet = reply_packet(["f", "f", "f"], Generation(max_new_tokens=2, stop=()))
    longer = replace(packet.instances[1], generation=Generation(max_new_tokens=4, stop=()))
    mixed = replace(packet, instances=(packet.instances[0], longer, packet.instances[2]))
    assert [response.text for response in successor.generate(mixed)] == ["gh", "ghij", "gh"]


def test_sampled_reply_depends_on_its_identity_alone(tiny: HFModel) -> None:
    packet = reply_packet(PROMPTS, SAMPLED, repeats=2)
    together = by_key(tiny.generate(packet))
    alone = [tiny.generate(reordered(packet, [index]))[0] for index in range(len(packet.instances))]
    backwards = tiny.generate(reordered(packet, range(len(packet.instances))[::-1]))
    assert by_key(alone) == together == by_key(backwards)


def test_repeats_and_seeds_draw_different_replies(tiny: HFModel) -> None:
    repeats = [response.text for response in tiny.generate(reply_packet(PROMPTS[:1], SAMPLED, repeats=4))]
    other = Generation(max_new_tokens=12, stop=(), do_sample=True, temperature=1.0, seed=1)
    assert len({*repeats, *texts(tiny, PROMPTS[:1], other)}) == 5


def test_greedy_repeats_are_computed_once(tiny_folder: Path) -> None:
    model = load(tiny_folder)
    responses = model.generate(reply_packet(["The ferry"], Generation(max_new_tokens=5, stop=()), repeats=3))
    assert len({response.text for response in responses}) == 1
    assert model.efficiency["generate_until"].generated_tokens == 5


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"temperature": 1.0}, {"a": 0.6, "b": 0.3, "c": 0.1}),
        ({"temperature": 0.5}, {"a": 0.36 / 0.46, "b": 0.09 / 0.46, "c": 0.01 / 0.46}),
        ({"temperature": 1.0, "top_k": 2}, {"a": 2 / 3, "b": 1 / 3}),
        ({"temperature": 1.0, "top_p": 0.85}, {"a": 2 / 3, "b": 1 / 3}),
    ],
    ids=str,
)
def test_draws_follow_the_model(fields: dict[str, Any], expected: dict[str, float], tmp_path: Path) -> None:
    logits = torch.full((5, 5), NEVER)
    logits[:, 2:] = torch.tensor([0.6, 0.3, 0.1]).log()
    model = load(save_rigged(tmp_path, logits))
    generation = Generation(max_new_tokens=50, stop=(), do_sample=True, **fields)
    replies = model.generate(reply_packet(["a"], generation, repeats=40))
    counts = Counter("".join(response.text or "" for response in replies))
    assert counts.total() == 2000
    # Five standard deviations of a count among 2,000 draws are at most 0.056 of them.
    assert {letter: count / 2000 for letter, count in counts.items()} == pytest.approx(expected, abs=0.056)


@pytest.mark.parametrize("generation", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_counted_positions_are_those_embedded(generation: Generation, tiny_folder: Path) -> None:
    model, seen = load(tiny_folder, batch_size=2), []
    model.model.model.embed_tokens.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].numel()))
    responses = model.generate(reply_packet(PROMPTS, generation))
    spent = model.efficiency["generate_until"]
    assert spent.forward_tokens == sum(seen) > 0
    assert spent.generated_tokens == sum(response.output_tokens for response in responses)


def test_same_packet_gives_the_same_reply(tiny: HFModel) -> None:
    packet = reply_packet(PROMPTS, SAMPLED, repeats=2)
    assert tiny.generate(packet) == tiny.generate(packet)


def test_global_random_state_is_left_alone(tiny: HFModel) -> None:
    before = torch.random.get_rng_state()
    tiny.generate(reply_packet(PROMPTS[:1], SAMPLED))
    assert torch.equal(before, torch.random.get_rng_state())


def test_what_transformers_does_one_by_one_takes_several_prompts(tiny: HFModel) -> None:
    guessing = replace(GREEDY, extra={"prompt_lookup_num_tokens": 2})
    assert texts(tiny, PROMPTS, guessing) == texts(tiny, PROMPTS, GREEDY)


@pytest.mark.parametrize("own", [True, False], ids=["model", "task"])
def test_beams_count_as_rows(own: bool, tiny_folder: Path) -> None:
    model = load(tiny_folder)
    beams = {"num_beams": 3}
    if own:
        model.model.generation_config.update(**beams)
    model.generate(reply_packet(PROMPTS[:1], Generation(max_new_tokens=4, stop=(), extra={} if own else beams)))
    assert model.efficiency["generate_until"].row_steps == 3 * (4 - 1)
