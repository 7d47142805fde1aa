"""Finds facts in a changed text that a reader must not miss: addresses, dates, prices, numbers, denials, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from content.review.proper_names import find_names

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
def find_facts(text: str, language: str) -> Spotted:
    """Return what is found, each as often as it stands there. `language` is a tag like `de` or `en-GB`."""
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
    """Return what the pattern finds, and the text without it: a date's digits are no numbers as well."""
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


FactKind = Literal["link", "date", "price", "number", "negation", "name"]
_FIGURES: Final[tuple[Literal["date", "price", "number"], ...]] = ("price", "date", "number")
_DIGITS: Final = re.compile(r"\d+(?:[.,:/]\d+)*|[½⅓¼¾⅔⅛²³¹⁰⁴-⁹]+")
_WORD: Final = re.compile(r"[^\W\d_][\w’'&-]*")
_ADDRESS: Final = re.compile(
    r"(?:https?://|(?<!\w)www\.)[^\s<>()\"']{1,2000}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}\w{2,20}"
    r"|(?<![\w.-])(?:[\w-]{1,63}\.){1,8}(?:com|net|org|io|de|eu|uk|fr|app|dev|info|biz|xyz|example)\b"
    r"(?:/[^\s<>()\"']{0,2000})?",
    re.IGNORECASE,
)
"""Bounded, and begun only where a word begins: a hostile text costs no more than its length."""
_PARTS: Final = re.compile(r"\w+|[€$£¥₹%]")
_FIGURE: Final = re.compile(r"[\d€$£¥₹%‰°½⅓¼¾⅔⅛²³¹⁰⁴-⁹]")
_LAST_NUMBER: Final = re.compile(r"[\d½⅓¼¾⅔⅛][\d.,:/]*\s?$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that went, came, or became another."""

    kind: FactKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A text that changed on one side, with the few words around it."""

    text: str
    near: str


class FactFinder:
    """Finds facts in the stretches of one pair of texts. Names are looked for in the whole of them, once."""

    def __init__(self, before: str, after: str, language: str) -> None:
        self._before, self._after, self._language = before, after, language
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def find(self, before: ChangedText, after: ChangedText) -> Iterator[Fact]:
        """The facts that differ between two stretches that stand for one another."""
        gone, come = (_ADDRESS.findall(side.near) for side in (before, after))
        if gone != come:
            found = zip(_between(gone, come), (before.text, after.text), strict=True)
            yield from _paired("link", *(_touching(addresses, text) for addresses, text in found))
        yield from self._figures(before, after)
        denied = (find_facts(side.text, self._language)["negation"] for side in (before, after))
        yield from _paired("negation", *_between(*denied))
        if any(map(str.isupper, before.text + after.text)):
            yield from self._proper_names(before.text, after.text)

    def _figures(self, before: ChangedText, after: ChangedText) -> Iterator[Fact]:
        old, new = before.text, after.text
        if not (_FIGURE.search(before.near) or _FIGURE.search(after.near)):
            # Days and months have no digits.
            days = (find_facts(text, self._language)["date"] for text in (old, new))
            yield from _paired("date", *_between(*days))
            return
        gone_near, come_near = (find_facts(side.near, self._language) for side in (before, after))
        found: list[Fact] = []
        for kind in _FIGURES:
            gone, come = _in_order(gone_near[kind], come_near[kind])
            found += _paired(kind, _touching(gone, old), _touching(come, new))
        if not found:
            # A number that changed its place, its unit or a sign in it.
            gone, come = (_figures_beside(side) for side in (before, after))
            found += _paired("number", *_in_order(gone, come))
        yield from found

    def _proper_names(self, before: str, after: str) -> Iterator[Fact]:
        if self._names is None:
            self._names = (
                find_names(self._before, self._language),
                find_names(self._after, self._language),
            )
        gone, come = (
            _named(found, text) for found, text in zip(self._names, (before, after), strict=True)
        )
        yield from _paired("name", *_in_order(gone, come))


def _touching(found: Sequence[str], text: str) -> list[str]:
    """Those of which a part stands in the stretch: its neighbours have stretches of their own."""
    there = set(_PARTS.findall(text))
    if not there and text.strip():
        return list(found)  # a sign within a number
    return [fact for fact in found if not there.isdisjoint(_PARTS.findall(fact))]


def _figures_beside(side: ChangedText) -> list[str]:
    """The numbers of a stretch; where it follows one or stands in one, that with its unit."""
    at = side.near.find(side.text) if side.text.strip() else -1
    before = side.near[:at] if at > 0 else ""
    if number := _LAST_NUMBER.search(before):
        return [f"{number[0]}{side.text}".strip()]
    return _DIGITS.findall(side.text)


def _in_order(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what differs; where the same facts stand in another order, all of them."""
    gone, come = _between(before, after)
    if not gone and not come and list(before) != list(after):
        return [", ".join(before)], [", ".join(after)]
    return gone, come


def _named(found: Sequence[str], text: str) -> list[str]:
    """Those of the names of which a word stands in the stretch, as they stand there."""
    places: dict[str, int] = {}
    for at, word in enumerate(_WORD.findall(text)):
        places.setdefault(word, at)
    named = [
        (min(places[word] for word in words), name)
        for name in found
        if (words := [word for word in name.split() if word in places])
    ]
    return [name for _, name in sorted(named)]


def _between(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    gone, come = Counter(before), Counter(after)
    return list((gone - come).elements()), list((come - gone).elements())


def _paired(kind: FactKind, gone: Sequence[str], come: Sequence[str]) -> Iterator[Fact]:
    if len(gone) == len(come):
        yield from (Fact(kind, old, new) for old, new in zip(gone, come, strict=True))
        return
    yield from (Fact(kind, old, None) for old in gone)
    yield from (Fact(kind, None, new) for new in come)
