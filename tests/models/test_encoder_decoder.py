from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForSeq2SeqLM, ProphetNetConfig

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import check_generations, load_tokenizer
from hydra_eval.models.encoder_decoder import EncoderDecoderEngine, find_start_id, head_takes_chosen
from hydra_eval.models.encoding import measure
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation

from .asking import by_key, reordered, reply_packet, rolling_packet, scoring_packet
from .building import CORPUS, load
from .test_encoding import PAIRS
from .test_generation import PROMPTS
from .text_to_text import SIZE, WINDOW, save_bart, save_t5

NAMES = ["t5", "bart"]
TEXTS = ["", "a", "The ferry leaves at nine and comes back at noon. " * 12, "Ящик\n\nу окна"]
FLOATS = "Question: Which of these floats on water? Answer:"
CASES = {
    "empty context": [("", " a cork")],
    "one token": [(FLOATS, "a"), (FLOATS, "e")],
    "context beyond the window": [("The stone sinks and the coin sinks." * 30, " a cork")],
    "shared context": [(FLOATS, choice) for choice in (" a cork", " a coin", " the stone sinks", " a cork", "a")],
    "contexts that begin alike": [(FLOATS[:end], " a cork") for end in (20, 30, 40)],
}
GREEDY = Generation(max_new_tokens=20, stop=("\n\n", "e"))
SAMPLED = Generation(max_new_tokens=12, stop=(), do_sample=True, temperature=1.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in (("t5", save_t5), ("bart", save_bart))}


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, HFModel]:
    return {name: load(folder) for name, folder in folders.items()}


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, models: dict[str, HFModel]) -> HFModel:
    return models[name]


@pytest.fixture(scope="module")
def harness(folders: dict[str, Path]) -> dict[tuple[str, int], Any]:
    """The same models in lm-evaluation-harness, by name and batch size."""
    pytest.importorskip("lm_eval.models.huggingface", reason="needs the parity extra")
    from lm_eval.models.huggingface import HFLM

    options = {"device": "cpu", "dtype": "float32", "backend": "seq2seq"}
    return {
        (name, size): HFLM(pretrained=str(folder), batch_size=size, **options)
        for name, folder in folders.items()
        for size in (1, 3)
    }


def asked(kind: str, arguments: Any) -> list[Any]:
    from lm_eval.api.instance import Instance

    return [Instance(request_type=kind, doc={}, arguments=args, idx=0) for args in arguments]


@pytest.mark.parity
def test_sums_and_greediness_are_those_of_lm_eval(name: str, model: HFModel, harness: dict[Any, Any]) -> None:
    pairs = [*PAIRS.values(), *(pair for case in CASES.values() for pair in case)]
    ours = model.loglikelihood(scoring_packet(pairs))
    theirs = harness[name, 3].loglikelihood(asked("loglikelihood", pairs), disable_tqdm=True)
    assert [response.logprob for response in ours] == pytest.approx([score for score, _ in theirs], abs=1e-4, rel=2e-6)
    assert [response.is_greedy for response in ours] == [greedy for _, greedy in theirs]


@pytest.mark.parity
def test_rolling_sums_are_those_of_lm_eval(name: str, model: HFModel, harness: dict[Any, Any]) -> None:
    ours = model.loglikelihood(rolling_packet(TEXTS))
    theirs = harness[name, 3].loglikelihood_rolling(
        asked("loglikelihood_rolling", [(text,) for text in TEXTS]), disable_tqdm=True
    )
    assert [response.logprob for response in ours] == pytest.approx(theirs, abs=1e-4, rel=2e-6)


