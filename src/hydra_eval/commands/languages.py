"""Which languages a task's name and tags speak of: ISO 639 codes and English names."""

from __future__ import annotations

import re
from collections.abc import Iterable

TABLE = """
af afr afrikaans; am amh amharic; ar ara,arb,ary,arz,ars,apc,aeb arabic; as asm assamese;
az aze,azj azerbaijani; be bel belarusian; bg bul bulgarian; bn ben bengali; bs bos bosnian; ca cat catalan;
cs ces czech; cy cym welsh; da dan danish; de deu german; el ell greek; en eng english; es spa spanish;
et est estonian; eu eus basque; fa fas,pes persian; fi fin finnish; fr fra french; ga gle irish;
gl glg galician; gu guj gujarati; ha hau hausa; he heb hebrew; hi hin hindi; hr hrv croatian; ht hat haitian;
hu hun hungarian; hy hye armenian; id ind indonesian; ig ibo igbo; is isl icelandic; it ita italian;
ja jpn japanese; jv jav javanese; ka kat georgian; kk kaz kazakh; km khm khmer; kn kan kannada;
ko kor korean; ku kur kurdish; ky kir kyrgyz; lb ltz luxembourgish; ln lin lingala; lo lao lao;
lt lit lithuanian; lv lav,lvs latvian; mg mlg,plt malagasy; mk mkd macedonian; ml mal malayalam;
mn mon,khk mongolian; mr mar marathi; ms msa,zsm malay; mt mlt maltese; my mya burmese; nb nob bokmål;
ne nep,npi nepali; nl nld dutch; nn nno nynorsk; no nor norwegian; ny nya chichewa; om orm,gaz oromo;
or ori,ory odia; pa pan punjabi; pl pol polish; ps pus,pbt pashto; pt por portuguese; qu que quechua;
rn run rundi; ro ron romanian; ru rus russian; rw kin kinyarwanda; sd snd sindhi; si sin sinhala;
sk slk slovak; sl slv slovenian; sn sna shona; so som somali; sq sqi,als albanian; sr srp serbian;
st sot sotho; su sun sundanese; sv swe swedish; sw swa,swh swahili; ta tam tamil; te tel telugu;
tg tgk tajik; th tha thai; ti tir tigrinya; tl tgl,fil tagalog; tn tsn tswana; tr tur turkish; tw twi twi;
uk ukr ukrainian; ur urd urdu; uz uzb,uzn uzbek; vi vie vietnamese; wo wol wolof; xh xho xhosa;
yi yid yiddish; yo yor yoruba; zh zho,cmn chinese; zu zul zulu
"""
"""Two-letter code, longer codes, English name."""


def _codes() -> dict[str, str]:
    """Every code and name, in small letters → the two-letter code."""
    found: dict[str, str] = {}
    for entry in TABLE.replace("\n", " ").split(";"):
        short, longer, name = entry.split()
        found |= dict.fromkeys((short, *longer.split(","), name), short)
    return found


CODES = _codes()
WORDS = frozenset(
    {
        "am",
        "as",
        "be",
        "he",
        "id",
        "ind",
        "is",
        "it",
        "lin",
        "lo",
        "me",
        "mt",
        "my",
        "no",
        "om",
        "or",
        "run",
        "si",
        "sin",
        "so",
        "st",
        "su",
        "sun",
        "to",
    }
)
"""Codes that are also English words or parts of names; only their longer forms are taken for a language."""


def language_code(text: str) -> str | None:
    """The two-letter code of a language given by code or English name; None for what is no language."""
    return CODES.get(text.lower())


def languages_in(names: Iterable[str]) -> set[str]:
    """Two-letter codes of the languages that parts of the names stand for."""
    parts = (part.lower() for name in names for part in re.split(r"[^A-Za-zÀ-ɏ]+", name))
    return {CODES[part] for part in parts if part in CODES and part not in WORDS}
