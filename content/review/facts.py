"""Facts in a changed text that a reader must not miss: addresses, dates, prices, numbers, denials, names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

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
_DENIALS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "en": (
        re.compile(
            r"\b(?=[a-z])(?:(no(?!\.\s?\d)|never|none|nobody|nothing|nowhere|neither|nor|without)|not|cannot|[a-z]{1,12}n['’]t)\b",
            re.IGNORECASE,
        ),
        "not",
    ),
    "de": (
        re.compile(
            r"\b(?:(nie|niemals|nichts|nirgends|nirgendwo|weder|ohne|nein)|(kein)(?:e[mnrs]?)?"
            r"|(keines(?:wegs|falls))|(niemand)(?:e[mns])?|nicht)\b",
            re.IGNORECASE,
        ),
        "nicht",
    ),
    **{
        language: (re.compile(rf"\b({words.replace(' ', '|')})(?!\w)", re.IGNORECASE), "")
        for language, words in {
            "fr": "pas jamais rien aucune? sans non ni personne nulle",
            "es": "no nunca jamás nada nadie sin ningun[ao]? ningún tampoco ni",
            "it": "non mai nulla niente nessun[oa]? senza né",
            "nl": "niet nooit geen niets niemand zonder noch",
            "pt": "não nunca nada ninguém sem nenhuma? nem jamais",
        }.items()
    },
}
"""By language, what denies: its groups name the word that is told, else it is the one given here."""


@lru_cache(maxsize=4)
def find_facts(text: str, language: str) -> Spotted:
    """Return what is found, each as often as it stands there. `language` is a tag like `de` or `en-GB`."""
    rest = _URL.sub(" ", text)
    dates, rest = _taken(_DATE, rest)
    prices, rest = _taken(_PRICE, rest)
    numbers = tuple(found.strip() for found in _NUMBER.findall(rest))
    denials: tuple[str, ...] = ()
    if (tag := language[:2].lower()) in _DENIALS:
        pattern, usual = _DENIALS[tag]
        denials = tuple(
            next((part for part in found.groups() if part), usual).lower()
            for found in pattern.finditer(text)
        )
    return {"date": dates, "price": prices, "number": numbers, "negation": denials}


def _taken(pattern: re.Pattern[str], text: str) -> tuple[tuple[str, ...], str]:
    """Return what the pattern finds, and the text without it: a date's digits are no numbers as well."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        found.append(" ".join(match[0].split()).rstrip(","))
        return " "

    rest = pattern.sub(take, text)
    return tuple(found), rest


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
            if self._names is None:
                self._names = (
                    find_names(self._before, self._language),
                    find_names(self._after, self._language),
                )
            gone, come = map(_named, self._names, (before.text, after.text))
            yield from _paired("name", *_in_order(gone, come))

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


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN: Final = re.compile(r"[^\W\d_][\w’'&-]*|[.!?:;…\n•|“”„\"«»(\[)\]/,–—-]")
_MOST_CHARACTERS: Final = 200_000
_OPENS: Final = frozenset('.!?:;…\n•|“”„"«»([–—-')
"""After these a capital says nothing."""
_PLAIN: Final = _word_set(
    "a an and are as at be but by can do for from get has have he how i if in is it its let my new no not of on or"
    " our she so that the their then there these they this those to we what when where which who why will with you"
    " your all also any each every here just more most one some such use see take make add"
    " usd eur gbp chf jpy"
)
"""English words that begin sentences and headings, and name nobody."""
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
    """The names in a text of English or German, by their capitals, each once and in their order.

    It would rather miss a name than call a word one. In English a name is a run of capitalised words that does not
    only begin a sentence. In German, where every noun has a capital, it is an abbreviation (BMW), a word with a
    capital inside (iPhone), a name with a title before it (Frau Müller) or a legal form behind it (Kessel GmbH), or
    two and more capitalised words after a word like "von" or "und". A single German name (Berlin), and names in other
    scripts, are not seen.
    """
    tag = language[:2].lower()
    if tag not in ("en", "de"):
        return ()
    found = _german_names if tag == "de" else _english_names
    tokens = _TOKEN.findall(text[:_MOST_CHARACTERS])
    return tuple(dict.fromkeys(found(tokens)))


def _capitalised_runs(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Runs of capitalised words, each with the token before it; empty at the very beginning."""
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
        # Most Words Have a Capital in a heading; a line with a full stop is a sentence.
        long = [token for token in line if len(token) > 3]
        is_heading = sum(token[0].isupper() for token in long) > 0.6 * len(long)
        if is_break or (is_heading and line[-1] not in ".!?"):
            continue
        for before, run in _capitalised_runs(line):
            opens = not before or before in _OPENS
            while run and (run[0].lower() in _PLAIN or run[0].lower() in _TIMES):
                run, opens = run[1:], opens and len(run) == 1
            while run and run[-1].lower() in _TIMES | _PLAIN:
                run = run[:-1]
            if run and (len(run) > 1 or not opens or _is_marked(run[0])):
                yield " ".join(run)


def _is_marked(word: str) -> bool:
    """An abbreviation, or a capital inside. SHOUTED words are longer."""
    is_short = word.isupper() and 2 <= len(word) <= 5
    return is_short or (not word.isupper() and any(letter.isupper() for letter in word[1:]))


def _german_names(tokens: list[str]) -> Iterator[str]:
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
    # A small letter first and a capital inside: iPhone.
    yield from (word for word in tokens if word[0].islower() and _is_marked(word))
