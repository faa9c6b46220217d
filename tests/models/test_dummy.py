from __future__ import annotations

import pytest

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import check_generations, load_model, load_tokenizer
from hydra_eval.models.base import Model
from hydra_eval.records import Generation

from .asking import by_key, reordered, reply_packet, rolling_packet, scoring_packet

SAMPLED = Generation(max_new_tokens=30, stop=(), do_sample=True, temperature=1.0)


@pytest.fixture
def dummy() -> Model:
    config = ModelConfig(kind="dummy")
    return load_model(config, "cpu", load_tokenizer(config))


def test_scores_depend_on_the_request_alone(dummy: Model) -> None:
    packet = scoring_packet([("q", " a"), ("q", " b"), ("r", " a")])
    first = by_key(dummy.loglikelihood(packet))
    assert first == by_key(dummy.loglikelihood(reordered(packet, [2, 0, 1])))
    assert len({response.logprob for response in first.values()}) == 3


def test_scores_are_log_probabilities(dummy: Model) -> None:
    for response in dummy.loglikelihood(rolling_packet(["one two three", ""])):
        assert response.logprob == sum(response.token_logprobs) <= 0


def test_greedy_repeats_agree_and_sampled_ones_do_not(dummy: Model) -> None:
    greedy = dummy.generate(reply_packet(["q"], Generation(max_new_tokens=30, stop=()), repeats=5))
    sampled = dummy.generate(reply_packet(["q"], SAMPLED, repeats=5))
    assert len({response.text for response in greedy}) == 1
    assert len({response.text for response in sampled}) > 1


def test_replies_keep_their_budget_and_stops(dummy: Model) -> None:
    prompts = [f"prompt {number}" for number in range(40)]
    responses = dummy.generate(reply_packet(prompts, Generation(max_new_tokens=3, stop=("the", ""))))
    assert max(response.output_tokens for response in responses) == 3
    assert {response.finish_reason for response in responses} == {"stop", "length"}
    assert not any("the" in (response.text or "") for response in responses)


def test_work_is_counted(dummy: Model) -> None:
    dummy.generate(reply_packet(["one two"], Generation(max_new_tokens=1, stop=())))
    assert dummy.efficiency["generate_until"].forward_tokens == 3
    assert dummy.efficiency["generate_until"].generated_tokens == 1


def test_what_was_sent_is_cut_to_the_window_and_told() -> None:
    config = ModelConfig(kind="dummy", max_length=9)
    model = load_model(config, "cpu", load_tokenizer(config))
    (scored,) = model.loglikelihood(scoring_packet([("one two three " * 5, " four five")]))
    (reply,) = model.generate(reply_packet(["one two three " * 5], Generation(max_new_tokens=4, stop=())))
    assert (len(scored.input_ids), scored.input_tokens, scored.cut_tokens) == (10, 8, 7)
    assert (len(reply.input_ids), reply.input_tokens, reply.cut_tokens) == (5, 5, 10)


@pytest.mark.parametrize(("context", "choice"), [("Answer:", "A"), ("Answer:\n", "\n"), ("", " yes")])
def test_a_choice_has_tokens_of_its_own_whatever_stands_before_it(context: str, choice: str, dummy: Model) -> None:
    (response,) = dummy.loglikelihood(scoring_packet([(context, choice)]))
    assert (response.input_tokens, response.output_tokens) == (1, 1)


def test_a_reply_as_long_as_the_window_is_an_error_before_the_model_loads() -> None:
    config = ModelConfig(kind="dummy", max_length=9)
    with pytest.raises(UserError, match="toy: a reply of up to 9 tokens leaves no room"):
        check_generations(config, load_tokenizer(config), {"toy": Generation(max_new_tokens=9, stop=())})
