"""Names in a text of English or German, by their capitals. It would rather miss a name than call a word one.

In English a name is a run of capitalised words that does not only begin a sentence. In German, where every noun has a
capital, it is an abbreviation (BMW), a word with a capital inside (iPhone), a name with a title before it (Frau
Müller) or a legal form behind it (Kessel GmbH), or two and more capitalised words after a word like "von" or "und".
A single German name (Berlin), and names in other scripts, are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD: Final = re.compile(r"[^\W\d_][\w’'&-]*|[.!?:;…\n•|“”„\"«»(\[)\]/,–—-]")
_MOST_CHARACTERS: Final = 200_000
_OPENS: Final = frozenset('.!?:;…\n•|“”„"«»([–—-')
"""After these a capital says nothing."""
_PLAIN: Final = _words(
    "a an and are as at be but by can do for from get has have he how i if in is it its let my new no not of on or"
    " our she so that the their then there these they this those to we what when where which who why will with you"
    " your all also any each every here just more most one some such use see take make add"
    " usd eur gbp chf jpy"
)
"""English words that begin sentences and headings, and name nobody."""
_TIMES: Final = _words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar"
    " märz mai juni juli oktober dezember"
)
_TITLES: Final = _words("Herr Herrn Frau Dr Prof Firma")
_FORMS: Final = _words("GmbH AG KG OHG SE UG KGaA eG Inc Ltd LLC")
_LEADS: Final = _words(
    "von mit bei für durch gegen nach an zu und oder sagt sagte laut wie heißt nennt traf aus in"
)


def find_names(text: str, language: str) -> tuple[str, ...]:
    """The names in a text, each once, in their order."""
    tag = language[:2].lower()
    if tag not in ("en", "de"):
        return ()
    found = _german if tag == "de" else _english
    tokens = _WORD.findall(text[:_MOST_CHARACTERS])
    return tuple(dict.fromkeys(found(tokens)))


def find_vanished(one: tuple[str, ...], other_text: str) -> list[str]:
    """Those of the names that have a word which the other text has nowhere, in whatever case."""
    if not one:
        return []
    known = {word.lower() for word in _WORD.findall(other_text[:_MOST_CHARACTERS])}
    return [name for name in one if any(word.lower() not in known for word in name.split())]


def _runs(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
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


def _english(tokens: list[str]) -> Iterator[str]:
    line: list[str] = []
    for word in (*tokens, "\n"):
        if word != "\n":
            line.append(word)
            continue
        yield from _in_line(line)
        line = []


def _in_line(tokens: list[str]) -> Iterator[str]:
    if _is_heading(tokens):
        return
    for before, run in _runs(tokens):
        opens = not before or before in _OPENS
        while run and (run[0].lower() in _PLAIN or run[0].lower() in _TIMES):
            run, opens = run[1:], opens and len(run) == 1
        while run and run[-1].lower() in _TIMES | _PLAIN:
            run = run[:-1]
        if run and (len(run) > 1 or not opens or _is_marked(run[0])):
            yield " ".join(run)


def _is_heading(tokens: list[str]) -> bool:
    """Return whether Most Words Have a Capital, as in titles; a line with a full stop is a sentence."""
    if tokens and tokens[-1] in ".!?":
        return False
    long = [token for token in tokens if len(token) > 3]
    return bool(long) and sum(token[0].isupper() for token in long) > 0.6 * len(long)


def _is_marked(word: str) -> bool:
    """An abbreviation, or a capital inside. SHOUTED words are longer."""
    is_short = word.isupper() and 2 <= len(word) <= 5
    return is_short or (not word.isupper() and any(letter.isupper() for letter in word[1:]))


def _german(tokens: list[str]) -> Iterator[str]:
    if len(tokens) > 3 and all(token.isupper() for token in tokens if token[0].isalpha()):
        return
    for before, run in _runs(tokens):
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
