r"""Word characters of all scripts.

Python's ``\w`` lacks vowel signs and other marks as well as invisible characters, so it splits नमस्ते. The classes
here are for use inside brackets of `regex` patterns.
"""

from __future__ import annotations

import re
from typing import Final, cast

import regex


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of `regex`, which supports Unicode properties and sets."""
    # It has all methods of the standard library's patterns.
    return cast("re.Pattern[str]", regex.compile(pattern, regex.VERSION1))


MARK: Final = r"\p{Mn}\p{Mc}"
"""Vowel signs, tones, accents and points: parts of the letter before them."""
UNSEEN: Final = r"\p{Default_Ignorable_Code_Point}\p{Me}"
"""Invisible characters such as soft hyphens, zero-width spaces and direction marks, and enclosing marks."""
LETTER: Final = rf"[\p{{L}}\p{{N}}--[{UNSEEN}]]"
"""The first character of a word."""
IN_WORD: Final = rf"\p{{L}}\p{{N}}{MARK}{UNSEEN}"
"""The further characters of a word."""
_PLAIN_SCRIPTS: Final = (
    r"\p{Common}\p{Inherited}\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Hebrew}"
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}"
)
# Joiners and non-joiners change the letters of Arabic and Indic scripts, and so the word. In other
# scripts they are ignored.
JOINER: Final = (
    rf"(?<=[[\p{{L}}{MARK}]--[{_PLAIN_SCRIPTS}]])[\u200c\u200d]"
    rf"(?:(?<=\p{{ccc=9}}.)|(?=[\p{{L}}{MARK}]))"
)
_UNSEEN: Final = compile_pattern(rf"(?!{JOINER})[{UNSEEN}]")


def without_unseen(text: str) -> str:
    """Return the text without invisible characters, except joiners that shape letters."""
    return text if text.isascii() else _UNSEEN.sub("", text)
