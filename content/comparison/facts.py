"""Facts in a changed text that reviewers must see: addresses, figures, names, and words with weight."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

from content.comparison.addresses import find_addresses
from content.comparison.words.word_tables import Terms, WordTable, word_table, words_of

_URL: Final = re.compile(r"https?://[^\s<>()\"']+")
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
    # The lookahead quickly rules out positions at which no date can start.
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
_NUMBER_SIGN: Final = re.compile(r"\b[Nn]os?\.\s?(?=\d)")
"""The abbreviation of "number" ("No. 5"), which must not be read as the negation "no"."""


@lru_cache(maxsize=4)
def find_facts(text: str, language: str) -> Spotted:
    """Return the facts in a text, repeated facts several times. `language`: tag such as `de` or `en-GB`."""
    # Digits in addresses are no numbers of the text.
    rest = _URL.sub(" ", text)
    # Dates before prices before numbers: the digits of a date or price must not count as numbers too.
    dates, rest = _extract(_DATE, rest)
    prices, rest = _extract(_PRICE, rest)
    numbers = tuple(found.strip() for found in _NUMBER.findall(rest))
    table = word_table(language)
    words = table.words_of(_NUMBER_SIGN.sub(" ", text))
    denials = tuple(term.canonical for term in table.negations.find(words))
    return {"date": dates, "price": prices, "number": numbers, "negation": denials}


def _extract(pattern: re.Pattern[str], text: str) -> tuple[tuple[str, ...], str]:
    """Return the matches, and the text without them."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(" ".join(match[0].split()).rstrip(","))
        return " "

    rest = pattern.sub(take, text)
    return tuple(found), rest


