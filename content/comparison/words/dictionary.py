"""Word lists of languages, to decide whether a word is a misspelling of another.

The lists come from pyspellchecker. A list takes 10 to 60 MB of memory, so it is only loaded when the assessment of
a staged change needs it.
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
    """The words of one language in lower case, and their letters."""

    __slots__ = ("_letters", "_words")

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._letters = "".join(sorted({letter for word in words for letter in word} - {"'", "-"}))

    def __contains__(self, word: str) -> bool:
        return word.lower().translate(_APOSTROPHES) in self._words

    def corrections(self, word: str) -> frozenset[str]:
        """Return the listed words at edit distance one that share the first letter, in lower case.

        An edit inserts, deletes, substitutes or transposes letters (Damerau 1964).
        """
        lower = word.lower()
        return frozenset(self._words.intersection(_edits(lower, self._letters))) - {lower}


def _edits(word: str, letters: str) -> Iterator[str]:
    """Yield all strings at edit distance one with the same first letter, possibly also `word` itself."""
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
_load_lock: Final = Lock()


def word_list(language: str) -> WordList | None:
    """Return the word list for a language tag such as `de` or `de-AT`, or None."""
    code = language[:2].lower()
    # Languages with three letters, such as `est`, are not the language of their first two.
    if code not in LISTED_LANGUAGES or language[2:3] not in ("", "-", "_"):
        return None
    # Threads must not load the same list twice: it takes time and memory.
    with _load_lock:
        if code not in _lists:
            # Imported here to save the memory in processes that never assess changes.
            from spellchecker import SpellChecker

            _lists[code] = WordList(frozenset(SpellChecker(code).word_frequency.dictionary))
        return _lists[code]


def is_listed(word: str, language: str) -> bool:
    """Return whether a word is in the list of a language. False if the language has no list."""
    words = word_list(language)
    return words is not None and word in words
