"""Word lists of languages, for judging whether one word is another one spelled wrong.

The lists are those of pyspellchecker. One takes 10 to 60 MB of memory, so it is read when a staged change is judged
that needs it, and by no other page or process.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Final

LISTED_LANGUAGES: Final = frozenset(
    {"ar", "de", "en", "es", "eu", "fa", "fr", "it", "lv", "nl", "pt", "ru"}
)
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "\u00ad": None})


class WordList:
    """The words of one language in lower case, and the letters they are written with."""

    __slots__ = ("_letters", "_words")

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._letters = "".join(sorted({letter for word in words for letter in word} - {"'", "-"}))

    def __contains__(self, word: str) -> bool:
        return word.lower().translate(_APOSTROPHES) in self._words

    def corrections(self, word: str) -> frozenset[str]:
        """Return the listed words one edit away from `word`, in lower case, that begin with its first letter.

        An edit is one letter inserted, deleted, substituted, or swapped with its neighbour (Damerau 1964).
        """
        lower = word.lower()
        return frozenset(self._words.intersection(_edits(lower, self._letters))) - {lower}


def _edits(word: str, letters: str) -> Iterator[str]:
    """Yield all strings one edit away that keep the first letter; `word` itself may be among them."""
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in letters:
            yield f"{head}{letter}{tail}"
        if not tail:
            continue
        yield head + tail[1:]
        for letter in letters:
            yield f"{head}{letter}{tail[1:]}"
        if len(tail) > 1:
            yield f"{head}{tail[1]}{tail[0]}{tail[2:]}"


_lists: Final[dict[str, WordList]] = {}
_reading: Final = Lock()


def word_list(language: str) -> WordList | None:
    """Return the list of a language tag like `de` or `de-AT`; None where there is none."""
    code = language[:2].lower()
    if code not in LISTED_LANGUAGES or language[2:3] not in ("", "-", "_"):
        return None
    with _reading:
        if code not in _lists:
            # Imported here: the package is of no use to processes that judge nothing.
            from spellchecker import SpellChecker

            _lists[code] = WordList(frozenset(SpellChecker(code).word_frequency.dictionary))
        return _lists[code]


def is_listed(word: str, language: str) -> bool:
    """Return whether a word is in the list of a language; no where there is no list."""
    words = word_list(language)
    return words is not None and word in words
