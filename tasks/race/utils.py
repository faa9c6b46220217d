"""Hooks for articles whose questions come as the text of a Python list.

{"article": "The ferry was late. …",
 "problems": "[{'question': 'The ferry was  _  .', 'answer': 'B', 'options': ['red', 'late', 'new', 'old']}, …]"}
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from typing import Any

GAP = " _  ."
"""Ends a sentence that the answer completes; a blank stands before it."""


def article_with_questions(doc: Mapping[str, Any]) -> str:
    *answered, last = _problems(doc)
    return f"Article: {doc['article']}\n\n{''.join(map(_with_answer, answered))}{last['question']}"


def options(doc: Mapping[str, Any]) -> list[str]:
    return list(_problems(doc)[-1]["options"][:4])


def answer(doc: Mapping[str, Any]) -> int:
    return _index(_problems(doc)[-1])


def _problems(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(literal_eval(doc["problems"]))


def _with_answer(problem: Mapping[str, Any]) -> str:
    question, right = problem["question"], problem["options"][_index(problem)]
    if question.endswith(" " + GAP):
        return f"{question.removesuffix(GAP)}{right}\n"
    return f"Question: {question}\nAnswer: {right}\n"


def _index(problem: Mapping[str, Any]) -> int:
    return "ABCD".index(problem["answer"])
