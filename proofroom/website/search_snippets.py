"""The place in a text where the words of a question stand, as HTML with those words marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from proofroom.core.search.tokens import Word, asked_for, places
from proofroom.website.descriptions import one_line

_READ: Final = 40_000
"""Characters of a post that are looked through: a page of results must not take long."""
_LENGTH: Final = 220
_BEFORE: Final = 60
_STEM: Final = 4
"""From that many letters on, a word is found in longer ones and shorter ones of the same beginning."""

Place = tuple[int, int]


def marked(text: str, asked: str) -> SafeString:
    """The whole text, its hits in `mark` elements."""
    text = _composed(text)
    return _with_marks(text, _hits(text, asked_for(asked)))


def snippet(text: str, asked: str) -> SafeString:
    """The part of a text that holds most hits, else its beginning."""
    text = _composed(text[:_READ])
    hits = _hits(text, asked_for(asked))
    begin = _best(hits)
    if begin:
        begin = max(0, text.rfind(" ", 0, max(0, begin - _BEFORE)) + 1, begin - 2 * _BEFORE)
    end = len(text) if len(text) - begin <= _LENGTH else text.rfind(" ", begin, begin + _LENGTH)
    end = end if end > begin else begin + _LENGTH
    inside = [(left - begin, right - begin) for left, right in hits if begin <= left < right <= end]
    body = _with_marks(text[begin:end], inside)
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    return format_html("{}{}{}", before, body, after)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", one_line(text))


def _hits(text: str, asked: Sequence[Word]) -> list[Place]:
    if not asked:
        return []
    return [(begin, end) for begin, end, word in places(text) if _is_meant(word, asked)]


def _is_meant(word: str, asked: Sequence[Word]) -> bool:
    last = len(asked) - 1
    for number, one in enumerate(asked):
        if word == one.folded or (len(word) >= _STEM and one.folded.startswith(word)):
            return True
        if word.startswith(one.folded) and (number == last or len(one.folded) >= _STEM):
            return True
    return False


def _best(hits: Sequence[Place]) -> int:
    """Where the hit stands after which most others follow within one snippet."""
    best, most, right = 0, 0, 0
    for left, (begin, _) in enumerate(hits):
        while right < len(hits) and hits[right][1] <= begin + _LENGTH - _BEFORE:
            right += 1
        if right - left > most:
            best, most = begin, right - left
    return best


def _with_marks(text: str, hits: Sequence[Place]) -> SafeString:
    return mark_safe("".join(_pieces(text, hits)))  # noqa: S308  # every piece is escaped


def _pieces(text: str, hits: Sequence[Place]) -> Iterator[str]:
    for (_, before), (begin, end) in pairwise([(0, 0), *hits]):
        yield escape(text[before:begin])
        yield f"<mark>{escape(text[begin:end])}</mark>"
    yield escape(text[hits[-1][1] if hits else 0 :])