FactKind = Literal[
    "host", "link", "date", "price", "number", "negation", "opposite", "modality", "number-word", "quantity", "claim",
    "name",
]  # fmt: skip
_FIGURES: Final[tuple[Literal["date", "price", "number"], ...]] = ("price", "date", "number")
_DIGITS: Final = re.compile(r"\d+(?:[.,:/]\d+)*|[½⅓¼¾⅔⅛²³¹⁰⁴-⁹]+")
_WORD: Final = re.compile(r"[^\W\d_][\w’'&-]*")
_SIGN: Final = re.compile(r"[≤≥≦≧<>=≠±~≈∓]=?")
_MOST_UNPAIRED: Final = 12
"""Number of words of a stretch up to which unpaired words are reported. In a new sentence, every word is new."""
_MOST_SWAPPED: Final = 4
"""Number of terms up to which their order is compared. A long text is reworded as a whole."""
_PARTS: Final = re.compile(r"\w+|[€$£¥₹%]")
_FIGURE: Final = re.compile(r"[\d€$£¥₹%‰°½⅓¼¾⅔⅛²³¹⁰⁴-⁹]")
_LAST_NUMBER: Final = re.compile(r"[\d½⅓¼¾⅔⅛][\d.,:/]*\s?$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that was removed, added or changed."""

    kind: FactKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A changed stretch of one side, and the same stretch with the few words around it."""

    text: str
    near: str


class FactFinder:
    """The finder of facts in the stretches of two texts. Names are searched once, in the complete texts."""

    def __init__(self, before: str, after: str, language: str) -> None:
        self._before, self._after, self._language = before, after, language
        self._table = word_table(language)
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def find(self, before: ChangedText, after: ChangedText) -> Iterator[Fact]:
        """Yield the facts that differ between two corresponding stretches."""
        yield from _address_facts(before, after)
        figures = list(self._figures(before, after))
        yield from figures
        yield from _meaning_facts(before, after, self._table, figures)
        # A name has a capital. The complete texts are only searched if the stretch can contain one.
        if any(map(str.isupper, before.text + after.text)):
            if self._names is None:
                self._names = (
                    find_names(self._before, self._language),
                    find_names(self._after, self._language),
                )
            gone, come = map(_names_in_stretch, self._names, (before.text, after.text))
            yield from _pair_facts("name", *_differing_facts(gone, come))

    def _figures(self, before: ChangedText, after: ChangedText) -> Iterator[Fact]:
        old, new = before.text, after.text
        if not (_FIGURE.search(before.near) or _FIGURE.search(after.near)):
            # Without digits, a figure can only be the name of a day or month.
            days = (find_facts(text, self._language)["date"] for text in (old, new))
            yield from _pair_facts("date", *_multiset_difference(*days))
            return
        gone_near, come_near = (find_facts(side.near, self._language) for side in (before, after))
        found: list[Fact] = []
        for kind in _FIGURES:
            gone, come = _differing_facts(gone_near[kind], come_near[kind])
            found += _pair_facts(kind, _facts_in_stretch(gone, old), _facts_in_stretch(come, new))
        if not found:
            # A number that changed its position, unit or sign.
            gone, come = (_figures_beside(side) for side in (before, after))
            found += _pair_facts("number", *_differing_facts(gone, come))
        yield from found


def _address_facts(before: ChangedText, after: ChangedText) -> Iterator[Fact]:
    """Yield the hosts that differ, then the addresses."""
    near = [find_addresses(side.near) for side in (before, after)]
    if near[0] == near[1]:
        return
    found = _multiset_difference(*([address.text for address in side] for side in near))
    sides = [
        _facts_in_stretch(side, stretch.text)
        for side, stretch in zip(found, (before, after), strict=True)
    ]
    if len(sides[0]) != len(sides[1]) and len(found[0]) == len(found[1]):
        sides = list(found)  # an address only became longer or shorter
    hosts = {address.text: address.host for side in near for address in side}
    old_hosts, new_hosts = _multiset_difference(
        *([hosts[address] for address in side] for side in sides)
    )
    yield from _pair_facts("host", old_hosts, new_hosts)
    yield from _pair_facts("link", *sides)


class _StretchWords:
    """The words of a changed stretch and of its surroundings."""

    def __init__(self, side: ChangedText, table: WordTable) -> None:
        self.near = table.words_of(_NUMBER_SIGN.sub(" ", side.near))
        self.words = table.words_of(_NUMBER_SIGN.sub(" ", side.text))
        self.there = frozenset(self.words)

    @property
    def is_long(self) -> bool:
        return len(self.words) > _MOST_UNPAIRED

    def terms(self, terms: Terms) -> list[_Hit]:
        """Return the entries of a table in the stretch and its surroundings."""
        return [
            self._hit(term.canonical, self.near[term.start : term.stop])
            for term in terms.find(self.near)
        ]

    def numbers(self, table: WordTable) -> list[_Hit]:
        """Return the numbers in words. Consecutive words are one number: twenty-one, two hundred."""
        found: list[_Hit] = []
        for is_number, group in groupby(self.near, table.is_number):
            if is_number:
                words = list(group)
                values = [table.number_terms.forms.get((word,), word) for word in words]
                found.append(self._hit(" ".join(values), words))
        return found

    def _hit(self, canonical: str, words: list[str]) -> _Hit:
        return _Hit(canonical, " ".join(words), not self.there.isdisjoint(words))


@dataclass(frozen=True, slots=True)
class _Hit:
    """A term in a text, compared by its canonical form and displayed as written."""

    canonical: str
    shown: str
    is_touched: bool
    """True if a word of the term is in the changed stretch."""


def _meaning_facts(
    before: ChangedText, after: ChangedText, table: WordTable, figures: Sequence[Fact]
) -> Iterator[Fact]:
    """Yield the differing words that carry the meaning of a sentence."""
    yield from _sign_facts(before.text, after.text)
    if not table.language:
        return
    old, new = _StretchWords(before, table), _StretchWords(after, table)
    if old.words == new.words:
        return
    # Words of a figure, such as "3 million", were reported with the figure.
    in_figures = {
        word
        for fact in figures
        for side in (fact.before, fact.after)
        for word in words_of(side or "")
    }
    denied = _differing_hits(old.terms(table.negations), new.terms(table.negations))
    yield from _pair_facts("negation", *([hit.canonical for hit in side] for side in denied))
    opposites = [
        fact
        for fact in _opposite_facts(old, new, table)
        if in_figures.isdisjoint(words_of(fact.before or ""))
    ]
    yield from opposites
    named = {
        word
        for fact in opposites
        for side in (fact.before, fact.after)
        for word in words_of(side or "")
    }
    kinds: list[tuple[FactKind, Terms]] = [
        ("modality", table.modals),
        ("quantity", table.units),
        ("number-word", table.number_terms),
        ("quantity", table.quantifiers),
    ]
    for kind, terms in kinds:
        ours, theirs = (
            side.numbers(table) if kind == "number-word" else side.terms(terms)
            for side in (old, new)
        )
        gone, come = (
            [
                hit
                for hit in side
                if terms is table.units or in_figures.isdisjoint(hit.shown.split())
            ]
            for side in _differing_hits(ours, theirs)
        )
        if len(gone) != len(come):
            # A word without a counterpart may be of another kind, or part of an opposite reported above.
            gone, come = (
                [
                    hit
                    for hit in side
                    if (named | in_figures).isdisjoint(hit.shown.split()) and not words.is_long
                ]
                for side, words in ((gone, old), (come, new))
            )
            is_other_thing = terms is table.units and old.words and new.words
            if is_other_thing or not old.near or not new.near:
                continue  # something else is counted (cups, glasses), or the text is new
        for fact in _pair_facts(kind, [hit.shown for hit in gone], [hit.shown for hit in come]):
            named |= {word for side in (fact.before, fact.after) for word in words_of(side or "")}
            yield fact
    gone, come = _differing_hits(old.terms(table.claims), new.terms(table.claims))
    # A claim that is only removed is not reported.
    if come:
        is_paired = len(gone) == len(come)
        yield from _pair_facts(
            "claim", [hit.shown for hit in gone] if is_paired else [], [hit.shown for hit in come]
        )


def _opposite_facts(old: _StretchWords, new: _StretchWords, table: WordTable) -> Iterator[Fact]:
    """Yield the words and phrases replaced by their opposite."""
    ours, theirs = (side.terms(table.opposite_terms) for side in (old, new))
    phrases = [{hit.shown for hit in side} for side in _differing_hits(ours, theirs)]
    within: set[str] = set()
    # Sorted, because the order of a set differs between processes.
    for phrase in sorted(phrases[0]):
        for opposite in sorted(table.opposites[tuple(words_of(phrase))]):
            if (
                len(opposite) + phrase.count(" ") > 1
                and (other := " ".join(opposite)) in phrases[1]
            ):
                within |= {*phrase.split(), *opposite}
                yield Fact("opposite", phrase, other)
    gone, come = _multiset_difference(old.words, new.words)
    index: dict[str, str] = {}
    for word in come:
        for stem in table.stems(word):
            index.setdefault(stem, word)
    for word in dict.fromkeys(gone):
        other = next((index[one] for one in sorted(table.opposites_of(word)) if one in index), "")
        if other and other != word and not (word in within and other in within):
            yield Fact("opposite", word, other)


def _sign_facts(before: str, after: str) -> Iterator[Fact]:
    if _SIGN.search(before) or _SIGN.search(after):
        yield from _pair_facts(
            "quantity", *_multiset_difference(_SIGN.findall(before), _SIGN.findall(after))
        )


def _differing_hits(before: Sequence[_Hit], after: Sequence[_Hit]) -> tuple[list[_Hit], list[_Hit]]:
    """Return the terms that differ by canonical form and belong to the stretch."""
    keys = _multiset_difference([hit.canonical for hit in before], [hit.canonical for hit in after])
    # In the dict the later term wins, so that touched terms take precedence.
    hits = [
        {hit.canonical: hit for hit in sorted(side, key=lambda hit: hit.is_touched)}
        for side in (before, after)
    ]
    gone, come = ([hits[at][key] for key in side] for at, side in enumerate(keys))
    if len(gone) == len(come) and any(hit.is_touched for hit in (*gone, *come)):
        return gone, come  # a term may only have become longer or shorter
    if not gone and not come:
        # Two terms that changed places: "two dogs and one cat", "one dog and two cats".
        ours, theirs = ([hit for hit in side if hit.is_touched] for side in (before, after))
        if len(ours) == len(theirs) <= _MOST_SWAPPED:
            pairs = zip(ours, theirs, strict=True)
            swapped = [pair for pair in pairs if pair[0].canonical != pair[1].canonical]
            return [one for one, _ in swapped], [other for _, other in swapped]
    return [hit for hit in gone if hit.is_touched], [hit for hit in come if hit.is_touched]


def _facts_in_stretch(found: Sequence[str], text: str) -> list[str]:
    """Return the facts with a part in the stretch. Their neighbours belong to other stretches."""
    there = set(_PARTS.findall(text))
    if not there and text.strip():
        return list(found)  # a sign within a number
    return [fact for fact in found if not there.isdisjoint(_PARTS.findall(fact))]


def _figures_beside(side: ChangedText) -> list[str]:
    """Return the numbers of a stretch. If it follows a number or is inside one, return that number with its unit."""
    at = side.near.find(side.text) if side.text.strip() else -1
    before = side.near[:at] if at > 0 else ""
    if number := _LAST_NUMBER.search(before):
        return [f"{number[0]}{side.text}".strip()]
    return _DIGITS.findall(side.text)


def _differing_facts(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the differing facts. If only their order differs, return all facts as one."""
    gone, come = _multiset_difference(before, after)
    if not gone and not come and list(before) != list(after):
        return [", ".join(before)], [", ".join(after)]
    return gone, come


def _names_in_stretch(found: Sequence[str], text: str) -> list[str]:
    """Return the names with a word in the stretch, in their order there."""
    places: dict[str, int] = {}
    for at, word in enumerate(_WORD.findall(text)):
        places.setdefault(word, at)
    positions = [
        (min(places[word] for word in words), name)
        for name in found
        if (words := [word for word in name.split() if word in places])
    ]
    return [name for _, name in sorted(positions)]


def _multiset_difference(
    before: Sequence[str], after: Sequence[str]
) -> tuple[list[str], list[str]]:
    gone, come = Counter(before), Counter(after)
    return list((gone - come).elements()), list((come - gone).elements())


def _pair_facts(kind: FactKind, gone: Sequence[str], come: Sequence[str]) -> Iterator[Fact]:
    if len(gone) == len(come):
        yield from (Fact(kind, old, new) for old, new in zip(gone, come, strict=True))
        return
    yield from (Fact(kind, old, None) for old in gone)
    yield from (Fact(kind, None, new) for new in come)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN: Final = re.compile(r"[^\W\d_][\w’'&-]*|[.!?:;…\n•|“”„\"«»(\[)\]/,–—-]")
_MOST_CHARACTERS: Final = 200_000
_OPENS: Final = frozenset('.!?:;…\n•|“”„"«»([–—-')
"""Tokens after which a capital letter does not indicate a name."""
_COMMON_WORDS: Final = _word_set(
    "a an and are as at be but by can do for from get has have he how i if in is it its let my new no not of on or"
    " our she so that the their then there these they this those to we what when where which who why will with you"
    " your all also any each every here just more most one some such use see take make add"
    " usd eur gbp chf jpy"
)
"""English words that start sentences and headings and are not names."""
_TIMES: Final = _word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar"
    " märz mai juni juli oktober dezember"
)
_TITLES: Final = _word_set("Herr Herrn Frau Dr Prof Firma")
_FORMS: Final = _word_set("GmbH AG KG OHG SE UG KGaA eG Inc Ltd LLC")
_LEADS: Final = _word_set(
    "von mit bei für durch gegen nach an zu und oder sagt sagte laut wie heißt nennt traf aus in"
)


