"""The 25 kinds of instructions of Zhou et al. 2023, <https://arxiv.org/abs/2311.07911>, and what follows them.

Every check takes the reply, which is not empty, and the arguments under the names that the data gives them. Verdicts
are those of lm-eval 0.4.13; see the README for the three kinds whose verdict can differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from .language import language_of
from .words import capital_words, sentences

OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
"""Marker → how it may be written, in lower case."""
BULLETS = (r"^\s*\*[^*].*$", r"^\s*-.*$")
WORD_ENDS = re.compile(r"[.,?!'\"]")


def compares(count: int, relation: str, threshold: int) -> bool:
    return count < threshold if relation == "less than" else count >= threshold


# keywords


def has_keywords(reply: str, keywords: Sequence[str]) -> bool:
    """Keywords are patterns, in any case, also within words."""
    return all(re.search(keyword, reply, re.IGNORECASE) for keyword in keywords)


def keyword_frequency(reply: str, keyword: str, frequency: int, relation: str) -> bool:
    return compares(len(re.findall(keyword.strip(), reply, re.IGNORECASE)), relation, frequency)


def lacks_words(reply: str, forbidden_words: Sequence[str]) -> bool:
    return not any(re.search(rf"\b{word}\b", reply, re.IGNORECASE) for word in forbidden_words)


def letter_frequency(reply: str, letter: str, let_frequency: int, let_relation: str) -> bool:
    return compares(reply.lower().count(letter.strip().lower()), let_relation, let_frequency)


# language and case


def is_in_language(reply: str, language: str) -> bool:
    """A text of unknown language passes."""
    return language_of(reply) in (language, None)


def is_english_capitals(reply: str) -> bool:
    return reply.isupper() and is_in_language(reply, "en")


def is_english_lowercase(reply: str) -> bool:
    return reply.islower() and is_in_language(reply, "en")


def capital_frequency(reply: str, capital_frequency: int, capital_relation: str) -> bool:
    return compares(capital_words(reply), capital_relation, capital_frequency)


# length


def number_sentences(reply: str, num_sentences: int, relation: str) -> bool:
    return compares(sentences(reply), relation, num_sentences)


def number_words(reply: str, num_words: int, relation: str) -> bool:
    return compares(len(re.findall(r"\w+", reply)), relation, num_words)


def number_paragraphs(reply: str, num_paragraphs: int) -> bool:
    """Parted by `***`; there may be nothing before the first divider and after the last, but not between two."""
    texts = [part.strip() for part in re.split(r"\s?\*\*\*\s?", reply)]
    return all(texts[1:-1]) and sum(map(bool, texts)) == num_paragraphs


def paragraph_opens_with(reply: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Parted by two line breaks; empty ones do not count, but keep their number."""
    texts = [part.strip() for part in reply.split("\n\n")]
    count = sum(map(bool, texts))
    if count != num_paragraphs or nth_paragraph > count or not texts[nth_paragraph - 1]:
        return False
    word = texts[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    return WORD_ENDS.split(word)[0].lower() == first_word.lower()


# content and form


def number_placeholders(reply: str, num_placeholders: int) -> bool:
    return len(re.findall(r"\[.*?\]", reply)) >= num_placeholders


def has_postscript(reply: str, postscript_marker: str) -> bool:
    marker = postscript_marker.strip()
    return re.search(POSTSCRIPTS.get(marker, marker.lower()), reply.lower()) is not None


def number_bullets(reply: str, num_bullets: int) -> bool:
    return sum(len(re.findall(bullet, reply, re.MULTILINE)) for bullet in BULLETS) == num_bullets


def is_option(reply: str) -> bool:
    return any(option in reply for option in OPTIONS)


def number_highlights(reply: str, num_highlights: int) -> bool:
    """`*one*`, and `**two**` as well, counts; one without text does not."""
    single = (part.strip("*").strip() for part in re.findall(r"\*[^\n*]*\*", reply))
    double = (part[2:-2].strip() for part in re.findall(r"\*\*[^\n*]*\*\*", reply))
    return sum(map(bool, (*single, *double))) >= num_highlights


def number_sections(reply: str, section_spliter: str, num_sections: int) -> bool:
    return len(re.findall(rf"{section_spliter.strip()}\s?\d+", reply)) >= num_sections


def is_json(reply: str) -> bool:
    """With or without a code fence around it."""
    text = reply.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except ValueError:
        return False
    return True


def has_title(reply: str) -> bool:
    return any(title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", reply))


# combination, start and end, punctuation


def is_two_responses(reply: str) -> bool:
    """Two different ones around six asterisks; there may be more asterisks before the first and after the second."""
    texts = [part.strip() for part in reply.split("******")]
    given = [text for text in texts if text]
    return all(texts[1:-1]) and len(given) == len(set(given)) == 2


def repeats_prompt(reply: str, prompt_to_repeat: str) -> bool:
    return reply.strip().lower().startswith(prompt_to_repeat.strip().lower())


def ends_with(reply: str, end_phrase: str) -> bool:
    return reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def is_quoted(reply: str) -> bool:
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def lacks_commas(reply: str) -> bool:
    return "," not in reply


CHECKS: Mapping[str, Callable[..., bool]] = {
    "keywords:existence": has_keywords,
    "keywords:frequency": keyword_frequency,
    "keywords:forbidden_words": lacks_words,
    "keywords:letter_frequency": letter_frequency,
    "language:response_language": is_in_language,
    "length_constraints:number_sentences": number_sentences,
    "length_constraints:number_paragraphs": number_paragraphs,
    "length_constraints:number_words": number_words,
    "length_constraints:nth_paragraph_first_word": paragraph_opens_with,
    "detectable_content:number_placeholders": number_placeholders,
    "detectable_content:postscript": has_postscript,
    "detectable_format:number_bullet_lists": number_bullets,
    "detectable_format:constrained_response": is_option,
    "detectable_format:number_highlighted_sections": number_highlights,
    "detectable_format:multiple_sections": number_sections,
    "detectable_format:json_format": is_json,
    "detectable_format:title": has_title,
    "combination:two_responses": is_two_responses,
    "combination:repeat_prompt": repeats_prompt,
    "startend:end_checker": ends_with,
    "startend:quotation": is_quoted,
    "change_case:capital_word_frequency": capital_frequency,
    "change_case:english_capital": is_english_capitals,
    "change_case:english_lowercase": is_english_lowercase,
    "punctuation:no_comma": lacks_commas,
}