@pytest.mark.parity
@pytest.mark.parametrize("stop", [(), ("e",), ("\n\n", "er", "o")], ids=str)
def test_greedy_replies_are_those_of_lm_eval(
    stop: tuple[str, ...], name: str, model: HFModel, harness: dict[Any, Any]
) -> None:
    prompts = [prompt for prompt in PROMPTS if not prompt.startswith("<s>")] + CORPUS
    # There a reply may be longer by its prompt's length, unless told its own; and prompts are padded to the left.
    options = {"until": list(stop), "max_gen_toks": 20, "max_length": 21}
    theirs = harness[name, 1].generate_until(
        asked("generate_until", [(prompt, dict(options)) for prompt in prompts]), disable_tqdm=True
    )
    replies = model.generate(reply_packet(prompts, Generation(max_new_tokens=20, stop=stop)))
    assert [response.text for response in replies] == theirs
    assert len(set(theirs)) > 3


def naive(model: HFModel, context: str, continuation: str) -> tuple[float, bool]:
    """One request by itself, through the whole model."""
    tokenizer = model.tokenizer
    ids = tokenizer(context)["input_ids"][-WINDOW:] if context else [model.encoder.prefix_id]
    scored = tokenizer(continuation, add_special_tokens=False)["input_ids"]
    start = model.model.generation_config.decoder_start_token_id
    with torch.inference_mode():
        logits = model.model(
            input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[start, *scored[:-1]]])
        ).logits[0]
    logprobs = logits.log_softmax(dim=-1)[range(len(scored)), scored]
    return float(logprobs.sum()), logits.argmax(dim=-1).tolist() == scored


@pytest.mark.parametrize("pairs", CASES.values(), ids=CASES)
def test_scores_are_those_of_each_request_alone(pairs: list[tuple[str, str]], model: HFModel) -> None:
    for response, pair in zip(model.loglikelihood(scoring_packet(pairs)), pairs, strict=True):
        logprob, is_greedy = naive(model, *pair)
        assert response.logprob == pytest.approx(logprob, abs=1e-4, rel=2e-6)
        assert response.is_greedy == is_greedy


words = st.lists(st.sampled_from(" ".join(CORPUS[:4]).split()), min_size=1, max_size=9).map(" ".join)


@pytest.mark.parametrize("limits", [{}, {"batch_size": 2}, {"batch_tokens": 40}], ids=str)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(contexts=st.lists(words, min_size=1, max_size=4), choices=st.lists(words, min_size=1, max_size=4))
def test_any_batch_gives_the_same_scores(
    limits: dict[str, int], contexts: list[str], choices: list[str], folders: dict[str, Path]
) -> None:
    limited = load(folders["t5"], **limits)
    pairs = [(context, " " + choice) for context in contexts for choice in choices]
    found = [response.logprob for response in limited.loglikelihood(scoring_packet(pairs))]
    assert found == pytest.approx([naive(limited, *pair)[0] for pair in pairs], abs=1e-4, rel=2e-6)


def test_a_context_is_encoded_once(model: HFModel) -> None:
    before = replace(model.efficiency["loglikelihood"])
    choices = ["a", "e", "o", "a"]
    model.loglikelihood(scoring_packet([(FLOATS, choice) for choice in choices]))
    spent = model.efficiency["loglikelihood"]
    length = len(model.tokenizer(FLOATS)["input_ids"])
    # Choices that differ in their last token are read off the same row, those of one token off the decoder's start.
    runs = {tuple(ids[:-1]) for ids in model.tokenizer(choices, add_special_tokens=False)["input_ids"]}
    assert spent.forward_tokens - before.forward_tokens == length + len(runs) * (1 + max(map(len, runs)))
    assert len(runs) < 3


@pytest.fixture
def fresh(name: str, folders: dict[str, Path]) -> HFModel:
    """A model whose counters stand at nought."""
    return load(folders[name])


def test_counted_are_the_positions_of_both_halves(fresh: HFModel) -> None:
    encoder, decoder = fresh.model.get_encoder(), fresh.model.get_decoder()
    seen: dict[str, int] = {"encoder": 0, "decoder": 0}
    for half, module in (("encoder", encoder), ("decoder", decoder)):
        module.get_input_embeddings().register_forward_hook(
            lambda _, inputs, __, half=half: seen.update({half: seen[half] + inputs[0].numel()})
        )
    fresh.loglikelihood(scoring_packet([(FLOATS, " a cork"), (FLOATS, " a coin"), (FLOATS, " a cork")]))
    figures = fresh.efficiency["loglikelihood"].figures()
    assert figures["forward_tokens"] == sum(seen.values()) >= figures["unique_prefix_tokens"]
    assert seen["encoder"] == len(fresh.tokenizer(FLOATS)["input_ids"])
    assert figures["logit_positions"] <= seen["decoder"]


