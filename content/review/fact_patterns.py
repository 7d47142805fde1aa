"""Finds what is a fact in a text of English or German: dates and times, prices, numbers, words that deny.

It reads patterns, not meaning, and cannot see: numbers, amounts and dates that are spelled out ("ten", "next week"),
dates of other languages' months, denials that are no word of their own ("unsafe", "fails to"), claims ("the best").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Literal

ADDRESS: Final = re.compile(r"https?://[^\s<>()\"']+")
Spotted = Mapping["SpottedKind", tuple[str, ...]]
SpottedKind = Literal["date", "price", "number", "negation"]

_MONTH: Final = (
    r"(?:Jan(?:uary|uar|\.)?|Feb(?:ruary|ruar|\.)?|M(?:arch|ärz|ar\.?|är\.?|rz\.?)|Apr(?:il|\.)?|Ma[yi]"
    r"|Jun(?:[ei]|\.)?|Jul(?:[yi]|\.)?|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|O[ck]t(?:ober|\.)?|Nov(?:ember|\.)?"
    r"|De[cz](?:ember|\.)?)(?!\w)"
)
_CLOCK: Final = (
    r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?(?:[ap]m\b|[ap]\.m\.|Uhr\b))?|\d{1,2}\s?(?:[ap]m|Uhr)\b"
)
_DAY: Final = (
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonnabend|Sonntag)\b"
)
_DATE: Final = re.compile(
    # What any of them begins with: most places of a text are passed by at once.
    r"(?=[\dADFJMNOSTW])(?:(?<![\d.])(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})|\d{1,2}/\d{1,2}/(?:\d{4}|\d{2}))(?![\d.]*\d)"
    rf"|(?<!\d)\d{{1,2}}(?:\.|st|nd|rd|th)?\s{{1,2}}(?:of\s)?{_MONTH}(?:,?\s\d{{4}}(?!\d))?"
    rf"|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s\d{{4}}(?!\d))?"
    rf"|\b{_MONTH}\s\d{{4}}(?!\d)"
    rf"|(?<![\d:])(?:{_CLOCK})|{_DAY})"
)
_AMOUNT: Final = r"\d{1,15}(?:[.,'’]\d{1,15}){0,6}(?:,[-–]+)?"
_SCALE: Final = (
    r"(?:\s?(?:k|Tsd\.?|m|bn|million|billion|Millionen|Million|Milliarden|Mio\.?|Mrd\.?)\b)?"
)
_COIN: Final = r"(?:[€$£¥₹]|(?:EUR|USD|GBP|CHF|JPY|[Ee]uros?|[Dd]ollars?|pounds?|Pfund|Franken|francs?|[Cc]ents?)\b)"
_PRICE: Final = re.compile(
    rf"(?=[\d€$£¥₹EUGCJ])(?:(?:[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY))\s?{_AMOUNT}{_SCALE}|(?<![\w.,]){_AMOUNT}{_SCALE}\s?{_COIN})"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/]\d+)*\s?%?")
_ENGLISH_NO: Final = re.compile(
    r"\b(?=[a-z])(?:(?P<word>no(?!\.\s?\d)|never|none|nobody|nothing|nowhere|neither|nor|without)|not|cannot|[a-z]{1,12}n['’]t)\b",
    re.IGNORECASE,
)
_GERMAN_NO: Final = re.compile(
    r"\b(?:(?P<word>nie|niemals|nichts|nirgends|nirgendwo|weder|ohne|nein)|(?P<kein>kein)(?:e[mnrs]?)?"
    r"|(?P<wegs>keines(?:wegs|falls))|(?P<niemand>niemand)(?:e[mns])?|nicht)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def spot(text: str, language: str) -> Spotted:
    """What is found, each as often as it stands there. `language` is a tag like `de` or `en-GB`."""
    rest = ADDRESS.sub(" ", text)
    dates, rest = _taken(_DATE, rest)
    prices, rest = _taken(_PRICE, rest)
    numbers = tuple(found.strip() for found in _NUMBER.findall(rest))
    return {
        "date": dates,
        "price": prices,
        "number": numbers,
        "negation": tuple(_DENIALS.get(language[:2].lower(), _unknown)(text)),
    }


def _taken(pattern: re.Pattern[str], text: str) -> tuple[tuple[str, ...], str]:
    """What the pattern finds, and the text without it: a date's digits are no numbers as well."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(" ".join(match[0].split()).rstrip(","))
        return " "

    rest = pattern.sub(take, text)
    return tuple(found), rest


def _english(text: str) -> list[str]:
    return [(found["word"] or "not").lower() for found in _ENGLISH_NO.finditer(text)]


def _german(text: str) -> list[str]:
    return [
        next((part for part in found.groups() if part), "nicht").lower()
        for found in _GERMAN_NO.finditer(text)
    ]


def _listed(words: str) -> Callable[[str], list[str]]:
    """Finds the words of a list that deny."""
    pattern = re.compile(rf"\b(?:{'|'.join(words.split())})(?!\w)", re.IGNORECASE)
    return lambda text: [found.lower() for found in pattern.findall(text)]


def _unknown(_: str) -> list[str]:
    return []


_DENIALS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "en": _english,
    "de": _german,
    "fr": _listed("pas jamais rien aucune? sans non ni personne nulle"),
    "es": _listed("no nunca jamás nada nadie sin ningun[ao]? ningún tampoco ni"),
    "it": _listed("non mai nulla niente nessun[oa]? senza né"),
    "nl": _listed("niet nooit geen niets niemand zonder noch"),
    "pt": _listed("não nunca nada ninguém sem nenhuma? nem jamais"),
}
