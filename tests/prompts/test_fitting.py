from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import load_encoder, load_model, load_tokenizer
from hydra_eval.models.encoding import encode_requests, measure
from hydra_eval.pipeline import Work, prepare, score
from hydra_eval.prompts.fitting import Asked, Limits, fit, limits_of
from hydra_eval.prompts.overflow import Overflow
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Generation, Instance, InstanceKey, Request, RequestKind, SampleRow
from hydra_eval.results.aggregate import aggregate, merge_rows
from hydra_eval.tasks.task import Task, Template

from ..toys import docs_of, shot_plan, toy_task

REPLY = Generation(max_new_tokens=10, stop=("\n",))


def words(name: str, count: int) -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def limits(window: int, *policies: str) -> Limits:
    config = ModelConfig(kind="dummy", max_length=window)
    return limits_of(list(policies), load_encoder(config, load_tokenizer(config)))


# --- a run over one task: a description of 20 tokens, 5 examples of 30, a question of 40, a reply of 10 ---


def long_task(questions: Sequence[int] = (40,), *, examples: int = 5, **changes: Any) -> Task:
    template = Template(
        text=lambda row: row["question"],
        target=lambda row: row["answer"],
        choices=None,
        gen_prefix=lambda row: None,
        target_delimiter=" ",
        fewshot_delimiter="\n\n",
    )
    rows = [{"question": words(f"asked{number}.", count), "answer": "x"} for number, count in enumerate(questions)]
    shown = [{"question": words(f"shown{number}.", 29), "answer": "yes"} for number in range(examples)]
    task = toy_task(
        "generate_until",
        docs=docs_of(rows),
        all_docs=docs_of(rows),
        description=lambda row: words("told", 20) + "\n\n",
        template=template,
        shot_template=template,
        generation=REPLY,
        shots=shot_plan(docs_of(shown, split="train"), n=examples, strategy="first_n"),
    )
    return replace(task, **changes)


def run(work: Work, window: int) -> list[SampleRow]:
    config = ModelConfig(kind="dummy", max_length=window)
    model = load_model(config, "cpu", load_tokenizer(config))
    responses = [response for packet in work.packets for response in model.generate(packet)]
    return merge_rows([score(work, responses).rows], work.scored_tasks)


def prepared(task: Task, window: int, *policies: str, style: Style | None = None) -> Work:
    return prepare([task], style or Style(), batch_tokens=64, limits=limits(window, *policies))


def test_as_many_whole_examples_are_shown_as_fit_and_nothing_else_is_cut() -> None:
    work = prepared(long_task(), 150, "drop_shots")
    (row,) = run(work, 150)
    assert row.arguments[0][0].split() == [
        *words("told", 20).split(),
        *(f"{words('shown0.', 29)} yes {words('shown1.', 29)} yes {words('asked0.', 40)}").split(),
    ]
    assert (row.shots, row.shots_requested, row.shots_used) == ((0, 1), 5, 2)
    assert (row.input_tokens, row.cut_tokens) == ((120,), (0,))
    assert work.overflow["toy"] == Overflow(policies=("drop_shots",), dropped={0: 3}, excess=70)


@pytest.mark.parametrize(("window", "used"), [(219, 4), (220, 5), (99, 0), (100, 1), (70, 0)])
def test_the_window_is_used_to_the_last_token(window: int, used: int) -> None:
    (row,) = run(prepared(long_task(), window, "drop_shots"), window)
    assert (row.shots_used, row.cut_tokens) == (used, (0,))


@pytest.mark.parametrize(
    ("order", "shown"), [("drawn", (0, 1)), ("reversed", (1, 0)), ("shuffled", None)], ids=lambda value: str(value)
)
def test_the_examples_that_stay_are_those_of_a_run_with_fewer(order: str, shown: tuple[int, ...] | None) -> None:
    task = long_task((40, 41, 42, 43))
    plan = replace(task.shots, order=order)
    dropped = prepared(replace(task, shots=plan), 153, "drop_shots")
    asked_for_two = prepare([replace(task, shots=replace(plan, n=2))], Style(), batch_tokens=64)
    assert [one.shots for one in dropped.asked.values()] == [one.shots for one in asked_for_two.asked.values()]
    assert shown is None or {tuple(shot.index for shot in one.shots) for one in dropped.asked.values()} == {shown}


