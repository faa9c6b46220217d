"""Which language a text is in: by the package langdetect, which lm-eval asks, or else by letters and common words."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

log = logging.getLogger(__name__)

SCRIPTS: Mapping[str, str] = {
    "ja": "ぁ-ヿ",
    "ko": "가-힣",
    "zh-cn": "一-鿿",
    "th": "ก-๛",
    "he": "א-ת",
    "bn": "ঀ-৿",
    "pa": "਀-੿",
    "gu": "઀-૿",
    "ta": "஀-௿",
    "te": "ఀ-౿",
    "kn": "ಀ-೿",
    "ml": "ഀ-ൿ",
    "el": "Ͱ-Ͽ",
    "arabic": "؀-ۿ",
    "cyrillic": "Ѐ-ӿ",
    "devanagari": "ऀ-ॿ",
    "latin": "A-Za-zÀ-ɏḀ-ỿ",
}
"""Language, or script of several → its letters. Japanese stands before Chinese: it has letters of its own."""
SIGNS: Mapping[str, Mapping[str, str]] = {
    "arabic": {"fa": "پچژگیه", "ur": "پچژگیہےٹڈڑںھ", "ar": "ةيىأإكه"},
    "cyrillic": {"uk": "іїєґ", "ru": "ыэё", "bg": "ъ"},
}
"""Script → letters that tell its languages apart."""
COMMON_WORDS: Mapping[str, Mapping[str, str]] = {
    "devanagari": {
        "hi": "है हैं का की के में और से को यह नहीं था",
        "mr": "आहे आहेत आणि च्या मध्ये हे ते नाही होते एक",
        "ne": "छ छन् र को मा लाई हो पनि यो गर्न",
    },
    "latin": {
        "en": "the and of to in is that it for was with as are this on be you not have i a",
        "de": "der die das und ist nicht ein eine zu den mit von auf sich es im für wir ich",
        "fr": "le la les et est des une un que pas pour dans ce qui sur il du je vous nous",
        "es": "el la los las y es de que en un una por con no para se del su como más",
        "pt": "o os as e é de que em um uma por com não para se do da na no seu mais",
        "it": "il la le e è di che in un una per con non si del della sono gli più lo",
        "fi": "ja on ei se että hän oli mutta myös ovat kun niin tämä minä joka ole kuin",
        "pl": "i w nie na się jest to że z do jak ale co po za od są przez był dla",
        "vi": "và là của có không được một cho người những trong các này với để tôi khi",
        "sw": "na ya wa kwa ni katika la za kuwa hii cha yake kama watu hiyo lakini sana",
    },
}
"""Script → words that tell its languages apart."""


def language_of(text: str) -> str | None:
    """ISO 639-1 code; None where the text does not tell."""
    detector = _langdetect()
    if detector is None:
        return by_letters_and_words(text)
    try:
        return str(detector.detect(text))
    except detector.LangDetectException:
        return None


@cache
def _langdetect() -> Any | None:
    if find_spec("langdetect") is None:
        log.warning("ifeval: without the package langdetect languages are told by common words, which is less sure.")
        return None
    import langdetect

    langdetect.DetectorFactory.seed = 0  # otherwise it answers by chance, and differently on every run
    return langdetect


def by_letters_and_words(text: str) -> str | None:
    counts = {name: len(re.findall(f"[{letters}]", text)) for name, letters in SCRIPTS.items()}
    if counts["ja"] > 0:
        counts["ja"] += counts["zh-cn"]
    script = max(counts, key=lambda name: counts[name])
    if counts[script] == 0:
        return None
    if script in SIGNS:
        return _most(text, {language: list(letters) for language, letters in SIGNS[script].items()}, list(text))
    if script in COMMON_WORDS:
        words = re.findall(r"[^\s\d.,;:!?\"()।]+", text.lower())
        return _most(text, {language: given.split() for language, given in COMMON_WORDS[script].items()}, words)
    return script


def _most(text: str, known: Mapping[str, list[str]], found: list[str]) -> str:
    """The language with most of the signs found; of equal ones the first."""
    return max(known, key=lambda language: sum(item in known[language] for item in found))
