r"""The characters of words in every script, and slugs of words.

Python's ``\w`` has neither vowel signs and other marks nor characters that nobody sees: it cuts नमस्ते into pieces.
The classes here are for patterns of `regex`, inside of brackets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Final, cast

import regex


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern in the syntax of `regex`, which knows the properties of characters and sets of them."""
    # It has all the methods of the standard library's patterns.
    return cast("re.Pattern[str]", regex.compile(pattern, regex.VERSION1))


MARK: Final = r"\p{Mn}\p{Mc}"
"""Vowel signs, tones, accents and points: parts of the letter before them."""
UNSEEN: Final = r"\p{Default_Ignorable_Code_Point}\p{Me}"
"""Soft hyphens, zero-width spaces, signs of direction and the like, and frames around a character."""
LETTER: Final = rf"[\p{{L}}\p{{N}}--[{UNSEEN}]]"
"""What begins a word."""
IN_WORD: Final = rf"\p{{L}}\p{{N}}{MARK}{UNSEEN}"
"""What a word goes on with."""
_PLAIN_SCRIPTS: Final = (
    r"\p{Common}\p{Inherited}\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Hebrew}"
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}"
)
# Joiners and non-joiners shape the letters of Arabic and Indic scripts: with another one it is another word.
_JOINER: Final = (
    rf"(?<=[[\p{{L}}{MARK}]--[{_PLAIN_SCRIPTS}]])[\u200c\u200d]"
    rf"(?:(?<=\p{{ccc=9}}.)|(?=[\p{{L}}{MARK}]))"
)
_SLUG_WORD: Final = rf"{LETTER}(?:[[\p{{L}}\p{{N}}{MARK}]--[{UNSEEN}]]|{_JOINER})*"
_WORDS: Final = compile_pattern(_SLUG_WORD)
_SLUG: Final = compile_pattern(rf"{_SLUG_WORD}(?:-{_SLUG_WORD})*")
_UNSEEN: Final = compile_pattern(rf"(?!{_JOINER})[{UNSEEN}]")
_PART_OF_LETTER: Final = compile_pattern(rf"[{MARK}\u200c\u200d]")
# Compatibility takes the vowel AM of Thai and Lao apart, which is written as one.
_AM: Final = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
_MEANING: Final = compile_pattern(
    rf"[^{IN_WORD}\p{{Z}}\p{{Cc}}\p{{Pd}}\p{{Ps}}\p{{Pe}}\p{{Pi}}\p{{Pf}}_.,:;!?'\"/…·]"
)
SLUG_LENGTH: Final = 120


def without_unseen(text: str) -> str:
    """Return the text without characters that nobody sees; joiners stay where they shape letters."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def join_words(text: str, limit: int) -> str:
    """Return the words of a text in lowercase, joined by hyphens and cut between letters; empty for no words."""
    # A capital I with a dot is the capital of i; lowered, its dot would be left over.
    plain = unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
    plain = unicodedata.normalize("NFKC", without_unseen(plain))
    for apart, whole in _AM:
        plain = plain.replace(apart, whole)
    return cut_slug("-".join(_WORDS.findall(plain)), limit)


def cut_slug(slug: str, limit: int) -> str:
    """Return at most so many characters of a slug, none of a letter without its marks."""
    end = limit
    while 0 < end < len(slug) and _PART_OF_LETTER.match(slug, end):
        end -= 1
    return slug[:end].rstrip("-\u200c\u200d") if end < len(slug) else slug.rstrip("-")


def slug_of(title: str, limit: int = SLUG_LENGTH) -> str:
    """A slug from a title: letters and digits of any script, in words joined by hyphens; `post` for none."""
    return join_words(title, limit) or "post"


def ascii_slug_of(text: str, limit: int) -> str:
    """Return the words of a text in the letters a to z and digits, joined by hyphens; empty for a text without."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return join_words(plain, limit)


def numbered_slugs(slug: str, limit: int) -> Iterator[str]:
    """Yield a slug, then the same with 2, 3 and so on behind it."""
    yield slug
    for number in count(2):
        yield f"{cut_slug(slug, limit - len(str(number)) - 1)}-{number}"


def spells_out(text: str, limit: int = SLUG_LENGTH) -> bool:
    """Return whether the slug of a text has all that tells it from others: those of `C` and `C++` are the same."""
    whole = join_words(text, len(text) * 20)
    return 0 < len(whole) <= limit and _MEANING.search(unicodedata.normalize("NFKC", text)) is None


def is_slug(text: str) -> bool:
    """Return whether it is words of any script in lowercase, joined by single hyphens."""
    return _SLUG.fullmatch(text) is not None and text == text.lower()
