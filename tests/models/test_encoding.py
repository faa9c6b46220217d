from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.models.encoding import Encoded, Encoder, cut_ids, encode_pairs, encode_requests, rolling_windows
from hydra_eval.models.hf import HFModel
from hydra_eval.models.prefixes import path_of
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

SHORT = Generation(max_new_tokens=9, stop=())


@pytest.mark.parametrize("apart", [False, True], ids=["causal", "encoder-decoder"])
def test_an_empty_context_is_not_one_of_blanks(apart: bool, tinybos: HFModel) -> None:
    encoder = replace(tinybos.encoder, pairs="separate", prefix_id=1, apart=apart)
    packet = scoring_packet([(" ", "a"), ("", "a")])
    assert [context for context, _ in encode_pairs(packet.instances, encoder)] == [(0,), (1,)]


@pytest.mark.parametrize(
    "pair", [("one two", " three"), ("one" * 200, " three"), ("", " three")], ids=["", "cut", "empty"]
)
def test_context_and_continuation_may_stand_apart(pair: tuple[str, str], tinybos: HFModel) -> None:
    encoder = replace(tinybos.encoder, apart=True)
    (sent,) = encode_requests(scoring_packet([pair]).instances, encoder)
    ((inputs, target),) = sent.spans
    assert inputs == (encoder.encode([pair[0]])[pair[0]][-128:] or (0,))
    assert target == encoder.encode_bare([pair[1]])[pair[1]] and sent.ids == inputs + target
    assert sent.paths == [path_of(inputs, target, apart=True)] and len(sent.paths[0]) == len(inputs) + len(target)


def test_windows_that_stand_apart_score_each_token_once(tinybos: HFModel) -> None:
    encoder = replace(tinybos.encoder, apart=True, max_length=16)
    text = "The ferry leaves at nine. " * 9
    (sent,) = encode_requests(rolling_packet([text]).instances, encoder)
    whole = (0, *encoder.encode([text])[text])
    assert sum((span.target for span in sent.spans), ()) == whole[1:] and sent.ids == whole
    end = 0
    for inputs, target in sent.spans:
        assert inputs == whole[max(0, end + len(target) - 16) : end + 1] and len(target) <= 16
        end += len(target)


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
    asked = scoring_packet([pair]).instances
    assert encode_pairs(asked, model.encoder) == [(tuple(context), tuple(continuation))]


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
    asked = (*scoring_packet([(text, " a cork")]).instances, *reply_packet([text], SHORT).instances)
    assert [sent.ids.count(0) for sent in encode_requests(asked, encoder)] == [count, count]


def test_a_template_with_bos_gets_no_second_one_under_another_prefix(tinybos: HFModel) -> None:
    encoder = Encoder(tokenizer=tinybos.tokenizer, max_length=99, prefix_id=1)
    assert encoder.encode(["<s>[user] hello"])["<s>[user] hello"].count(0) == 1


def test_an_empty_context_is_one_prefix_token(tinybos: HFModel) -> None:
    (span,) = encode_requests(scoring_packet([("", " a cork")]).instances, tinybos.encoder)[0].spans
    assert span.inputs[0] == 0 and span.inputs.count(0) == 1
    assert len(span.inputs) == len(span.target)


def test_context_is_cut_on_the_left_and_counted(tiny: HFModel) -> None:
    context, target = "water " * 300, "a cork"
    asked = scoring_packet([(context, target)]).instances
    ((known, scored),) = encode_pairs(asked, tiny.encoder)
    (encoded,) = encode_requests(asked, tiny.encoder)
    assert len(encoded.spans[0].inputs) == 128
    assert encoded.spans[0].inputs == (known + scored)[-129:-1]
    assert encoded.cut_tokens == len(known) + len(scored) - 129


def test_prompts_leave_room_for_their_own_reply_only(tiny: HFModel) -> None:
    packet = reply_packet(["water " * 300, "one two"], Generation(max_new_tokens=100, stop=()))
    long, short = encode_requests(packet.instances, tiny.encoder)
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
        encode_requests(packet.instances, tiny.encoder)


@pytest.mark.parametrize("packet", [scoring_packet([("", "a cork")]), rolling_packet(["a cork"])], ids=["pair", "text"])
def test_no_token_for_an_empty_context_is_an_error(packet: Any, tiny: HFModel) -> None:
    encoder = Encoder(tokenizer=tiny.tokenizer, max_length=99, prefix_id=None)
    with pytest.raises(UserError, match=r"model\.prefix_token_id"):
        encode_requests(packet.instances, encoder)


