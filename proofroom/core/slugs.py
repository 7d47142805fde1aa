"""Slugs of texts: of letters of any script for pages, and of a to z for names in code and API URLs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final

from proofroom.core.i18n.words import (
    IN_WORD,
    JOINER,
    LETTER,
    MARK,
    UNSEEN,
    compile_pattern,
    without_unseen,
)

SLUG_LENGTH: Final = 120
_SLUG_WORD: Final = rf"{LETTER}(?:[[\p{{L}}\p{{N}}{MARK}]--[{UNSEEN}]]|{JOINER})*"
_WORDS: Final = compile_pattern(_SLUG_WORD)
_SLUG: Final = compile_pattern(rf"{_SLUG_WORD}(?:-{_SLUG_WORD})*")
_PART_OF_LETTER: Final = compile_pattern(rf"[{MARK}\u200c\u200d]")
# NFKC decomposes the vowel AM of Thai and Lao, which is normally written as one character.
_AM: Final = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
_MEANING: Final = compile_pattern(
    rf"[^{IN_WORD}\p{{Z}}\p{{Cc}}\p{{Pd}}\p{{Ps}}\p{{Pe}}\p{{Pi}}\p{{Pf}}_.,:;!?'\"/…·]"
)


_LETTERS: Final[Mapping[str, str]] = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŋ": "n",
}  # fmt: skip
"""Latin letters without a decomposition into a letter and its accent."""
_NORDIC: Final[Mapping[str, str]] = {"ø": "oe", "å": "aa"}
_LETTERS_OF_LANGUAGE: Final[Mapping[str, Mapping[str, str]]] = {
    "de": {"ä": "ae", "ö": "oe", "ü": "ue"},
    "da": _NORDIC,
    "nb": _NORDIC,
    "nn": _NORDIC,
    "no": _NORDIC,
}
_ACCENTED: Final = compile_pattern(r"(?<=\p{Latin})\p{Mn}+")


def transliterate(text: str, locale: str) -> str:
    """Return a text with Latin letters without accents, as the language spells them. Other scripts stay.

    >>> transliterate("Über Café", "de"), transliterate("Über Café", "en")
    ('ueber cafe', 'uber cafe')
    """
    letters: dict[str, str | int | None] = {
        **_LETTERS,
        **_LETTERS_OF_LANGUAGE.get(locale.partition("-")[0].lower(), {}),
    }
    plain = unicodedata.normalize("NFC", text.replace("İ", "i").lower())
    plain = plain.translate(str.maketrans(letters))
    bare = _ACCENTED.sub("", unicodedata.normalize("NFD", plain))
    return unicodedata.normalize("NFC", bare)


def join_words(text: str, limit: int) -> str:
    """Return the words of a text in lower case, joined by hyphens and cut between letters; empty if there are
    none.
    """
    # Lower-casing İ leaves a combining dot behind, so replace it first.
    plain = unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
    plain = unicodedata.normalize("NFKC", without_unseen(plain))
    for decomposed, whole in _AM:
        plain = plain.replace(decomposed, whole)
    return cut_slug("-".join(_WORDS.findall(plain)), limit)


def cut_slug(slug: str, limit: int) -> str:
    """Return at most `limit` characters of a slug, without splitting a letter from its marks."""
    end = limit
    while 0 < end < len(slug) and _PART_OF_LETTER.match(slug, end):
        end -= 1
    return slug[:end].rstrip("-\u200c\u200d") if end < len(slug) else slug.rstrip("-")


def slug_of(title: str, limit: int = SLUG_LENGTH) -> str:
    """Return the slug of a title: letters and digits of any script, words joined by hyphens; `post` if there are
    none.
    """
    return join_words(title, limit) or "post"


def ascii_slug_of(text: str, limit: int) -> str:
    """Return a slug of the letters a to z and digits; empty if there are none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return join_words(plain, limit)


def numbered_slugs(slug: str, limit: int) -> Iterator[str]:
    """Yield the slug, then the slug with the suffixes 2, 3 and so on."""
    yield slug
    for number in count(2):
        yield f"{cut_slug(slug, limit - len(str(number)) - 1)}-{number}"


def spells_out(text: str, limit: int = SLUG_LENGTH) -> bool:
    """Return whether the slug keeps all that distinguishes the text. `C` and `C++` have the same slug."""
    whole = join_words(text, len(text) * 20)
    return 0 < len(whole) <= limit and _MEANING.search(unicodedata.normalize("NFKC", text)) is None


def is_slug(text: str) -> bool:
    """Return whether a text consists of lower-case words of any script, joined by single hyphens."""
    return _SLUG.fullmatch(text) is not None and text == text.lower()
