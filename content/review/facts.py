"""What a changed text says that a reader must not miss: addresses, dates, prices, numbers, denials, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from content.review.fact_patterns import spot
from content.review.proper_names import names

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
        denied = (spot(side.text, self._language)["negation"] for side in (before, after))
        yield from _paired("negation", *_between(*denied))
        if any(map(str.isupper, before.text + after.text)):
            yield from self._proper_names(before.text, after.text)

    def _figures(self, before: ChangedText, after: ChangedText) -> Iterator[Fact]:
        old, new = before.text, after.text
        if not (_FIGURE.search(before.near) or _FIGURE.search(after.near)):
            # Days and months have no digits.
            days = (spot(text, self._language)["date"] for text in (old, new))
            yield from _paired("date", *_between(*days))
            return
        gone_near, come_near = (spot(side.near, self._language) for side in (before, after))
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
                names(self._before, self._language),
                names(self._after, self._language),
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
    """What differs; where the same facts stand in another order, all of them."""
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
