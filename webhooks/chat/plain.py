"""Words of others as a chat shows them: to read, never to click, to call anybody, or to load."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TITLE_MAX: Final = 120
# Every chat marks up in its own way and decodes in its own way; signs that look alike mean nothing to any of them.
_ALIKE: Final = str.maketrans(
    {
        "&": "＆",
        "<": "‹",
        ">": "›",
        "@": "＠",
        "#": "＃",
        "[": "［",
        "]": "］",
        "*": "∗",
        "_": "＿",
        "~": "∼",
        "`": "ˋ",
        "|": "¦",
        "\\": "＼",
        ":": "∶",
        "$": "＄",
    }
)
# Between letters a dot makes a name that chats turn into a link; a joiner after it is not seen and ends the name.
_DOT: Final = re.compile(r"([.。．｡])(?=\w)")  # browsers take all four for a dot
_JOINER: Final = "\u2060"


def plain(text: str, most: int = TITLE_MAX) -> str:
    """The text on one line, cut off, with nothing in it that a chat acts on."""
    seen = "".join(sign if _is_seen(sign) else " " for sign in text)
    short = " ".join(seen.split())
    if len(short) > most:
        short = short[: most - 1].rstrip() + "…"
    return _DOT.sub(rf"\1{_JOINER}", short.translate(_ALIKE))


def _is_seen(sign: str) -> bool:
    """Signs of control turn lines around, or hide what follows."""
    return unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
