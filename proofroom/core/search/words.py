"""The words of texts and of what is looked for: folded, and with their accents."""

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
"""Of one text. PostgreSQL refuses a document beyond 1 MB, and keeps each word in several forms."""
MAX_INDEXED_CHARACTERS: Final = 500_000
MAX_WORD_LENGTH: Final = 64
WORD_RULES: Final = 2
"""The version of the rules below. It is raised with every change of them: `migrate` then has words kept anew."""
MAX_QUERY_WORDS: Final = 20
# Scripts that put no space between words: each of their letters, with its marks, counts as one.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_IN_SPACED: Final = rf"[[{IN_WORD}]--[{_UNSPACED}]]"
_ALONE: Final = rf"[[{_UNSPACED}]--[{MARK}{UNSEEN}]][{MARK}{UNSEEN}]*"
# Before its first letter a word may have what is not seen.
_AHEAD: Final = rf"(?<![{MARK}{UNSEEN}])[{MARK}{UNSEEN}]*+"
_WORD: Final = compile_pattern(rf"{_ALONE}|(?:{_AHEAD})?[{LETTER}--[{_UNSPACED}]]{_IN_SPACED}*+")
_LETTER: Final = compile_pattern(_IN_SPACED)
_RUN: Final = compile_pattern(rf"{_IN_SPACED}++")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]")
# Accents, points and the vowels above and below letters, which are written or not; those of kana make another letter,
# and those of Indic scripts another syllable. A nukta is as often left out as typed, a tatweel draws a word out.
_MARKS: Final = compile_pattern(
    r"[[[\p{Mn}\p{Me}]&&[\p{Inherited}\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Syriac}]]--[\u3099\u309a]]"
    r"|\p{ccc=7}|\u0640"
)
_UNSEEN: Final = compile_pattern(rf"[{UNSEEN}]")
_NON_JOINER: Final = "\u200c"
_JOINED: Final = compile_pattern(rf"[\p{{Arabic}}{MARK}]++(?:\u200c[\p{{Arabic}}{MARK}]++)++")
# Letters with strokes and joined letters, which Unicode does not take apart.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
    # The same letters to the eye, of Persian and Arabic keyboards.
    | {"ی": "ي", "ى": "ي", "ک": "ك"}
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
    """The words of a question; operators and quotes are none."""
    return _words(text[: MAX_WORD_LENGTH * MAX_QUERY_WORDS])[:MAX_QUERY_WORDS]


def _words(text: str) -> list[Word]:
    # What remains of marks after composing belongs to no letter of its own.
    plain = text.lower()
    if not plain.isascii():
        plain = _UNSEEN.sub("", _MARKS.sub("", unicodedata.normalize("NFKC", plain)))
    found = []
    for match in _WORD.findall(plain):
        spelled = match[:MAX_WORD_LENGTH]
        found.append(Word(spelled if spelled.isascii() else _folded(spelled), spelled))
    return found


def _parts(text: str) -> list[Word]:
    """The parts of words that non-joiners hold together, as Persian has them: each may be what is looked for."""
    if _NON_JOINER not in text:
        return []
    joined = _JOINED.findall(text)
    return _words(" ".join(joined).replace(_NON_JOINER, " "))


def _folded(word: str) -> str:
    apart = _UNSEEN.sub("", unicodedata.normalize("NFKD", word.casefold()))
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
        while begin > done and _LETTER.match(text, begin) and _LETTER.match(text, begin - 1):
            begin -= 1
        found = _WORD.match(text, begin)
        if found:
            done = found.end()
            word = found.group().lower()
            yield begin, done, word if word.isascii() else _folded(word)
        elif run := _RUN.match(text, begin):
            done = run.end()


@lru_cache(maxsize=200)
def _ascii_words(beginnings: frozenset[str]) -> re.Pattern[str] | None:
    """What begins like that in a text of ASCII, inside of words too; None for nothing."""
    some = sorted(map(re.escape, filter(None, beginnings)))
    return re.compile(f"(?:{'|'.join(some)})[a-z0-9]*") if some else None
