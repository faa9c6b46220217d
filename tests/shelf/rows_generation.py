"""Made-up rows in the columns of each data set that the tasks with generated answers read."""

from __future__ import annotations

from typing import Any

from .rows_choice import Data, Rows, say, several, splits

NO_TEST = ("train", "validation")
BLANK_DATE = {"day": "", "month": "", "year": ""}


def always(row: Any, *names: str) -> Data:
    return lambda subset: splits(row, *names)


def gsm8k(split: str, number: int) -> dict[str, Any]:
    total = 1200 * number + 7
    working = f"First {total} - 7 = <<{total}-7={total - 7}>>{total - 7} of them.\nThen 7 more make {total:,}."
    return {"question": say(split, number, "counts how many?"), "answer": f"{working}\n#### {total:,}"}


def svamp(split: str, number: int) -> dict[str, Any]:
    row = {"ID": f"chal-{number}", "Body": f"{say(split, number, 'has 3')} ", "Question": "How many are there ?"}
    answer = str(number + 3) if number % 2 else f"{number + 3}.0"
    return {**row, "Equation": f"( {number}.0 + 3.0 )", "Answer": answer, "Type": "Addition"}


MATHS = (r"\frac{1}{2}", "12", r"[2,5)", r"x^2+1", r"45^\circ", r"3\text{ cm}", r"\sqrt{2}", "1,000", r"\$4", "-3/4")


def maths(split: str, number: int) -> dict[str, Any]:
    answer = MATHS[number % len(MATHS)]
    box = rf"\boxed {answer}" if number == 3 else rf"\boxed{{{answer}}}"
    row = {"problem": say(split, number, "is what in $x$?"), "solution": f"By hand ${box}$ {number}."}
    return {**row, "level": "Level 1", "type": "Algebra", "answer": answer} if split == "test" else row


def bbh(subset: str | None) -> dict[str, Rows]:
    row = {"word_sorting": sorting, "boolean_expressions": truth, "dyck_languages": brackets}
    row |= {"object_counting": counting, "multistep_arithmetic_two": counting}
    row |= dict.fromkeys(("causal_judgement", "navigate"), yes_no)
    row |= dict.fromkeys(("sports_understanding", "web_of_lies"), lies) | {"formal_fallacies": validity}
    return splits(row.get(str(subset), lettered), "test")


def lettered(split: str, number: int) -> dict[str, Any]:
    choices = "\n".join(f"({letter}) {text}" for letter, text in zip("ABC", several(split, number, 3), strict=True))
    return {"input": f"{say(split, number, 'wins?')}\nOptions:\n{choices}", "target": f"({'ABC'[number % 3]})"}


def truth(split: str, number: int) -> dict[str, Any]:
    return {"input": f"not ( {number} > 3 ) is", "target": str(number <= 3)}


def yes_no(split: str, number: int) -> dict[str, Any]:
    return {"input": say(split, number, "returns?"), "target": ("Yes", "No")[number % 2]}


def lies(split: str, number: int) -> dict[str, Any]:
    return {"input": say(split, number, "lies?"), "target": ("yes", "no")[number % 2]}


def validity(split: str, number: int) -> dict[str, Any]:
    return {"input": say(split, number, "follows?"), "target": ("valid", "invalid")[number % 2]}


def brackets(split: str, number: int) -> dict[str, Any]:
    return {"input": f"Close: [ ( {number}", "target": ") ]" if number % 2 else "> ) ]"}


def counting(split: str, number: int) -> dict[str, Any]:
    return {"input": say(split, number, "adds up to?"), "target": str(number - 2)}


def sorting(split: str, number: int) -> dict[str, Any]:
    words = ["plum", "Éclair", "kettle", f"word{number}"]
    return {"input": f"Sort these: List: {' '.join(words)}", "target": " ".join(sorted(words))}


def drop(split: str, number: int) -> dict[str, Any]:
    answers = [
        {"number": str(1000 + number), "date": BLANK_DATE, "spans": []},
        {"number": "", "date": {"day": "4", "month": "May", "year": "1999"}, "spans": []},
        {"number": "", "date": BLANK_DATE, "spans": ["the Heron", f"lamp-{number}"]},
    ]
    answer, *others = [answers[(number + step) % 3] for step in range(3)]
    validated = others[: 1 + number % 2]
    return {
        "query_id": f"{split}{number}",
        "passage": say(split, number),
        "question": "Which one?",
        "answer": answer,
        "validated_answers": {key: [given[key] for given in validated] for key in ("number", "date", "spans")},
    }