def test_what_does_not_fit_without_examples_is_an_error_that_says_what_would_do() -> None:
    message = (
        r"^toy, document 1, request 0: the prompt has 145 tokens and is 5 too long for the model's window of 150, 10 "
        r"of which are kept for the reply; it is the first of 2 such documents\. "
        r".*\[drop_shots,cut_left\].*\[drop_shots,skip\]"
    )
    with pytest.raises(UserError, match=message):
        prepared(long_task((40, 125, 130)), 150, "drop_shots")


def test_an_error_names_task_document_tokens_window_and_room_and_offers_the_rest() -> None:
    message = (
        r"^toy, document 0, request 0: the prompt has 210 tokens with its 5 examples and is 70 too long for the "
        r"model's window of 150, 10 of which are kept for the reply\. "
        r".*drop_shots.*cut_left.*cut_middle.*skip.*max_new_tokens"
    )
    with pytest.raises(UserError, match=message):
        prepared(long_task(), 150, "error")


def test_skipped_documents_are_counted_apart_from_n() -> None:
    work = prepared(long_task((40, 125, 41)), 150, "drop_shots", "skip")
    rows = run(work, 150)
    assert [row.doc_id for row in rows] == [0, 2]
    (task,) = work.scored_tasks
    assert {metric.n for metric in aggregate(task, rows, bootstrap=0).metrics} == {2}
    assert len(work.tasks[0].docs) == 3
    assert work.overflow["toy"] == Overflow(
        policies=("drop_shots", "skip"), dropped={0: 3, 2: 3}, skipped=(1,), excess=155
    )


@pytest.mark.parametrize("policies", [("skip",), ("drop_shots", "skip")], ids=",".join)
def test_a_task_without_a_document_that_fits_is_an_error(policies: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"^toy: prompt.overflow=skip leaves out all 2 documents.* 60 tokens"):
        prepared(long_task((40, 41)), 60, *policies)


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("cut_left", words("asked0.", 125).split()[-50:]),
        (
            "cut_middle",
            [*words("told", 20).split(), *words("asked0.", 5).split(), *words("asked0.", 125).split()[-25:]],
        ),
    ],
)
def test_what_is_left_after_dropping_is_cut(policy: str, kept: list[str]) -> None:
    (one,) = prepared(long_task((125,)), 60, "drop_shots", policy).asked.values()
    (sent,) = encode_requests(one.requests, encoder := limits(60, policy).encoder)  # type: ignore[arg-type]
    assert encoder is not None and sent.ids == tuple(encoder.tokenizer.encode(" ".join(kept)))
    assert (sent.cut_tokens, one.shots) == (95, ())


@pytest.mark.parametrize("policy", ["cut_left", "cut_middle"])
def test_where_the_only_policy_is_to_cut_nothing_is_tokenised_ahead(policy: str) -> None:
    (one,) = prepare([long_task()], Style(), batch_tokens=64, limits=Limits(policies=(policy,))).asked.values()
    assert len(one.shots) == 5
    assert {request.cut for request in one.requests} == {policy.removeprefix("cut_")}


def spoken(messages: list[dict[str, str]], add_generation_prompt: bool) -> str:
    return " ".join(f"<{message['role']}> {message['content']}" for message in messages) + " <assistant>"


@pytest.mark.parametrize("multiturn", [True, False], ids=["turns", "one turn"])
def test_chat_prompts_lose_whole_examples_too(multiturn: bool) -> None:
    style = Style(chat=spoken, multiturn=multiturn, system="Be brief.")
    (one,) = prepared(long_task(), 137, "drop_shots", style=style).asked.values()
    (request,) = one.requests
    assert len(one.shots) == (1 if multiturn else 2)
    assert request.context.startswith("<system> Be brief.") and "told19" in request.context
    assert words("asked0.", 40) in request.context and "shown0.28" in request.context


