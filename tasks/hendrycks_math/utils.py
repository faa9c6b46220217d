r"""Hooks for problems whose solutions box their answer.

{"problem": "What is $3 \\cdot 4$?", "level": "Level 1", "type": "Algebra",
 "solution": "Three fours are $\\boxed{12}$."}

Both sides of a comparison are first brought to one spelling. Verdicts are those of lm-eval 0.4.13 (after the code
published with Hendrycks et al. 2021), its gaps included: a text that a rule cannot read makes the two sides be compared
as they stand. `minerva_math` evens out spellings after appendix D of <https://arxiv.org/abs/2206.14858>.
"""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from hydra_eval.errors import UserError

log = logging.getLogger(__name__)

SPELLINGS = (
    ("\n", ""),
    (r"\!", ""),
    (r"\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    (r"\left", ""),
    (r"\right", ""),
    (r"^{\circ}", ""),
    (r"^\circ", ""),
    (r"\$", ""),
)
"""Line breaks, thin spaces, two sizes of fraction, sizes of brackets, degrees and currency; in this order."""
UNIT = r"\text{ "
"""Opens a unit of measurement where the data has one."""


class UnreadableError(ValueError):
    """A rule met something that it cannot take apart."""


def add_answers(docs: Any) -> Any:
    """The column `answer` of a `datasets.Dataset`: what the solution boxes."""
    return docs.map(lambda doc: {"answer": answer(doc)})


def answer(doc: Mapping[str, Any]) -> str:
    found = boxed(doc["solution"])
    if found is None:
        raise UserError(rf"a solution needs its answer in \boxed{{…}}, but this one has none: {doc['solution']!r}")
    return found


def score_reply(doc: Mapping[str, Any], results: list[str]) -> dict[str, int]:
    """Right where the reply, or its part between the first and the last dollar sign, is the boxed answer."""
    _, *inner = results[0].split("$")
    given = "$".join(inner[:-1]) if len(inner) > 1 else results[0]
    return {"exact_match": int(is_same(given, answer(doc)))}


def boxed(solution: str) -> str | None:
    r"""What stands in the last `\boxed{…}` of a solution, braces balanced, or behind the last `\boxed ` up to a `$`."""
    if r"\boxed " in solution:
        return solution.rpartition(r"\boxed ")[2].partition("$")[0]
    _, command, rest = solution.rpartition(r"\boxed")
    if not command or not rest.startswith("{"):
        return None
    depth = 0
    for position, sign in enumerate(rest):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return rest[1:position]
    return None


def is_same(one: str, other: str) -> bool:
    """Equal once both are brought to one spelling; where that fails, equal as they stand."""
    try:
        return one_spelling(one) == one_spelling(other)
    except UnreadableError:
        return one == other


def one_spelling(text: str) -> str:
    for written, wanted in SPELLINGS:
        text = text.replace(written, wanted)
    # Two passes for the percent sign, as there: the first may make another.
    text = _without_unit(text).replace(r"\%", "").replace(r"\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if text.startswith("."):
        text = f"0{text}"
    text = _braced_fractions(_braced_roots(_without_name(text)).replace(" ", ""))
    return _as_fraction(r"\frac{1}{2}" if text == "0.5" else text)


def _without_unit(text: str) -> str:
    amount, *units = text.split(UNIT)
    if len(units) > 1:
        raise UnreadableError(text)
    return amount


def _without_name(text: str) -> str:
    """`k = 3` is 3: one or two characters, one equals sign."""
    name, *values = text.split("=")
    return values[0] if len(values) == 1 and len(name) <= 2 else text


def _braced_roots(text: str) -> str:
    r"""`\sqrt3` becomes `\sqrt{3}`."""
    head, *roots = text.split(r"\sqrt")
    if not all(roots):
        raise UnreadableError(text)
    return head + "".join(r"\sqrt" + re.sub(r"^([^{])", r"{\1}", root) for root in roots)


def _braced_fractions(text: str) -> str:
    r"""`\frac12` and `\frac1{2}` become `\frac{1}{2}`; one that breaks off leaves the whole text as it is."""
    head, *fractions = text.split(r"\frac")
    braced = [head]
    for fraction in fractions:
        if not fraction:
            raise UnreadableError(text)
        if fraction[0] != "{" and len(fraction) == 1:
            return text
        braced.append(r"\frac" + re.sub(r"^([^{])([^{]?)", _in_braces, fraction))
    return "".join(braced)


def _in_braces(found: re.Match[str]) -> str:
    top, bottom = found.groups()
    return f"{{{top}}}" + (f"{{{bottom}}}" if bottom else "")


def _as_fraction(text: str) -> str:
    r"""`3/4` becomes `\frac{3}{4}`; one slash between anything but whole numbers cannot be read."""
    parts = text.split("/")
    if len(parts) != 2:
        return text
    try:
        top, bottom = (int(part) for part in parts)
    except ValueError as error:
        raise UnreadableError(text) from error
    return rf"\frac{{{top}}}{{{bottom}}}" if text == f"{top}/{bottom}" else text


# What minerva_math does.

SECONDS = 5
"""For one symbolic comparison."""
LAST_SENTENCE = re.compile(r"Final Answer: The final answer is(.*?). I hope it is correct.")
NO_ANSWER = "[invalidanswer]"
PLAIN_SPELLINGS = (
    ("an ", ""),
    ("a ", ""),
    (".$", "$"),
    (r"\$", ""),
    (r"\ ", ""),
    (" ", ""),
    ("mbox", "text"),
    (r",\text{and}", ","),
    (r"\text{and}", ","),
    (r"\text{m}", r"\text{}"),
)
"""What is written → what it becomes, one after the other."""
UNITS = r"""
square ways integers dollars mph inches ft hours km units \ldots sue points feet minutes digits cents
degrees cm gm pounds meters meals edges students childrentickets multiples
"""
DROPPED = (
    *UNITS.split(),
    *(r"\text{s}", r"\text{.}", "\\text{\ns}", r"\text{}^2", r"\text{}^3", "\\text{\n}", r"\text{}", r"\mathrm{th}"),
    *(r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', r"\dots"),
)
"""Units, fillers and signs that say nothing about the value; removed one after the other."""
WHOLE_WORDS = re.compile(rf"(?<!\\)\b(?:{'|'.join(filter(str.isalpha, DROPPED))})\b")
COMMANDS = re.compile(r"(\\[a-zA-Z]+)")
SHORTHAND = (
    (re.compile(r".*?\$(.*?)\$.*"), r"$\1$"),
    (re.compile(r"\\text\{(.*?)\}"), r"\1"),
    (re.compile(r"\\textbf\{(.*?)\}"), r"\1"),
    (re.compile(r"\\overline\{(.*?)\}"), r"\1"),
    (re.compile(r"\\boxed\{(.*)\}"), r"\1"),
    (re.compile(r"frac([^{])(.)"), r"frac{\1}{\2}"),
    (re.compile(r"sqrt(\[[^\]]*\])(\w)"), r"sqrt\1{\2}"),
    (re.compile(r"sqrt(?!\[)([^{])"), r"sqrt{\1}"),
)
"""Frames around the value come off, and arguments get their braces."""
THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+")


def add_plain_answers(docs: Any) -> Any:
    """The column `answer`: what the solution boxes, its spelling evened out."""
    has_math_verify()  # says so before the model loads
    return docs.map(lambda doc: {"answer": plain(answer(doc))})


@cache
def has_math_verify() -> bool:
    found = importlib.util.find_spec("math_verify") is not None
    if not found:
        log.warning("minerva_math: without the package math-verify, exact_match wants equal spellings; no math_verify.")
    return found


def score_last_sentence(doc: Mapping[str, Any], results: list[str]) -> dict[str, int]:
    reply = results[0]
    found = LAST_SENTENCE.search(f"{reply}I hope it is correct.")
    given = plain(found[1].strip() if found else NO_ANSWER)
    scores = {"exact_match": int(is_same_value(given, doc["answer"]))}
    return scores | ({"math_verify": int(is_verified(doc["solution"], reply))} if has_math_verify() else {})


def plain(answer: str) -> str:
    """A final answer without units, frames and optional signs."""
    text = WHOLE_WORDS.sub("", answer.rpartition("=")[2])
    for written, wanted in PLAIN_SPELLINGS:
        text = text.replace(written, wanted)
    for part in DROPPED:
        text = _outside_commands(part, text) if part.isalpha() else text.replace(part, "")
    for pattern, wanted in SHORTHAND:
        text = pattern.sub(wanted, text)
    text = text.replace("$", "")
    return text.replace(",", "") if THOUSANDS.fullmatch(text) else text


def _outside_commands(word: str, text: str) -> str:
    r"""`ft` goes, `\left` stays."""
    return "".join(piece if place % 2 else piece.replace(word, "") for place, piece in enumerate(COMMANDS.split(text)))


def is_same_value(one: str, other: str) -> bool:
    """Equal texts, or formulas whose difference is 0."""
    return bool(one) and (one == other or (has_math_verify() and _differ_by_nothing(one, other)))


def is_verified(solution: str, reply: str) -> bool:
    """The verdict of the package math-verify."""
    from math_verify import parse, verify

    return bool(verify(gold=parse(solution), target=parse(reply)))


def _differ_by_nothing(one: str, other: str) -> bool:
    """Whatever cannot be read, subtracted or simplified in time is not equal."""
    from latex2sympy2_extended import latex2sympy
    from math_verify.utils import timeout
    from sympy import simplify

    def vanishes() -> bool:
        return bool(simplify(latex2sympy(one) - latex2sympy(other)) == 0)

    try:
        return bool(timeout(SECONDS)(vanishes)())
    except Exception as error:  # noqa: BLE001 (the parser raises bare Exception, sympy a dozen kinds)
        log.debug("'%s' and '%s' cannot be compared: %s", one, other, error)
        return False