def triviaqa(split: str, number: int) -> dict[str, Any]:
    aliases = [*several(split, number, 2), f"An Alias, {number}."]
    answer = {"aliases": aliases, "value": aliases[0], "normalized_value": aliases[0].lower()}
    return {"question": say(split, number, "is whose"), "question_id": f"q{number}", "answer": answer}


def nq_open(split: str, number: int) -> dict[str, Any]:
    return {
        "question": say(split, number, "was when"),
        "answer": [f"the {split} {number}", f"A lamp {number}"][: 1 + number % 2],
    }


def squad(split: str, number: int) -> dict[str, Any]:
    texts = [] if number % 3 == 2 else ["the late bus", f"a bus {number}", "Bus!"][: 1 + number % 3]
    context = f"{say(split, number)} The late bus came, bus {number}."
    row = {"id": f"{split}{number}", "title": f"Buses_{number % 3}", "context": context, "question": "What came?"}
    return {**row, "answers": {"text": texts, "answer_start": [0] * len(texts)}}


def hotpot(split: str, number: int) -> dict[str, Any]:
    titles = [f"Lamp {number}", f"Quince {number}"]
    sentences = [[f"Lamp {number} is old.", " It burns."], [f"Quince {number} was lit by it."]]
    row = {"id": f"{split}{number}", "question": f"What was lit by lamp {number}?", "answer": f"Quince {number}"}
    return {**row, "context": {"title": titles, "sentences": sentences}}


def humaneval(split: str, number: int) -> dict[str, Any]:
    name = f"add_{number}"
    return {
        "task_id": f"Made/{number}",
        "prompt": f'def {name}(n):\n    """n and {number}."""\n',
        "canonical_solution": f"    return n + {number}\n",
        "test": f"\n\ndef check(candidate):\n    assert candidate(1) == {1 + number}\n",
        "entry_point": name,
    }


def mbpp(split: str, number: int) -> dict[str, Any]:
    number += 1
    return {
        "task_id": number,
        "text": f"Write a function that adds {number} to {split}.",
        "code": f"def add(n):\r\n  return n + {number}",
        "test_list": [f"assert add({given}) == {given + number}" for given in range(3)],
        "test_setup_code": "",
        "challenge_test_list": [],
    }


INSTRUCTIONS = (
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}),
    ("punctuation:no_comma", {}),
    ("detectable_format:title", {}),
)


def ifeval(split: str, number: int) -> dict[str, Any]:
    chosen = INSTRUCTIONS[: 1 + number % 3]
    every = {name: None for _, arguments in INSTRUCTIONS for name in arguments}
    return {
        "key": number,
        "prompt": say(split, number, "is to be praised"),
        "instruction_id_list": [kind for kind, _ in chosen],
        "kwargs": [every | arguments for _, arguments in chosen],
    }


DATA: dict[str, Data] = {
    "openai/gsm8k": always(gsm8k, "train", "test"),
    "ChilleD/SVAMP": always(svamp, "train", "test"),
    "EleutherAI/hendrycks_math": always(maths, "train", "test"),
    "HuggingFaceH4/MATH-500": always(maths, "test"),
    "SaylorTwift/bbh": bbh,
    "EleutherAI/drop": always(drop, *NO_TEST),
    "mandarjoshi/trivia_qa": always(triviaqa, *NO_TEST),
    "google-research-datasets/nq_open": always(nq_open, *NO_TEST),
    "lighteval/squad_v2": always(squad, *NO_TEST),
    "rajpurkar/squad_v2": always(squad, *NO_TEST),
    "hotpotqa/hotpot_qa": always(hotpot, *NO_TEST),
    "openai/openai_humaneval": always(humaneval, "test"),
    "google-research-datasets/mbpp": always(mbpp, "prompt", "test"),
    "google/IFEval": always(ifeval, "train"),
}
"""Data set on the hub → its made-up rows."""