def find_names(text: str, language: str) -> tuple[str, ...]:
    """Return the distinct names in an English or German text, found by their capitals, in order.

    Missing a name is preferred to reporting a word. In English a name is a run of capitalised words, except a
    single one at the start of a sentence. In German, where every noun is capitalised, a name is an abbreviation
    (BMW), a word with an inner capital (iPhone), a name after a title (Frau Müller) or before a legal form (Kessel
    GmbH), or two or three capitalised words after a word like "von" or "und". A single German name (Berlin) and
    names in other scripts are not found.
    """
    tag = language[:2].lower()
    if tag not in ("en", "de"):
        return ()
    found = _german_names if tag == "de" else _english_names
    tokens = _TOKEN.findall(text[:_MOST_CHARACTERS])
    return tuple(dict.fromkeys(found(tokens)))


def _capitalised_runs(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield runs of capitalised words, each with the token before it (empty at the start of the text)."""
    run: list[str] = []
    before = last = ""
    for token in tokens:
        if token[0].isupper():
            before = before if run else last
            run.append(token)
        elif run:
            yield before, run
            run = []
        last = token
    if run:
        yield before, run


def _english_names(tokens: list[str]) -> Iterator[str]:
    for is_break, group in groupby(tokens, "\n".__eq__):
        line = list(group)
        # In a heading Most Words Have a Capital. A line that ends with a full stop is a sentence.
        long = [token for token in line if len(token) > 3]
        is_heading = sum(token[0].isupper() for token in long) > 0.6 * len(long)
        if is_break or (is_heading and line[-1] not in ".!?"):
            continue
        for before, run in _capitalised_runs(line):
            # Strip common words and dates from both ends of the run.
            opens = not before or before in _OPENS
            while run and (run[0].lower() in _COMMON_WORDS or run[0].lower() in _TIMES):
                run, opens = run[1:], opens and len(run) == 1
            while run and run[-1].lower() in _TIMES | _COMMON_WORDS:
                run = run[:-1]
            if run and (len(run) > 1 or not opens or _is_marked(run[0])):
                yield " ".join(run)


def _is_marked(word: str) -> bool:
    """Return whether the word is an abbreviation or has an inner capital. Longer words in capitals are emphasis."""
    is_short = word.isupper() and 2 <= len(word) <= 5
    return is_short or (not word.isupper() and any(letter.isupper() for letter in word[1:]))


def _german_names(tokens: list[str]) -> Iterator[str]:
    # In a text in capitals, a capital does not indicate a name.
    if len(tokens) > 3 and all(token.isupper() for token in tokens if token[0].isalpha()):
        return
    for before, run in _capitalised_runs(tokens):
        named = [at for at, word in enumerate(run) if word in _TITLES]
        if run[-1] in _FORMS and len(run) > 1:
            yield " ".join(run[-3:])
        elif named and named[-1] + 1 < len(run):
            yield " ".join(run[named[-1] + 1 :])
        elif 2 <= len(run) <= 3 and before in _LEADS:
            yield " ".join(run)
        else:
            yield from (word for word in run if _is_marked(word) and "-" not in word)
    # Lower case first and a capital inside: iPhone.
    yield from (word for word in tokens if word[0].islower() and _is_marked(word))
