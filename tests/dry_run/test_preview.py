from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hydra_eval.dry_run.preview import LAST, MOST, as_json, previews, sections
from hydra_eval.models.dummy import WordTokenizer
from hydra_eval.models.encoding import Encoder
from hydra_eval.records import Generation, Instance, RequestKind

from ..toys import request

WORDS = WordTokenizer()


def encoder(window: int = 1000) -> Encoder:
    return Encoder(tokenizer=WORDS, max_length=window, prefix_id=0, pairs="separate")


def shown(*instances: Instance, window: int = 1000, lines: int | None = None) -> list[tuple[str, str]]:
    found = previews(instances, encoder(window))
    return [section for preview in found for section in sections(preview, WORDS, lines=lines)]


def reply(context: str, **options: Any) -> Instance:
    generation = Generation(max_new_tokens=4, stop=("\n",))
    arguments = (context, options)
    return request(kind=RequestKind.GENERATE, context=context, generation=generation, arguments=arguments)


def test_prompt_and_what_is_scored_stand_apart() -> None:
    (prompt, text), (scored, continuation), (_, numbers) = shown(request())
    assert (prompt, text) == ("request 0 (loglikelihood): prompt, 6 tokens", "What·is·the·colour·of·grass?")
    assert (scored, continuation) == ("request 0 (loglikelihood): scored, 1 token", "·green")
    assert numbers.splitlines()[0].endswith(f"⟦{WORDS.encode('green')[0]}⟧")


def test_a_prompt_that_comes_again_is_shown_once() -> None:
    same, other = request(index=1, continuation=" red"), request(index=2, context="And snow?")
    titles = [title for title, _ in shown(request(), same, other) if "prompt" in title]
    assert titles == ["request 0 (loglikelihood): prompt, 6 tokens", "request 2 (loglikelihood): prompt, 2 tokens"]


def test_repeats_of_a_request_are_left_out() -> None:
    again = replace(reply("a"), key=reply("a").key._replace(repeat=1))
    assert len(previews([reply("a"), again], encoder())) == 1


def test_a_reply_is_shown_with_its_options_and_stops() -> None:
    found = dict(shown(reply("a b", until=["\n"])))
    assert json.loads(found["request 0 (generate_until): generation"]) == {"until": ["\n"]}
    assert found["request 0 (generate_until): stops"] == "'\\n'  '</s>'"


def test_what_is_cut_is_counted() -> None:
    (title, _), *_ = shown(reply("a b c d e"), window=6)
    assert title == "request 0 (generate_until): prompt, 2 tokens, 3 more are cut"


def test_long_texts_are_cut_for_the_eye_alone() -> None:
    lines = "\n".join("abcdefgh")
    (_, text), *_ = shown(reply(lines), lines=4)
    assert text.splitlines() == ["a⏎", "b⏎", "… 4 lines left out …", "g⏎", "h"]
    (preview,) = previews([reply(lines)], encoder())
    assert as_json(preview, WORDS)["prompt"] == lines


def test_the_last_tokens_of_a_prompt_stand_beside_their_texts() -> None:
    *_, (_, ids) = shown(reply(" ".join(map(str, range(LAST + 3)))))
    assert ids.splitlines()[-1].startswith("… ") and ids.splitlines()[-1].count("=") == LAST


def test_a_text_that_is_read_whole_has_no_prompt() -> None:
    text = " ".join(map(str, range(MOST + 1)))
    rolling = request(kind=RequestKind.ROLLING, context="", continuation=text)
    (title, _), (_, ids) = shown(rolling)
    assert title == f"request 0 (loglikelihood_rolling): scored, {MOST + 1} tokens"
    assert ids.splitlines()[-1].count("=") == MOST and ids.endswith("…")


def test_the_file_has_every_id_and_its_text() -> None:
    first, second = previews([request(), request(index=1, continuation=" </s>")], encoder())
    assert as_json(first, WORDS) == {
        "request": 0,
        "kind": "loglikelihood",
        "prompt": "What is the colour of grass?",
        "prompt_tokens": 6,
        "prompt_ids": WORDS.encode("What is the colour of grass?"),
        "prompt_pieces": [""] * 6,
        "scored": " green",
        "scored_ids": WORDS.encode("green"),
        "scored_pieces": [""],
        "cut_tokens": 0,
    }
    assert (as_json(second, WORDS)["prompt"], as_json(second, WORDS)["prompt_tokens"]) == (None, 6)
    assert as_json(previews([reply("a")], encoder())[0], WORDS) | {"stop": ["\n", "</s>"], "room": 4} == as_json(
        previews([reply("a")], encoder())[0], WORDS
    )
