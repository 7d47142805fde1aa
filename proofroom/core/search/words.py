"""Words of texts and of queries: folded, and with their accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from proofroom.core.i18n.words import IN_WORD, LETTER, MARK, UNSEEN, compile_pattern

MAX_INDEXED_BYTES: Final = 150_000
MAX_INDEXED_WORDS: Final = 30_000
"""Maximum number of words of one text.

PostgreSQL refuses a document over 1 MB and stores each word in several forms.
"""
MAX_INDEXED_CHARACTERS: Final = 500_000
MAX_WORD_LENGTH: Final = 64
WORD_RULES: Final = 2
"""Version of the rules below. Increase it with each change: `migrate` then rebuilds the index."""
MAX_QUERY_WORDS: Final = 20
# Scripts without spaces between words. Each letter with its marks counts as a word.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# The possessive quantifiers below keep the time linear in the length of the text.
_IN_SPACED: Final = rf"[[{IN_WORD}]--[{_UNSPACED}]]"
_ALONE: Final = rf"[[{_UNSPACED}]--[{MARK}{UNSEEN}]][{MARK}{UNSEEN}]*"
# Invisible characters and marks may precede the first letter of a word.
_AHEAD: Final = rf"(?<![{MARK}{UNSEEN}])[{MARK}{UNSEEN}]*+"
_WORD: Final = compile_pattern(rf"{_ALONE}|(?:{_AHEAD})?[{LETTER}--[{_UNSPACED}]]{_IN_SPACED}*+")
_LETTER: Final = compile_pattern(_IN_SPACED)
_RUN: Final = compile_pattern(rf"{_IN_SPACED}++")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
# Accents, points and vowel signs that are optional in writing. Not in kana, where they make another
# letter, nor in Indic scripts, where they make another syllable. A nukta is often omitted, and a
# tatweel only stretches a word.
_MARKS: Final = compile_pattern(
    r"[[[\p{Mn}\p{Me}]&&[\p{Inherited}\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Syriac}]]--[\u3099\u309a]]"
    r"|\p{ccc=7}|\u0640"
)
_UNSEEN: Final = compile_pattern(rf"[{UNSEEN}]")
_NON_JOINER: Final = "\u200c"
_JOINED: Final = compile_pattern(rf"[\p{{Arabic}}{MARK}]++(?:\u200c[\p{{Arabic}}{MARK}]++)++")
# Letters with strokes and ligatures, which Unicode normalisation does not decompose.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
    # Persian and Arabic keyboards produce different characters for letters that look the same.
    | {"ی": "ي", "ى": "ي", "ک": "ك"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text or a query.

    `folded` has neither case nor accents; `spelled` has accents. `others` are alternative folded forms.
    """

    folded: str
    spelled: str
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class Words:
    """The words of a text to index: all of them folded, and those with accents also as spelled."""

    folded: list[str] = field(default_factory=list)
    accented: list[str] = field(default_factory=list)


def cut(text: str, locale: str) -> Words:
    """Return the words of a text, up to the limits above. German umlauts are also indexed as two letters."""
    found = Words()
    size = 0
    is_german = locale.partition("-")[0] == "de"
    text = text[:MAX_INDEXED_CHARACTERS]
    for word in [*_words(text), *_parts(text)][:MAX_INDEXED_WORDS]:
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
    """Return the words of a query. It has no operators or quotes."""
    return _words(text[: MAX_WORD_LENGTH * MAX_QUERY_WORDS])[:MAX_QUERY_WORDS]


def _words(text: str) -> list[Word]:
    # Marks that remain after composition are not part of a precomposed letter.
    plain = text.lower()
    if not plain.isascii():
        plain = _UNSEEN.sub("", _MARKS.sub("", unicodedata.normalize("NFKC", plain)))
    found = []
    for match in _WORD.findall(plain):
        spelled = match[:MAX_WORD_LENGTH]
        found.append(Word(spelled if spelled.isascii() else _fold(spelled), spelled))
    return found


def _parts(text: str) -> list[Word]:
    """Return the parts of words joined by zero-width non-joiners, as in Persian: each may be searched for."""
    if _NON_JOINER not in text:
        return []
    joined = _JOINED.findall(text)
    return _words(" ".join(joined).replace(_NON_JOINER, " "))


def _fold(word: str) -> str:
    decomposed = _UNSEEN.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed).translate(_STROKES))


def word_positions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each word of a text, and the word folded."""
    for found in _WORD.finditer(text):
        word = found.group().lower()
        yield found.start(), found.end(), word if word.isascii() else _fold(word)


def words_beginning(text: str, beginnings: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text that may begin with one of the folded `beginnings`, like `word_positions`.

    Skips most words without looking at them.
    """
    lowered = text.lower()
    if lowered.isascii():
        pattern = _ascii_words(frozenset(filter(str.isascii, beginnings)))
        for hit in pattern.finditer(lowered) if pattern else ():
            place = hit.start()
            if not place or not lowered[place - 1].isalnum():
                yield place, hit.end(), hit.group()
        return
    if len(lowered) != len(text):  # a letter became two, so the positions differ
        yield from word_positions(text)
        return
    begins = {found.start() for found in _FOREIGN.finditer(text)}
    for beginning in beginnings:
        place = lowered.find(beginning) if beginning else -1
        while place >= 0:
            begins.add(place)
            place = lowered.find(beginning, place + 1)
    done = 0
    for begin in sorted(begins):
        if begin < done:
            continue
        # Go back to the start of the word.
        while begin > done and _LETTER.match(text, begin) and _LETTER.match(text, begin - 1):
            begin -= 1
        found = _WORD.match(text, begin)
        if found:
            done = found.end()
            word = found.group().lower()
            yield begin, done, word if word.isascii() else _fold(word)
        elif run := _RUN.match(text, begin):
            done = run.end()


@lru_cache(maxsize=200)
def _ascii_words(beginnings: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern for words with these beginnings in ASCII text, also inside of words; None if there are
    none.
    """
    some = sorted(map(re.escape, filter(None, beginnings)))
    return re.compile(f"(?:{'|'.join(some)})[a-z0-9]*") if some else None
