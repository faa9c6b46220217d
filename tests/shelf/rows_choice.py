"""Made-up rows in the columns of each data set that the multiple-choice and likelihood tasks read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Rows: TypeAlias = list[dict[str, Any]]
RowOf: TypeAlias = Callable[[str, int], dict[str, Any]]
"""`(split, number) -> row`."""
Data: TypeAlias = Callable[[str | None], dict[str, Rows]]
"""`subset -> split -> rows`."""

THINGS = (
    "a heron",
    "Zoë's kettle",
    'the "late" bus',
    "über-glue",
    "a quince",
    "50% of it",
    "soup — cold",
    "{{x}} & co",
)
CATEGORIES = (
    *("biology", "business", "chemistry", "computer science", "economics", "engineering", "health"),
    *("history", "law", "math", "other", "philosophy", "physics", "psychology"),
)
"""Of MMLU-Pro."""
COUNTS = {"train": 9, "dev": 5, "validation": 12, "test": 14}


def splits(row: RowOf, *names: str) -> dict[str, Rows]:
    """Each split with rows of its own."""
    return {name: [row(name, number) for number in range(COUNTS.get(name, 12))] for name in names}


def say(split: str, number: int, what: str = "says") -> str:
    """A sentence that no other row has."""
    return f"{THINGS[number % len(THINGS)].capitalize()} {what} “{split} {number}”, n'est-ce pas."


def several(split: str, number: int, count: int) -> list[str]:
    return [f"{THINGS[(number + step) % len(THINGS)]}, {split} {number}.{step}" for step in range(count)]


def letters(count: int) -> list[str]:
    return list("ABCDEFGHIJ"[:count])


def hellaswag(split: str, number: int) -> dict[str, Any]:
    return {
        "ind": number,
        "activity_label": f"Mending {THINGS[number % 8]}",
        "ctx_a": f" [header] How to wait [title] Sit down. [step] {say(split, number)}",
        "ctx_b": ("the  HERON", "", "éclair [substeps] in hand")[number % 3],
        "endings": [f"{ending}. [substeps] Well  then [title] so. " for ending in several(split, number, 4)],
        "label": str(number % 4),
    }


def arc(split: str, number: int) -> dict[str, Any]:
    labels = letters(4) if number % 3 else ["1", "2", "3", "4"]
    row = {"id": f"{split}{number}", "question": say(split, number, "melts?")}
    return {**row, "choices": {"text": several(split, number, 4), "label": labels}, "answerKey": labels[number % 4]}


def piqa(split: str, number: int) -> dict[str, Any]:
    first, second = several(split, number, 2)
    return {"goal": say(split, number, "opens"), "sol1": first, "sol2": second, "label": number % 2}


def openbookqa(split: str, number: int) -> dict[str, Any]:
    texts = several(split, number, 4)
    return {
        "id": f"{split}{number}",
        "question_stem": say(split, number, "is made of"),
        "choices": {"text": texts, "label": letters(4)},
        "answerKey": " " * (number % 2) + "ABCD"[number % 4],
    }


def commonsense_qa(split: str, number: int) -> dict[str, Any]:
    return {
        "id": f"{split}{number}",
        "question": f" {say(split, number, 'is where?')}  ",
        "question_concept": "where",
        "choices": {"label": letters(5), "text": several(split, number, 5)},
        "answerKey": "ABCDE"[number % 5],
    }


def social_iqa(split: str, number: int) -> dict[str, Any]:
    first, second, third = several(split, number, 3)
    row = {"context": say(split, number, "sees"), "question": "What does it feel?"}
    return {**row, "answerA": first, "answerB": second, "answerC": third, "label": str(number % 3 + 1)}


def sciq(split: str, number: int) -> dict[str, Any]:
    wrong = {f"distractor{place}": text for place, text in enumerate(several(split, number, 3), start=1)}
    row = {"question": say(split, number, "needs what?"), "correct_answer": f"água {number}"}
    return {**row, **wrong, "support": (f"  \n{say(split, number)} ", "")[number % 5 == 4]}


def mmlu(split: str, number: int) -> dict[str, Any]:
    row = {"question": f"\n{say(split, number)} ", "subject": "unused", "choices": several(split, number, 4)}
    return {**row, "answer": number % 4}


def mmlu_pro(split: str, number: int) -> dict[str, Any]:
    count = 10 - number % 4
    return {
        "question_id": number,
        "question": say(split, number, "weighs?"),
        "options": [f" {text} " for text in several(split, number, count)],
        "answer": letters(10)[number % count],
        "answer_index": number % count,
        "cot_content": f"A: Let's think step by step. {say(split, number)} The answer is (B)." * (split != "test"),
        "category": CATEGORIES[number % 14],
    }


def truthfulqa(split: str, number: int) -> dict[str, Any]:
    few, many = several(split, number, 2 + number % 3), several(split, number, 3 + number % 4)
    true = 1 + number % 3
    return {
        "question": say(split, number, "bites?"),
        "mc1_targets": {"choices": few, "labels": [1] + [0] * (len(few) - 1)},
        "mc2_targets": {"choices": many, "labels": [1] * true + [0] * (len(many) - true)},
    }


def race(split: str, number: int) -> dict[str, Any]:
    def problem(place: int) -> dict[str, Any]:
        question = ("What is “it”?", "It isn't  _  .", "One  _  is lost.")[(number + place) % 3]
        return {"question": question, "answer": "ABCD"[(number + place) % 4], "options": several(split, number, 4)}

    problems = [problem(place) for place in range(1 + number % 4)]
    return {"article": f"{say(split, number)}\nIt went on.", "problems": str(problems)}


def logiqa(split: str, number: int) -> dict[str, Any]:
    row = {"label": "abcd"[number % 4] + " " * (number % 2), "context": say(split, number)}
    return {**row, "question": "Which follows?", "options": several(split, number, 4)}


def agieval(split: str, number: int) -> dict[str, Any]:
    gold = [number % 5] if number % 4 else [0, 3]
    query = f"Q: {say(split, number)} Answer Choices: (A)… (B)…\nA: Among A through E, the answer is"
    return {"query": query, "choices": [f"({label}){text}" for label, text in lettered(split, number)], "gold": gold}


def agieval_math(split: str, number: int) -> dict[str, Any]:
    answer = (f"{number}", f"\\frac{{{number}}}{{7}}", "x/2", f"${number}\\%$")[number % 4]
    return {"query": f"Q: {say(split, number, 'counts')}\nA: The answer is", "answer": answer}


def lettered(split: str, number: int) -> Sequence[tuple[str, str]]:
    return list(zip(letters(5), several(split, number, 5), strict=True))


def pair_of_sentences(first: str, second: str, labels: int) -> RowOf:
    """GLUE's and SuperGLUE's shape: two texts and a label."""

    def row(split: str, number: int) -> dict[str, Any]:
        ending = ("", ".", ". ")[number % 3]
        texts = {first: f"{say(split, number)} ", second: f"{say(split, number, 'meets')[:-1]}{ending}"}
        return {**texts, "label": number % labels, "idx": number}

    return row


def one_sentence(split: str, number: int) -> dict[str, Any]:
    return {"sentence": say(split, number), "label": number % 2, "idx": number}


def boolq(split: str, number: int) -> dict[str, Any]:
    return {"question": f"is it {number}", "passage": say(split, number), "idx": number, "label": number % 2}


def copa(split: str, number: int) -> dict[str, Any]:
    first, second = (say(split, number, what) for what in ("falls", "ÉCLATE"))
    return {
        "premise": f" {say(split, number)} ",
        "choice1": first,
        "choice2": second,
        "question": ("cause", "effect")[number % 2],
        "idx": number,
        "label": number // 2 % 2,
    }


def multirc(split: str, number: int) -> dict[str, Any]:
    row = {"paragraph": f"<b>{say(split, number)}</b>\nMore.", "question": f"Who is {number}?"}
    return {**row, "answer": f"It's {THINGS[number % 8]}'", "idx": {"answer": number}, "label": number % 2}


def record(split: str, number: int) -> dict[str, Any]:
    names = [f"Zoë {number}", "Ålesund", f"the {split} Club", "Ålesund"]
    points = "".join(f"\n@highlight\nPoint {place} of {names[0]}" for place in range(number % 3))
    return {
        "passage": f" {say(split, number)}\nSecond line.{points} ",
        "query": f"Then @placeholder met @placeholder in {split} {number}",
        "entities": names,
        "answers": [names[number % 2], names[2], names[2]],
        "idx": {"passage": number, "query": number},
    }


def wic(split: str, number: int) -> dict[str, Any]:
    first, second = f"Ü{number}: the bank is {split}.", f'"{split}" banks {number}.'
    start, second_start = first.index("bank"), second.index("banks")
    spans = {"start1": start, "end1": start + 4, "start2": second_start, "end2": second_start + 5}
    return {"word": "bank", "sentence1": first, "sentence2": second, **spans, "idx": number, "label": number % 2}


def wsc(split: str, number: int) -> dict[str, Any]:
    text = f"Ana ( of {split} {number} ) did n't thank Mía because she had called , \" twice \" , she 's said ."
    spans = {"span1_index": 0, "span2_index": text.split().index("she"), "span1_text": "Mía", "span2_text": "she"}
    return {"text": text, **spans, "idx": number, "label": number % 2}


def lambada(split: str, number: int) -> dict[str, Any]:
    return {"text": f"{say(split, number)}\n\nthen , it said : `` {THINGS[number % 8]}", "domain": "novel"}


def wikitext(split: str, number: int) -> dict[str, Any]:
    head = f" = {THINGS[number % 8]} = \n \n = = Early = = \n = = = Later = = = \n = = = = Last = = = = \n"
    signs = "It weighs 1 @.@ 2 kg @-@ ish , or 1 @,@ 000 g ; the sailors ' boat ' s \" big \" ( or so ) [ 2 ] { x } ."
    return {"page": f"{head} {signs} {say(split, number)} At 5 ° C , N birds : it 's ' so ' ! ? Yes ? No ! \n "}


def blimp(split: str, number: int) -> dict[str, Any]:
    return {"sentence_good": say(split, number), "sentence_bad": say(split, number, "say"), "field": "syntax"}


def blank(split: str, number: int) -> dict[str, Any]:
    first, second, *_ = several(split, number, 2)
    sentence = f"{say(split, number)} Then _ fell over {'_' * (number % 2)} and cried. "
    return {"sentence": sentence, "option1": first, "option2": second, "answer": str(number % 2 + 1)}


def belebele(split: str, number: int) -> dict[str, Any]:
    answers = {f"mc_answer{place}": text for place, text in enumerate(several(split, number, 4), start=1)}
    passage = {"link": "x", "question_number": number, "flores_passage": f"{say(split, number)} И ещё."}
    return {**passage, "question": f" {number}? ", **answers, "correct_answer_num": str(number % 4 + 1)}


def mgsm(ask: str, work: str) -> RowOf:
    """Examples with worked answers, documents with the number alone."""

    def row(split: str, number: int) -> dict[str, Any]:
        # The last document too: a column of nothing but nulls would have no type.
        is_example = split == "train" or number == COUNTS["test"] - 1
        question = f"{say(split, number, 'costs')} {number}?"
        answer = f"{work} {number} + 1 = {number + 1}. The answer is {number + 1}." if is_example else None
        asked = f"{ask} {question}" if is_example else question
        return {"question": asked, "answer": answer, "answer_number": 1000 * number + 1, "equation_solution": None}

    return row


USUAL, NO_TEST = ("train", "validation", "test"), ("train", "validation")
MGSM = {
    "de": ("Frage:", "Schritt-für-Schritt-Antwort:"),
    "ja": ("問題：", "ステップごとの答え:"),
    "zh": ("问题：", "逐步解答:"),
}
"""How a question and a worked answer begin."""
EXAMS = ("aqua-rat", "gaokao-english", "logiqa-en", "lsat-ar", "lsat-lr", "lsat-rc", "sat-en", "sat-math")
PAIRS: dict[str | None, RowOf] = {
    "mnli": pair_of_sentences("premise", "hypothesis", 3),
    "mrpc": pair_of_sentences("sentence1", "sentence2", 2),
    "qnli": pair_of_sentences("question", "sentence", 2),
    "qqp": pair_of_sentences("question1", "question2", 2),
    "rte": pair_of_sentences("sentence1", "sentence2", 2),
    "wnli": pair_of_sentences("sentence1", "sentence2", 2),
}
SUPER_GLUE: dict[str | None, RowOf] = {
    "boolq": boolq,
    "cb": pair_of_sentences("premise", "hypothesis", 3),
    "copa": copa,
    "multirc": multirc,
    "record": record,
    "rte": pair_of_sentences("premise", "hypothesis", 2),
    "wic": wic,
    "wsc.fixed": wsc,
}


def always(row: RowOf, *names: str) -> Data:
    return lambda subset: splits(row, *names)


DATA: dict[str, Data] = {
    "Rowan/hellaswag": always(hellaswag, *NO_TEST),
    "allenai/ai2_arc": always(arc, *USUAL),
    "baber/piqa": always(piqa, *NO_TEST),
    "allenai/openbookqa": always(openbookqa, *USUAL),
    "tau/commonsense_qa": always(commonsense_qa, *NO_TEST),
    "lighteval/siqa": always(social_iqa, *NO_TEST),
    "allenai/sciq": always(sciq, *USUAL),
    "cais/mmlu": always(mmlu, "dev", "test"),
    "TIGER-Lab/MMLU-Pro": lambda subset: {
        split: [mmlu_pro(split, number) for number in range(4 * len(CATEGORIES))] for split in ("validation", "test")
    },
    "truthfulqa/truthful_qa": always(truthfulqa, "validation"),
    "EleutherAI/race": always(race, "test"),
    "EleutherAI/logiqa": always(logiqa, *USUAL),
    **{f"hails/agieval-{exam}": always(agieval, "test") for exam in EXAMS},
    "hails/agieval-sat-en-without-passage": always(agieval, "test"),
    "hails/agieval-math": always(agieval_math, "test"),
    "nyu-mll/glue": lambda subset: splits(
        PAIRS.get(subset, one_sentence), *NO_TEST, "validation_matched", "validation_mismatched"
    ),
    "aps/super_glue": lambda subset: splits(SUPER_GLUE[subset], *NO_TEST),
    "EleutherAI/lambada_openai": always(lambada, "test"),
    "cimec/lambada": always(lambada, "validation", "test"),
    "EleutherAI/wikitext_document_level": always(wikitext, *USUAL),
    "nyu-mll/blimp": always(blimp, "train"),
    "cambridgeltl/xcopa": always(copa, "validation", "test"),
    "allenai/winogrande": always(blank, *NO_TEST),
    "Muennighoff/xwinograd": always(blank, "test"),
    "facebook/belebele": always(belebele, "test"),
    "juletxara/mgsm": lambda subset: splits(
        mgsm(*MGSM.get(str(subset), ("Question:", "Step-by-Step Answer:"))), "train", "test"
    ),
}
"""Data set on the hub → its made-up rows."""
