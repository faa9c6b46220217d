from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.models.encoding import Encoder, encode_pairs, encode_prompts, encode_scored, rolling_windows
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation

from .asking import reply_packet, rolling_packet, scoring_packet

PAIRS = {
    "plain": ("Question: What floats?\nAnswer:", " a cork"),
    "trailing blank": ("Answer: ", "a cork"),
    "trailing newlines and tabs": ("Answer:\n\n\t ", "a cork"),
    "wide blank": ("Answer:\u3000", "a cork"),
    "no blank at the seam": ("The fer", "ry leaves"),
    "empty context": ("", " a cork"),
    "white context": (" \n ", "a cork"),
    "empty context, continuation begins with the prefix": ("", "<s>a cork"),
    "context begins with BOS": ("<s>Answer:", " a cork"),
    "context is BOS": ("<s>", " a cork"),
    "end-of-sequence inside": ("one</s>", " two"),
    "letters beyond ASCII": ("Répondez: où est", " la gare? Ящик 家"),
    "long context": ("The stone sinks and the coin sinks. " * 30, "a cork"),
}


@pytest.fixture(params=["tiny", "tinybos"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, request: pytest.FixtureRequest) -> HFModel:
    return request.getfixturevalue(name)


@pytest.mark.parity
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_pairs_are_encoded_as_in_lm_eval(
    pair: tuple[str, str], name: str, model: HFModel, oracles: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[list[int], list[int]]] = []
    monkeypatch.setattr(
        oracles[name], "_loglikelihood_tokens", lambda requests, **_: seen.extend((c, t) for _, c, t in requests)
    )
    oracles[name].loglikelihood([_OracleRequest(pair)], disable_tqdm=True)
    (context, continuation) = seen[0]
    if not context:  # lm-eval refuses to run this one; here it is an empty context
        context = [model.encoder.prefix_id]
    assert encode_pairs(model.encoder, [pair]) == [(tuple(context), tuple(continuation))]


@pytest.mark.parity
@pytest.mark.parametrize("text", ["", "<s>begun", "The ferry leaves at nine. " * 3, "  blank first"])
@pytest.mark.parametrize("max_length", [2, 7, 128])
def test_windows_are_those_of_lm_eval(
    text: str, max_length: int, name: str, model: HFModel, oracles: dict[str, Any]
) -> None:
    utils = pytest.importorskip("lm_eval.utils")
    windows = utils.get_rolling_token_windows(oracles[name].tok_encode(text), model.encoder.prefix_id, max_length, 1)
    expected = [(tuple(context + target)[:-1], tuple(target)) for context, target in map(_disjoint, windows)]
    ids = model.encoder.encode([text])[text]
    assert rolling_windows(ids, prefix_id=model.encoder.prefix_id or 0, max_length=max_length) == expected


@given(st.lists(st.integers(1, 9), max_size=60), st.integers(1, 20))
def test_windows_score_each_token_once_after_its_predecessor(ids: list[int], max_length: int) -> None:
    windows = rolling_windows(ids, prefix_id=0, max_length=max_length)
    assert [token for window in windows for token in window.target] == ids
    assert all(len(window.inputs) <= max_length and len(window.target) <= len(window.inputs) for window in windows)
    text, start = (0, *ids), 0
    for window in windows:
        start += len(window.target)
        assert window.inputs == text[start - len(window.inputs) : start]


def test_windows_after_the_first_use_all_the_text_that_fits() -> None:
    assert rolling_windows([1, 2, 3, 4, 5], prefix_id=0, max_length=4) == [
        ((0, 1, 2, 3), (1, 2, 3, 4)),
        ((1, 2, 3, 4), (5,)),
    ]


@pytest.mark.parametrize(
    ("text", "add_bos", "count"),
    [
        ("Answer:", None, 1),
        ("Answer:", False, 0),
        ("Answer:", True, 1),
        ("<s>[user] hello", None, 1),
        ("<s>[user] hello", True, 1),
    ],
)
def test_number_of_bos_tokens_sent(text: str, add_bos: bool | None, count: int, tinybos: HFModel) -> None:
    encoder = Encoder(tokenizer=tinybos.tokenizer, max_length=99, prefix_id=0, add_bos=add_bos)
    packet = scoring_packet([(text, " a cork")])
    (span,) = encode_scored(packet, encoder)[0].spans
    (prompt,) = encode_prompts(packet.instances, encoder, room=9)
    assert (span.inputs.count(0), prompt.ids.count(0)) == (count, count)


def test_a_template_with_bos_gets_no_second_one_under_another_prefix(tinybos: HFModel) -> None:
    encoder = Encoder(tokenizer=tinybos.tokenizer, max_length=99, prefix_id=1)
    assert encoder.encode(["<s>[user] hello"])["<s>[user] hello"].count(0) == 1


def test_an_empty_context_is_one_prefix_token(tinybos: HFModel) -> None:
    (span,) = encode_scored(scoring_packet([("", " a cork")]), tinybos.encoder)[0].spans
    assert span.inputs[0] == 0 and span.inputs.count(0) == 1
    assert len(span.inputs) == len(span.target)


def test_context_is_cut_on_the_left_and_counted(tiny: HFModel) -> None:
    context, target = "water " * 300, "a cork"
    ((known, scored),) = encode_pairs(tiny.encoder, [(context, target)])
    (encoded,) = encode_scored(scoring_packet([(context, target)]), tiny.encoder)
    assert len(encoded.spans[0].inputs) == 128
    assert encoded.spans[0].inputs == (known + scored)[-129:-1]
    assert encoded.cut_tokens == len(known) + len(scored) - 129


def test_prompts_leave_room_for_their_own_reply_only(tiny: HFModel) -> None:
    packet = reply_packet(["water " * 300, "one two"], Generation(max_new_tokens=100, stop=()))
    long, short = encode_prompts(packet.instances, tiny.encoder, room=100)
    assert len(long.ids) == 28 and long.cut_tokens > 0
    assert short.cut_tokens == 0


@pytest.mark.parametrize(
    ("packet", "message"),
    [
        (
            scoring_packet([("a", "b"), ("The", " ferry" * 200)]),
            r"toy, document 1, request 0: the continuation has \d+",
        ),
        (scoring_packet([("Answer:", "")]), "no tokens of its own"),
        (scoring_packet([("", "<s>")]), "no tokens of its own"),
    ],
    ids=["too long", "empty", "only the prefix"],
)
def test_what_cannot_be_scored_names_its_document(packet: Any, message: str, tiny: HFModel) -> None:
    with pytest.raises(UserError, match=message):
        encode_scored(packet, tiny.encoder)


@pytest.mark.parametrize("packet", [scoring_packet([("", "a cork")]), rolling_packet(["a cork"])], ids=["pair", "text"])
def test_no_token_for_an_empty_context_is_an_error(packet: Any, tiny: HFModel) -> None:
    encoder = Encoder(tokenizer=tiny.tokenizer, max_length=99, prefix_id=None)
    with pytest.raises(UserError, match=r"model\.prefix_token_id"):
        encode_scored(packet, encoder)


class _OracleRequest:
    def __init__(self, pair: tuple[str, str]) -> None:
        self.args = pair
        self.task_name = None


def _disjoint(window: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    from lm_eval.utils import make_disjoint_window

    return make_disjoint_window(window)