# --- each part by itself ---


@pytest.mark.parametrize(
    ("pair", "parts"),
    [
        (("Question: What floats?\nAnswer:", " a cork"), ("Question: What floats?\nAnswer:", " a cork")),
        (("Answer: ", "a cork"), ("Answer:", " a cork")),
        (("Answer:\n\n\t ", "a cork"), ("Answer:", "\n\n\t a cork")),
        (("mar", "ket"), ("mar", "ket")),
        (("<s>Answer:", " a cork"), ("<s>Answer:", " a cork")),
    ],
    ids=["plain", "trailing blank", "trailing newlines", "no blank at the seam", "context begins with BOS"],
)
def test_separate_pairs_are_the_ids_of_each_part(pair: tuple[str, str], parts: tuple[str, str], model: HFModel) -> None:
    head, tail = parts
    encode = model.tokenizer.encode
    expected = encode(head, add_special_tokens=not head.startswith("<s>")), encode(tail, add_special_tokens=False)
    assert pair_ids(model, pair, pairs="separate") == tuple(map(tuple, expected))


@pytest.mark.parametrize(
    ("pair", "begins"), [(("", " a cork"), False), (("", "<s>a cork"), True)], ids=["plain", "begins with the prefix"]
)
def test_a_separate_continuation_without_a_context_stands_after_one_prefix(
    pair: tuple[str, str], begins: bool, model: HFModel
) -> None:
    known, scored = pair_ids(model, pair, pairs="separate")
    assert known == (0,) and 0 not in scored
    assert model.tokenizer.decode(scored) == pair[1].removeprefix("<s>" if begins else "")


def test_separate_ids_are_others_where_a_token_crosses_the_seam(tiny: HFModel) -> None:
    encode = tiny.tokenizer.encode
    assert len(encode("market")) < len(encode("mar")) + len(encode("ket"))
    assert pair_ids(tiny, ("mar", "ket"), pairs="separate") == (tuple(encode("mar")), tuple(encode("ket")))
    assert pair_ids(tiny, ("mar", "ket"))[1] == tuple(encode("market"))[len(encode("mar")) :]


def test_a_context_that_ends_in_end_of_sequence_loses_it_when_taken_by_itself(tiny: HFModel) -> None:
    eos = tiny.tokenizer.eos_token_id
    assert pair_ids(tiny, ("one</s>", " two"), pairs="joint")[0][-1] == eos
    assert pair_ids(tiny, ("one</s>", " two"), pairs="separate")[0] == tuple(tiny.tokenizer.encode("one"))


# --- blanks that stay with the context ---


@pytest.mark.parametrize("pairs", ["joint", "separate"])
def test_blanks_that_do_not_move_are_not_scored(pairs: str, model: HFModel) -> None:
    known, scored = pair_ids(model, ("Answer:\n", "a cork"), pairs=pairs, moves_blanks=False)
    decode = model.tokenizer.decode
    assert decode(known, skip_special_tokens=True) == "Answer:\n"
    assert decode(scored) == "a cork"
    assert decode(pair_ids(model, ("Answer:\n", "a cork"), pairs=pairs)[1]) == "\na cork"


def test_a_continuation_whose_blank_stays_is_split_by_itself_where_a_token_would_cross(tiny: HFModel) -> None:
    encode = tiny.tokenizer.encode
    whole, head = encode("Answer: a cork"), encode("Answer: ")
    assert whole[: len(head)] != head
    assert pair_ids(tiny, ("Answer: ", "a cork"), moves_blanks=False) == (tuple(head), tuple(encode("a cork")))


# --- requests of all kinds together ---


def test_requests_of_mixed_kinds_are_encoded_in_their_order(tinybos: HFModel) -> None:
    alone = [
        scoring_packet([("one two", " three")]),
        reply_packet(["four five"], SHORT),
        rolling_packet(["six seven eight " * 60]),
        scoring_packet([("nine", " ten")]),
    ]
    mixed = [packet.instances[0] for packet in alone]
    encoder = tinybos.encoder
    assert encode_requests(mixed, encoder) == [encode_requests(packet.instances, encoder)[0] for packet in alone]


