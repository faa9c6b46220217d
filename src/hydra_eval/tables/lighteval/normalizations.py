"""`lighteval.metrics.normalizations`: texts before they are compared, and log-likelihoods before they are ranked."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.tables.lighteval.language import Language

ENGLISH_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
GSM8K_ANSWER = re.compile(r"#### (-?[0-9.,]+)")
ARTICLES: dict[str, str] = {
    "eng": "a an the",
    "spa": "el la los las un una unos unas",
    "por": "o a os as um uma uns umas",
    "ita": "il lo la i gli le un uno una",
    "fra": "le la les l' un une des",
    "deu": "der die das den dem des ein eine einer eines einem einen",
    "nld": "de het een",
    "swe": "en ett den det de",
    "nor": "en ei et den det de",
    "hun": "a az egy",
    "cat": "el la els les un una uns unes",
    "tur": "bir",
}
"""Language → its articles, where they stand apart from their noun."""
WITHOUT_WORD_BREAKS = frozenset({"zho", "jpn", "tha", "khm", "lao", "mya"})


def helm_normalizer(text: str) -> str:
    """Lower case without punctuation and articles; numbers in one spelling; single blanks."""
    return " ".join(word for part in re.split("[ -]", text) if (word := _helm_word(part))).strip()


def _helm_word(part: str) -> str:
    bare = part.lower().translate(WITHOUT_PUNCTUATION)
    return " ".join(ENGLISH_ARTICLES.sub(" ", _as_number(bare)).split())


def _as_number(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text


def harness_triviaqa_normalizer(text: str) -> str:
    """Lower case without ASCII punctuation."""
    return text.lower().translate(WITHOUT_PUNCTUATION)


def bigbench_normalizer(text: str) -> str:
    """A line break after each sentence, as ROUGE-Lsum wants it."""
    return text.replace(" . ", ".\n")


def remove_braces(text: str) -> str:
    """One brace less at either end."""
    return text.removeprefix("{").removesuffix("}")


def remove_braces_and_strip(text: str) -> str:
    return remove_braces(text.strip())


def gsm8k_normalizer(text: str) -> str:
    """The number after `####`, without thousands separators."""
    found = GSM8K_ANSWER.search(text)
    return found.group(1).strip().replace(",", "") if found else "[invalid]"


def math_normalizer(text: str) -> str:
    r"""The last `\boxed{…}` of a solution in one spelling: fractions, roots, units, blanks. Empty without one."""
    answer = _last_boxed(text)
    for written, meant in LATEX_SPELLINGS:
        answer = answer.replace(written, meant)
    answer = answer.split("\\text{ ")[0].rstrip() if "\\text{ " in answer else answer
    for written, meant in (("\\%", ""), (" .", " 0."), ("{.", "{0.")):
        answer = answer.replace(written, meant)
    answer = f"0{answer}" if answer.startswith(".") else answer
    left, equals, right = answer.partition("=")
    if equals and "=" not in right and len(left) <= 2:
        answer = right
    answer = re.sub(r"\\sqrt([^{])", r"\\sqrt{\1}", answer).replace(" ", "")
    answer = _braced_fractions(answer)
    answer = "\\frac{1}{2}" if answer == "0.5" else answer
    return SLASHED.sub(r"\\frac{\1}{\2}", answer)


LATEX_SPELLINGS = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
SLASHED = re.compile(r"^(0|-?[1-9]\d*)/(0|-?[1-9]\d*)$")


def _last_boxed(text: str) -> str:
    """What stands in the last box, braces balanced."""
    start = max(text.rfind("\\boxed"), -1)
    start = text.rfind("\\fbox") if start < 0 else start
    if start < 0:
        return ""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if text[place] == "}" and depth == 0:
            return _inside(text[start : place + 1])
    return ""


def _inside(box: str) -> str:
    if box.startswith("\\boxed "):
        return box.removeprefix("\\boxed ")
    return box[len("\\boxed{") : -1] if box.startswith("\\boxed{") else ""


def _braced_fractions(text: str) -> str:
    r"""`\frac12` and `\frac1{2}` as `\frac{1}{2}`; text as it is where a fraction has less than two parts."""
    head, *parts = text.split("\\frac")
    fixed = []
    for part in parts:
        if not part.startswith("{"):
            if len(part) < 2:
                return text
            second = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
            part = f"{{{part[0]}}}{second}"
        fixed.append(part)
    return "\\frac".join([head, *fixed])


def remove_punc(text: str) -> str:
    """Without the punctuation of any script."""
    return "".join(sign for sign in text if not _is_punctuation(sign))


def _is_punctuation(sign: str) -> bool:
    return sign in string.punctuation or unicodedata.category(sign).startswith("P")


def remove_articles(text: str, lang: Language) -> str:
    words = ARTICLES.get(lang.value, "").split()
    return re.sub(rf"\b(?:{'|'.join(words)})\b", " ", text) if words else text


def get_multilingual_normalizer(lang: Language, lower: bool = True) -> Callable[[str], str]:
    """Text of one language without articles and punctuation, as words between single blanks.

    Scripts without blanks between words are taken apart sign by sign.
    """

    def normalized(text: str) -> str:
        bare = remove_punc(remove_articles(text, lang))
        bare = bare.lower() if lower else bare
        return " ".join("".join(bare.split()) if lang.value in WITHOUT_WORD_BREAKS else bare.split())

    return normalized


@dataclass
class LogProbPMINorm:
    """Less the log-likelihood after the unconditioned query."""

    name: str = "norm_pmi"


@dataclass
class LogProbTokenNorm:
    """Per token."""

    name: str = "norm_token"


@dataclass
class LogProbCharNorm:
    """Per character; a blank before the choice counts unless `ignore_first_space`."""

    name: str = "norm"
    ignore_first_space: bool = False


LogProbNormalization: TypeAlias = LogProbCharNorm | LogProbTokenNorm | LogProbPMINorm


def normalize_log_probs(
    normalization: Any,
    choices_logprob: Sequence[float],
    unconditioned_logprob: Sequence[float] | None,
    choices_text: Sequence[str] | None,
    choices_tokens: Sequence[Sequence[Any]] | None,
) -> list[float]:
    """One value per choice; a choice without length never wins."""
    match normalization:
        case LogProbPMINorm():
            return [given - bare for given, bare in zip(choices_logprob, unconditioned_logprob or (), strict=True)]
        case LogProbTokenNorm():
            lengths = [len(tokens) for tokens in choices_tokens or ()]
        case LogProbCharNorm(ignore_first_space=ignored):
            lengths = [len(text) - (ignored and text.startswith(" ")) for text in choices_text or ()]
        case _:
            return list(choices_logprob)
    return [value / length if length else -float("inf") for value, length in zip(choices_logprob, lengths, strict=True)]