def asks_twice(doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
    """A short question and a long one, each after the same examples."""
    head = " ".join(shot.row["question"] for shot in shots)
    return [
        Request(kind=RequestKind.LOGLIKELIHOOD, arguments=(f"{head} short", " yes")),
        Request(kind=RequestKind.LOGLIKELIHOOD, arguments=(f"{head} {doc.row['question']}", " " + words("no", 3))),
    ]


def own(task: Task) -> Task:
    return replace(task, own_requests=asks_twice, process_results=lambda row, outputs: {"score": 1.0})


@pytest.mark.parametrize(("window", "used"), [(100, 2), (99, 1)])
def test_all_requests_of_a_document_show_the_same_examples(window: int, used: int) -> None:
    """The last token of a continuation is only predicted: 2 x 29 + 40 + 3 - 1 tokens are run."""
    (one,) = prepared(own(long_task()), window, "drop_shots").asked.values()
    assert len(one.shots) == used
    assert [request.context.count("shown") for request in one.requests] == [29 * used] * 2


def test_a_task_that_draws_its_own_examples_goes_to_the_next_policy() -> None:
    task = own(long_task())
    task = replace(task, shots=replace(task.shots, pool=(), drawn_by_task=True))
    (one,) = prepared(task, 30, "drop_shots", "cut_left").asked.values()
    assert {request.cut for request in one.requests} == {"left"}
    with pytest.raises(UserError, match="12 too long for the model's window of 30, together with the 3 of its"):
        prepared(task, 30, "drop_shots")


def test_a_continuation_that_is_longer_than_the_window_cannot_be_cut_but_skipped() -> None:
    def asks(doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
        return [Request(kind=RequestKind.LOGLIKELIHOOD, arguments=("q", " " + doc.row["question"]))]

    task = replace(own(long_task((40, 50))), own_requests=asks)
    work = prepared(task, 40, "cut_left", "skip")
    assert work.overflow["toy"].skipped == (1,)
    with pytest.raises(UserError, match=r"document 1.*cannot be cut; prompt.overflow=\[drop_shots,cut_left,skip\]"):
        prepared(task, 40, "drop_shots", "cut_left")


def test_whole_texts_are_never_too_long() -> None:
    task = toy_task("loglikelihood_rolling")
    work = prepared(task, 2, "error")
    assert len(work.asked) == len(task.docs)


# --- any lengths, any window, any policies ---


def composed(doc: Doc, shots: Sequence[Doc]) -> Asked:
    """A description, the examples, the question; scored after it, if it is no reply."""
    row: Mapping[str, Any] = doc.row
    parts = [words("told", row["told"]), *(words(f"shown{shot.index}.", shot.row["size"]) for shot in shots)]
    context = " ".join(filter(None, [*parts, words("asked", row["asked"])]))
    key = InstanceKey(doc.task, doc.index, 0, 0)
    if row["scored"]:
        kind, scored = RequestKind.LOGLIKELIHOOD, " " + words("scored", row["scored"])
        request = Instance(key=key, kind=kind, context=context, continuation=scored)
    else:
        generation = replace(REPLY, max_new_tokens=row["room"])
        request = Instance(key=key, kind=RequestKind.GENERATE, context=context, generation=generation)
    return Asked(doc=doc, shots=tuple(shots), requests=(request,))


sizes = st.integers(1, 12)
rows = st.fixed_dictionaries(
    {"told": st.integers(0, 12), "asked": sizes, "scored": st.integers(0, 5), "room": st.integers(1, 9)}
)
policies = st.lists(st.sampled_from(["drop_shots", "cut_left", "cut_middle", "skip", "error"]), min_size=1, max_size=3)


@given(st.lists(rows, min_size=1, max_size=4), st.lists(sizes, max_size=5), st.integers(10, 60), policies)
def test_nothing_is_ever_longer_than_the_window_less_room(
    docs: list[dict[str, int]], shots: list[int], window: int, chosen: list[str]
) -> None:
    pool = docs_of([{"size": size} for size in shots], split="train")
    asked = [composed(doc, pool) for doc in docs_of(docs)]
    within = limits(window, *chosen)
    assert within.encoder is not None
    fewer = lambda one, count: composed(one.doc, one.shots[:count])  # noqa: E731
    try:
        fitted, overflow = fit(toy_task(), asked, within, fewer)
    except UserError:
        return
    for one in fitted:
        (sent,), row = encode_requests(one.requests, within.encoder), one.doc.row
        assert len(sent.ids) - bool(sent.scored) + sent.room <= window
        if sent.cut_tokens:
            assert {"cut_left", "cut_middle"} & set(chosen)
        if overflow.dropped.get(one.doc.index) and not sent.cut_tokens:
            assert one.requests == composed(one.doc, pool[: len(one.shots)]).requests
            (larger,) = measure(composed(one.doc, pool[: len(one.shots) + 1]).requests, within.encoder)
            assert larger.excess and len(sent.ids) >= row["told"] + row["asked"]
    assert sorted([*overflow.skipped, *(one.doc.index for one in fitted)]) == list(range(len(docs)))