def test_what_is_sent_is_each_id_once_the_scored_ones_last(tinybos: HFModel) -> None:
    text = "six seven eight " * 60
    whole = tuple(tinybos.tokenizer.encode(text))
    (rolling,) = encode_requests(rolling_packet([text]).instances, tinybos.encoder)
    (scored,) = encode_requests(scoring_packet([("one two", " three")]).instances, tinybos.encoder)
    (reply,) = encode_requests(reply_packet(["one two"], SHORT).instances, tinybos.encoder)
    encode = tinybos.tokenizer.encode
    assert len(rolling.spans) > 1 and rolling.ids == (0, *whole) and rolling.scored == len(whole)
    assert scored.ids == tuple(encode("one two three"))
    assert scored.ids[-scored.scored :] == tuple(encode("one two three"))[len(encode("one two")) :]
    assert (reply.ids, reply.scored, reply.room) == (tuple(encode("one two")), 0, 9)


def test_nothing_is_sent_for_an_empty_text(tiny: HFModel) -> None:
    assert encode_requests(rolling_packet([""]).instances, tiny.encoder) == [Encoded(())]


@pytest.mark.parametrize("length", [1, 300], ids=["whole", "cut"])
def test_a_response_tells_the_ids_that_the_model_was_given(length: int, tinybos: HFModel) -> None:
    given: list[tuple[int, ...]] = []
    hook = tinybos.model.get_input_embeddings().register_forward_pre_hook(
        lambda module, arguments: given.append(tuple(arguments[0][0].tolist()))
    )
    try:
        (scored,) = tinybos.loglikelihood(scoring_packet([("market " * length, " a cork")]))
        (reply,) = tinybos.generate(reply_packet(["market " * length], SHORT))
    finally:
        hook.remove()
    assert scored.input_ids[:-1] == given[0] and len(scored.input_ids) == scored.input_tokens + scored.output_tokens
    assert reply.input_ids == given[1] and len(reply.input_ids) == reply.input_tokens


# --- where ids go ---


@pytest.mark.parametrize(
    ("most", "side", "kept"),
    [
        (9, "left", (1, 2, 3, 4, 5, 6)),
        (4, "left", (3, 4, 5, 6)),
        (4, "middle", (1, 2, 5, 6)),
        (3, "middle", (1, 5, 6)),
        (1, "middle", (1,)),
        (6, "middle", (1, 2, 3, 4, 5, 6)),
    ],
)
def test_ids_that_are_kept(most: int, side: str, kept: tuple[int, ...]) -> None:
    assert cut_ids((1, 2, 3, 4, 5, 6), most, side) == kept


@pytest.mark.parity
@pytest.mark.parametrize("most", [2, 3, 8, 9])
@pytest.mark.parametrize("side", ["left", "middle"])
def test_ids_are_cut_as_lm_eval_cuts_them(most: int, side: str) -> None:
    utils = pytest.importorskip("lm_eval.models.utils")
    ids = list(range(9))
    assert cut_ids(tuple(ids), most, side) == tuple(utils.truncate_tokens(ids, most, side))


@pytest.mark.parametrize("kind", ["scored", "reply"])
def test_a_cut_in_the_middle_keeps_bos_and_the_end(kind: str, tinybos: HFModel) -> None:
    text = "water " * 300 + "the end"
    whole = tuple(tinybos.tokenizer.encode(text))
    generation = Generation(max_new_tokens=100, stop=())
    packet = scoring_packet([(text, " a cork")]) if kind == "scored" else reply_packet([text], generation)
    (sent,) = encode_requests([replace(packet.instances[0], cut="middle")], tinybos.encoder)
    context = sent.ids[: len(sent.ids) - sent.scored]
    half = len(context) // 2
    assert len(sent.ids) == (129 if kind == "scored" else 28)
    assert context == whole[:half] + whole[-(len(context) - half) :] and context[0] == 0
    assert sent.cut_tokens == len(whole) - len(context)


def pair_ids(
    model: HFModel, pair: tuple[str, str], *, pairs: str = "joint", moves_blanks: bool = True
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    asked = [replace(instance, moves_blanks=moves_blanks) for instance in scoring_packet([pair]).instances]
    return encode_pairs(asked, replace(model.encoder, pairs=pairs))[0]


class _OracleRequest:
    def __init__(self, pair: tuple[str, str]) -> None:
        self.args = pair
        self.task_name = None


def _disjoint(window: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    from lm_eval.utils import make_disjoint_window

    return make_disjoint_window(window)
