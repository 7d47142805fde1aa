"""Terms, names and phrases of an editorial brief in a text. Pure, except for the word lists.

Words are compared as a whole, without regard to case, and with the endings of the language: a rule for "user" also
finds "users". A term in capitals, or one that differs from its preferred form in case only, is compared with its
case. A term without letters and digits, such as "!!" or "&", is found wherever it stands. Addresses and mailboxes
in a text are skipped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from content.comparison.addresses import find_addresses
from content.comparison.words.word_tables import word_table
from proofroom.briefs.effective import EffectiveBrief

_TOKEN: Final = re.compile(r"[^\W_]+")
_SHORTEST_INFLECTED: Final = 3
"""Minimum number of letters of a word that is also found with an ending."""
_GENITIVES: Final = ("s", "es")
"""Endings that a name may have: Proofrooms."""
TermKind = Literal["forbidden", "preferred", "never", "name"]
Place = tuple[int, int]
"""The first word of a phrase in a text, and the word after it."""


@dataclass(frozen=True, slots=True)
class TermHit:
    """A violation of a brief. `found` is as written in the text, `instead` what to write, empty if unknown."""

    kind: TermKind
    found: str
    term: str
    instead: str = ""
    start: int = 0


def find_terms(text: str, brief: EffectiveBrief, language: str) -> list[TermHit]:
    """Return the violations of terms, phrases and names in a text, in the order of the text."""
    if not (brief.terms or brief.never or brief.protected_names):
        return []
    words = _TextWords(text, language)
    allowed = (term.preferred for term in brief.terms if term.preferred)
    kept = [
        place
        for phrase in (*allowed, *brief.protected_names)
        for place in words.find(phrase, has_case=True)
    ]
    covered = {at for begin, end in kept for at in range(begin, end)}
    found: list[TermHit] = []
    for term in brief.terms:
        if not (term.forbidden or term.preferred):
            continue
        kind: TermKind = "forbidden" if term.forbidden else "preferred"
        has_case = term.term.isupper() or term.term.casefold() == term.preferred.casefold()
        for place in words.find(term.term, has_case=has_case):
            if not covered.issuperset(range(*place)):
                found.append(words.hit(kind, place, term.term, term.preferred))
        found += words.find_signs(kind, term.term, kept, term.preferred)
    for phrase in brief.never:
        found += (words.hit("never", place, phrase) for place in words.find(phrase))
        found += words.find_signs("never", phrase, kept)
    for name in brief.protected_names if not text.isupper() else ():
        for place in words.find(name):
            if not covered.issuperset(range(*place)):
                found.append(words.hit("name", place, name, name))
    return sorted(found, key=lambda hit: hit.start)


def missing_names(before: str, after: str, names: Iterable[str]) -> list[str]:
    """Return the protected names that occur in a text and not in the text that replaces it."""
    old, new = _TextWords(before), _TextWords(after)
    return [
        name
        for name in names
        if any(old.find(name, has_case=True)) and not any(new.find(name, has_case=True))
    ]


class _TextWords:
    """The words of a text, indexed, so that hundreds of phrases are found in a long text at once."""

    def __init__(self, text: str, language: str = "") -> None:
        self.text, self._language = text, language
        for address in find_addresses(text):
            # Spaces of the same length keep the places of the other words.
            text = text.replace(address.text, " " * len(address.text))
        self._without_addresses = text
        matches = list(_TOKEN.finditer(text))
        self._words = [match[0] for match in matches]
        self._spans = [match.span() for match in matches]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The places of words in lower case."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self._words):
            found[word.casefold()].append(at)
        return dict(found)

    @cached_property
    def _places_of_stems(self) -> dict[str, list[int]]:
        """The places of words by their forms without endings."""
        found: dict[str, list[int]] = defaultdict(list)
        for word, places in self._places.items():
            for stem in _stems_of(word, self._language):
                found[stem] += places
        return dict(found)

    def find(self, phrase: str, *, has_case: bool = False) -> Iterator[Place]:
        """Yield the places of a phrase without overlaps. Only its last word may have an ending."""
        wanted = _words_of(phrase)
        if not wanted:
            return
        first = wanted[0].casefold()
        starts = set(self._places.get(first, ()))
        if len(wanted) == 1:
            for ending in _GENITIVES:
                starts.update(self._places.get(first + ending, ()))
            if not has_case:
                starts.update(self._places_of_stems.get(first, ()))
        after = 0
        for at in sorted(starts):
            end = at + len(wanted)
            if at >= after and self._is_at(at, wanted, has_case=has_case):
                yield at, end
                after = end

    def find_signs(
        self, kind: TermKind, phrase: str, kept: Iterable[Place], instead: str = ""
    ) -> Iterator[TermHit]:
        """Yield the violations of a phrase without letters and digits; none for a phrase with words.

        `kept`: the places of phrases that stay as they are, with their signs.
        """
        if _words_of(phrase):
            return
        spans = [(self._spans[begin][0], self._spans[end - 1][1]) for begin, end in kept]
        at = self._without_addresses.find(phrase)
        while at >= 0:
            if not any(start <= at < end for start, end in spans):
                yield TermHit(kind, phrase, phrase, instead, at)
            at = self._without_addresses.find(phrase, at + len(phrase))

    def hit(self, kind: TermKind, place: Place, term: str, instead: str = "") -> TermHit:
        """Return the violation at a place."""
        start, end = self._spans[place[0]][0], self._spans[place[1] - 1][1]
        return TermHit(kind, self.text[start:end], term, instead, start)

    def _is_at(self, at: int, wanted: tuple[str, ...], *, has_case: bool) -> bool:
        part = self._words[at : at + len(wanted)]
        if len(part) < len(wanted):
            return False
        if not has_case:
            part = [word.casefold() for word in part]
            wanted = tuple(word.casefold() for word in wanted)
        return part[:-1] == [*wanted[:-1]] and self._is_form(part[-1], wanted[-1], has_case)

    def _is_form(self, word: str, wanted: str, has_case: bool) -> bool:
        if word == wanted:
            return True
        if len(wanted) < _SHORTEST_INFLECTED:
            return False
        if has_case:
            return word.startswith(wanted) and word[len(wanted) :] in _GENITIVES
        return wanted in _stems_of(word, self._language)


@lru_cache(maxsize=2048)
def _words_of(phrase: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(phrase))


@lru_cache(maxsize=8192)
def _stems_of(word: str, language: str) -> frozenset[str]:
    """Return the forms of a word in lower case without its endings."""
    return frozenset(word_table(language).stems(word)) if language else frozenset({word})