def test_the_floor_shares_no_more_than_an_encoder_can(fresh: HFModel) -> None:
    contexts = [FLOATS, FLOATS + " a"]
    fresh.loglikelihood(scoring_packet([(context, "a") for context in contexts]))
    lengths = [len(fresh.tokenizer(context)["input_ids"]) for context in contexts]
    letters = len(fresh.tokenizer("a", add_special_tokens=False)["input_ids"])
    assert fresh.efficiency["loglikelihood"].figures()["unique_prefix_tokens"] == sum(lengths) + 2 * letters


def test_a_prompt_is_encoded_once_for_all_its_replies(fresh: HFModel) -> None:
    rows: list[int] = []
    fresh.model.get_encoder().register_forward_hook(lambda _, inputs, made: rows.append(len(made.last_hidden_state)))
    responses = fresh.generate(reply_packet(PROMPTS[:2], SAMPLED, repeats=3))
    assert rows == [2] and len({response.text for response in responses}) > 3


@pytest.mark.parametrize("generation", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_replies_depend_on_their_identity_alone(generation: Generation, model: HFModel) -> None:
    packet = reply_packet(PROMPTS, generation, repeats=2)
    together = by_key(model.generate(packet))
    backwards = reordered(packet, range(len(packet.instances))[::-1])
    assert together == by_key(model.generate(backwards))
    for instance in packet.instances:
        (alone,) = model.generate(replace(packet, instances=(instance,)))
        assert together[instance.key] == alone


def test_a_model_with_beams_of_its_own_samples_with_one(fresh: HFModel, model: HFModel) -> None:
    fresh.model.generation_config.num_beams = 4
    assert fresh.generate(reply_packet(PROMPTS, SAMPLED)) == model.generate(reply_packet(PROMPTS, SAMPLED))
    fresh.generate(reply_packet(PROMPTS, replace(SAMPLED, extra={"num_beams": 1})))


def test_stop_strings_cut_replies(model: HFModel) -> None:
    for response in model.generate(reply_packet(CORPUS, GREEDY)):
        assert "e" not in (response.text or "") and response.finish_reason in ("stop", "length")


def test_beams_and_penalties_go_through(model: HFModel) -> None:
    extra = {"num_beams": 3, "encoder_repetition_penalty": 1.5}
    plain = model.generate(reply_packet(PROMPTS, replace(GREEDY, stop=())))
    other = model.generate(reply_packet(PROMPTS, replace(GREEDY, stop=(), extra=extra)))
    assert [response.text for response in plain] != [response.text for response in other]


def test_a_reply_takes_no_room_from_its_prompt(model: HFModel) -> None:
    (response,) = model.generate(reply_packet(["water " * 200], Generation(max_new_tokens=WINDOW - 4, stop=())))
    assert response.input_tokens == WINDOW and response.cut_tokens > 0


def test_a_reply_may_be_as_long_as_the_decoder_has_places(name: str, folders: dict[str, Path]) -> None:
    config = ModelConfig(pretrained=str(folders[name]))
    tokenizer = load_tokenizer(config)
    check_generations(config, tokenizer, {"toy": Generation(max_new_tokens=WINDOW, stop=())})
    longer = {"toy": Generation(max_new_tokens=WINDOW + 1, stop=())}
    if name == "t5":
        check_generations(config, tokenizer, longer)
    else:
        with pytest.raises(UserError, match="toy: a reply of up to 65 tokens is more than the 64 "):
            check_generations(config, tokenizer, longer)


def test_a_continuation_has_a_window_of_its_own(model: HFModel) -> None:
    packet = scoring_packet([("water" * 200, " a cork"), (FLOATS, " water" * 80)])
    fitting, too_long = measure(packet.instances, model.encoder)
    assert fitting.can_be_cut and fitting.excess == len(model.tokenizer("water" * 200)["input_ids"]) - WINDOW
    assert not too_long.can_be_cut and too_long.excess > 0
    with pytest.raises(UserError, match=r"the continuation has \d+ tokens and the model's window 64"):
        model.loglikelihood(packet)


@pytest.fixture
def small_memory(fresh: HFModel) -> Iterator[HFModel]:
    """An encoder that holds one context."""

    def refuse(module: Any, arguments: Any, inputs: dict[str, Any]) -> None:
        if len(inputs["input_ids"]) > 1:
            raise torch.OutOfMemoryError("a device as small as this")

    handle = fresh.model.get_encoder().register_forward_pre_hook(refuse, with_kwargs=True)
    yield fresh
    handle.remove()


def test_what_does_not_fit_is_halved(small_memory: HFModel, model: HFModel) -> None:
    packet = scoring_packet([(text, choice) for text in CORPUS[:3] for choice in (" a cork", " a")])
    halved, whole = small_memory.loglikelihood(packet), model.loglikelihood(packet)
    assert [one.logprob for one in halved] == pytest.approx([one.logprob for one in whole], abs=1e-4)
    assert {one.halvings for one in halved} == {2}
    replies = small_memory.generate(reply_packet(CORPUS[:2], GREEDY))
    assert [one.text for one in replies] == [one.text for one in model.generate(reply_packet(CORPUS[:2], GREEDY))]


def test_requests_run_plainly_and_say_why(name: str, folders: dict[str, Path], caplog: Any) -> None:
    with caplog.at_level("INFO"):
        model = load(folders[name])
    assert isinstance(model.engine, EncoderDecoderEngine)
    assert model.facts.engine == {"prefix_sharing": "encoder-decoder", "batch_tokens": 1024}
    (line,) = [record.getMessage() for record in caplog.records if "plainly" in record.getMessage()]
    assert line.endswith("runs plainly, each request by itself: encoder-decoder.")


def test_only_what_is_scored_goes_into_the_head(model: HFModel) -> None:
    assert head_takes_chosen(model.model, model.engine.start_id)
    sizes: list[int] = []
    with model.model.get_output_embeddings().register_forward_hook(lambda _, __, made: sizes.append(made.shape[1])):
        model.loglikelihood(scoring_packet([(FLOATS, " a cork"), (FLOATS, " the stone sinks")]))
    scored = [
        len(model.tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (" a cork", " the stone sinks")
    ]
    assert sizes == [sum(scored)]


def test_a_head_of_another_shape_gets_all_positions(folders: dict[str, Path], caplog: Any) -> None:
    layers = {f"num_{half}_{part}": 2 for half in ("encoder", "decoder") for part in ("layers", "attention_heads")}
    config = ProphetNetConfig(vocab_size=SIZE, hidden_size=16, encoder_ffn_dim=8, decoder_ffn_dim=8, **layers)
    model = AutoModelForSeq2SeqLM.from_config(config).eval()
    with caplog.at_level("INFO"):
        ours = HFModel(model, load_tokenizer(ModelConfig(pretrained=str(folders["bart"]))), ModelConfig(pretrained="x"))
    assert "logits of all positions" in caplog.text
    for response, pair in zip(ours.loglikelihood(scoring_packet(CASES["one token"])), CASES["one token"], strict=True):
        assert response.logprob == pytest.approx(naive(ours, *pair)[0], abs=1e-4)


def test_a_decoder_needs_a_token_to_start_with(fresh: HFModel) -> None:
    for source in (fresh.model.config, fresh.model.generation_config):
        source.decoder_start_token_id = source.bos_token_id = None
    with pytest.raises(UserError, match="nothing says what the decoder starts with"):
        find_start_id(fresh.model)
