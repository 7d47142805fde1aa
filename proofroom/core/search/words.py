"""The words of texts and of what is looked for: folded, and with their accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

MAX_INDEXED_BYTES: Final = 150_000
MAX_INDEXED_WORDS: Final = 30_000
"""Of one text. PostgreSQL refuses a document beyond 1 MB, and keeps each word in several forms."""
MAX_INDEXED_CHARACTERS: Final = 500_000
MAX_WORD_LENGTH: Final = 64
MAX_QUERY_WORDS: Final = 20
# Scripts that put no space between words: each of their letters counts as one.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_LETTER: Final = re.compile(f"[^\\W_{_UNSPACED}]")
_FOREIGN_LETTER: Final = re.compile("[^\\W\x00-\x7f]")
_MARKS: Final = re.compile("[\u0300-\u036f]+")
# Letters with strokes and joined letters, which Unicode does not take apart.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@dataclass(frozen=True, slots=True)
class Word:
    """`folded` has neither case nor accents; `spelled` has its accents. Any of `others`, folded too, does as well."""

    folded: str
    spelled: str
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class Words:
    """A text to keep: all words folded, and beside them as they are spelled where they have accents."""

    folded: list[str] = field(default_factory=list)
    accented: list[str] = field(default_factory=list)


def cut(text: str, locale: str) -> Words:
    """The words of a text, up to the bounds above. German umlauts can be asked for as two letters too."""
    found = Words()
    size = 0
    is_german = locale.partition("-")[0] == "de"
    for word in _words(text[:MAX_INDEXED_CHARACTERS])[:MAX_INDEXED_WORDS]:
        forms = [word.folded]
        if word.spelled != word.folded:
            found.accented.append(word.spelled)
            two_letters = word.spelled.translate(_UMLAUTS).replace("ß", "ss")
            if is_german and two_letters not in (word.folded, word.spelled):
                forms.append(two_letters)
        found.folded += forms
        size += sum(len(form.encode()) for form in (*forms, word.spelled))
        if size > MAX_INDEXED_BYTES:
            break
    return found


def query_words(text: str) -> list[Word]:
    """The words of a question; operators and quotes are none."""
    return _words(text[: MAX_WORD_LENGTH * MAX_QUERY_WORDS])[:MAX_QUERY_WORDS]


def _words(text: str) -> list[Word]:
    # What remains of marks after composing belongs to no letter of its own.
    plain = _MARKS.sub("", unicodedata.normalize("NFKC", text.lower()))
    found = []
    for match in _WORD.findall(plain):
        spelled = match[:MAX_WORD_LENGTH]
        found.append(Word(spelled if spelled.isascii() else _folded(spelled), spelled))
    return found


def _folded(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", apart).translate(_STROKES))


def word_positions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the words of a text begin and end, and each of them folded."""
    for found in _WORD.finditer(text):
        word = found.group().lower()
        yield found.start(), found.end(), word if word.isascii() else _folded(word)


def words_beginning(text: str, beginnings: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield of the words of a text, as `word_positions` does, those that may begin like one of `beginnings`.

    These are folded. Most words of a text are passed over without a look at them.
    """
    lowered = text.lower()
    if lowered.isascii():
        pattern = _ascii_words(frozenset(filter(str.isascii, beginnings)))
        for hit in pattern.finditer(lowered) if pattern else ():
            place = hit.start()
            if not place or not lowered[place - 1].isalnum():
                yield place, hit.end(), hit.group()
        return
    if len(lowered) != len(text):  # a letter became two: places of one are not those of the other
        yield from word_positions(text)
        return
    begins = {found.start() for found in _FOREIGN_LETTER.finditer(text)}
    for beginning in beginnings:
        place = lowered.find(beginning) if beginning else -1
        while place >= 0:
            begins.add(place)
            place = lowered.find(beginning, place + 1)
    done = 0
    for begin in sorted(begins):
        if begin < done:
            continue
        while begin > done and _LETTER.match(text, begin) and _LETTER.match(text, begin - 1):
            begin -= 1
        found = _WORD.match(text, begin)
        if found:
            done = found.end()
            word = found.group().lower()
            yield begin, done, word if word.isascii() else _folded(word)


@lru_cache(maxsize=200)
def _ascii_words(beginnings: frozenset[str]) -> re.Pattern[str] | None:
    """What begins like that in a text of ASCII, inside of words too; None for nothing."""
    some = sorted(map(re.escape, filter(None, beginnings)))
    return re.compile(f"(?:{'|'.join(some)})[a-z0-9]*") if some else None
