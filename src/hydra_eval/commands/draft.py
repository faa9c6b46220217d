"""From the columns of a data set to a first task file: what is asked, what is right, which choices there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from hydra_eval.errors import UserError

KINDS = ("choice", "generation", "perplexity")
QUESTIONS = ("question", "query", "problem", "prompt", "instruction", "input", "goal", "sentence", "ctx", "text")
PASSAGES = ("passage", "context", "article", "support", "story", "premise", "document")
ANSWERS = (
    "answer", "answerKey", "label", "gold", "target", "correct", "correct_answer", "output", "solution", "completion",
    "response", "summary",
)  # fmt: skip
CHOICES = ("choices", "options", "endings", "candidates", "answers")
TEXTS = ("text", "page", "content", "document", "article")
SEVERAL = (("option1", "option2"), ("sol1", "sol2"), ("choice1", "choice2"), ("A", "B", "C", "D"), ("a", "b", "c", "d"))
"""Choices in columns of their own."""
JINJA_WORDS = ("self", "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else")
"""Columns of these names cannot stand in a template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The columns that the user names; what is None is guessed."""

    text: str | None = None
    target: str | None = None
    choices: str | None = None


def draft(
    name: str, kind: str, source: Mapping[str, Any], splits: Mapping[str, Mapping[str, Any]], given: Fields
) -> str:
    """The YAML of a task called `name`. `source` says where its data is, `splits` has one row of each split.

    Raises UserError where a column cannot be guessed, with the option that names it.
    """
    evaluated, shots = _splits(splits)
    row = splits[evaluated]
    content: dict[str, Any] = {"task": name, **source}
    content |= {"training_split": shots} if shots else {}
    content |= {"test_split": evaluated, **_FIELDS[kind](row, given), "metadata": {"version": 1.0}}
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)


class _Dumper(yaml.SafeDumper):
    """Keeps text with line ends on one line, as people write it in task files."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"' if "\n" in value else None)


_Dumper.add_representer(str, _text)


def _splits(splits: Mapping[str, Any]) -> tuple[str, str | None]:
    """(what is evaluated, what examples come from)"""
    evaluated = next((name for name in ("test", "validation", "dev") if name in splits), next(iter(splits)))
    shots = next((name for name in ("train", "validation", "dev") if name in splits and name != evaluated), None)
    return evaluated, shots


def _perplexity(row: Mapping[str, Any], given: Fields) -> dict[str, Any]:
    text = given.target or given.text or _column(row, TEXTS, "the text", "--text")
    return {"output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": _template(text, row)}


def _generation(row: Mapping[str, Any], given: Fields) -> dict[str, Any]:
    target = given.target or _column(row, ANSWERS, "the answer", "--target")
    metric = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, "ignore_case": True}
    return {
        "output_type": "generate_until",
        "doc_to_text": _question(row, given),
        "doc_to_target": _template(target, row),
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 64, "do_sample": False},
        "metric_list": [metric],
    }


def _choice(row: Mapping[str, Any], given: Fields) -> dict[str, Any]:
    choices, labels = _choices(row, given)
    target = given.target or _column(row, ANSWERS, "the right choice", "--target")
    names = ("acc", "acc_norm")
    return {
        "output_type": "multiple_choice",
        "doc_to_text": _question(row, given),
        "doc_to_choice": choices,
        "doc_to_target": _index(target, row, labels),
        "metric_list": [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in names],
    }


_FIELDS = {"choice": _choice, "generation": _generation, "perplexity": _perplexity}


def _question(row: Mapping[str, Any], given: Fields) -> str:
    """A passage, where there is one, then the question; bare, where a template could not name its column."""
    if given.text is not None and "{{" in given.text:
        return given.text
    question = _template(given.text or _column(row, QUESTIONS, "the question", "--text"), row)
    if not question.isidentifier() or question in JINJA_WORDS:
        return question
    passage = next((name for name in PASSAGES if name in row and name != question), None)
    head = "" if passage is None else f"{{{{{passage}}}}}\n"
    return f"{head}Question: {{{{{question}}}}}\nAnswer:"


def _choices(row: Mapping[str, Any], given: Fields) -> tuple[str, str | Sequence[str] | None]:
    """(doc_to_choice, what the answer is looked up in: a template's expression, or letters)"""
    if given.choices is not None and given.choices not in row:
        return given.choices, None
    column = given.choices or next((name for name in CHOICES if isinstance(row.get(name), list | Mapping)), None)
    if column is not None and isinstance(row[column], Mapping):
        return f"{{{{{column}.text}}}}", f"{column}.label"
    if column is not None:
        return column, None
    columns = next((names for names in SEVERAL if all(name in row for name in names)), None)
    if columns is None:
        raise _unknown("the choices", row, "--choices")
    return f"{{{{[{', '.join(columns)}]}}}}", columns if len(columns[0]) == 1 else None


def _index(target: str, row: Mapping[str, Any], labels: str | Sequence[str] | None) -> str:
    """An index and the text of a choice are taken as they are; a letter or a label is looked up."""
    value = row.get(target)
    if any(isinstance(row.get(column), list) and value in row[column] for column in CHOICES):
        return _template(target, row)
    if isinstance(value, str) and labels is not None:
        known = labels if isinstance(labels, str) else list(labels)
        return f"{{{{{known}.index({target})}}}}"
    if isinstance(value, str) and len(value) == 1 and value.isalpha():
        return f"{{{{'ABCDEFGHIJ'.index({target}.upper())}}}}"
    return _template(target, row)


def _template(given: str, row: Mapping[str, Any]) -> str:
    """A column is named bare; anything else is a template already."""
    if given not in row and "{{" not in given:
        raise UserError(f"'{given}' is no column. Columns: {', '.join(row)}.")
    return given


def _column(row: Mapping[str, Any], names: Sequence[str], what: str, option: str) -> str:
    found = next((name for name in names if name in row), None)
    if found is None:
        raise _unknown(what, row, option)
    return found


def _unknown(what: str, row: Mapping[str, Any], option: str) -> UserError:
    return UserError(f"Which column holds {what}? Name it with {option}. Columns: {', '.join(row)}.")
