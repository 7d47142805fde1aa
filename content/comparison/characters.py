"""Characters that are invisible or look like others, displayed by name so that they cannot hide in a text.

Sources: Unicode Standard Annex 44 (general categories), Unicode Technical Standard 39 (confusables) and Unicode
Technical Report 36 (invisible and bidirectional characters). Pure functions.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final
from urllib.parse import urlsplit

_ALIASES: Final = {
    0x00: "null",
    0x07: "bell",
    0x08: "backspace",
    0x09: "tab",
    0x0A: "line break",
    0x0B: "vertical tab",
    0x0C: "form feed",
    0x0D: "carriage return",
    0x1B: "escape",
    0x7F: "delete",
    0x85: "next line",
}
"""Names of control characters, which have none in Unicode."""
_BLANKS: Final = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        *range(0x1D173, 0x1D17B),
    )
)
"""Characters of a printing category without a glyph: fillers, variation selectors, the blank Braille pattern."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_PLAIN: Final = frozenset(" \n")
_ODD_LATIN: Final = (
    (0x0131, 0x0131),  # dotless i
    (0x0180, 0x0217),  # Extended-B without the Romanian letters
    (0x021C, 0x02FF),
    (0x1D00, 0x1DBF),
    (0x2C60, 0x2C7F),
    (0xA720, 0xA7FF),
    (0xAB30, 0xAB6F),
)
"""Latin letters that no European keyboard has. Most of them look like another letter."""
_ALIKE: Final = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_ALIKE_LETTERS: Final = str.maketrans("I1|i0O5S", "llllooss")
_SCRIPT_OF_LANGUAGE: Final = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "sr", "kk", "mn"), "CYRILLIC"),
    **dict.fromkeys(("ar", "fa", "ur"), "ARABIC"),
    **{"el": "GREEK", "he": "HEBREW", "hy": "ARMENIAN", "ka": "GEORGIAN"},
}
"""Script of languages whose letters look like Latin letters."""
_UNLIKE_LATIN: Final = (
    "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "THAI", "DEVANAGARI", "BENGALI", "TAMIL",
    "TELUGU", "GUJARATI", "KHMER", "LAO", "TIBETAN", "ETHIOPIC", "IDEOGRAPHIC", "FEMININE", "MASCULINE",
    "MICRO",
)  # fmt: skip
"""Scripts and single letters that cannot be mistaken for Latin."""
_ORDINARY: Final = re.compile(
    r"[\n\x20-\x7e\u00a1-\u00ac\u00ae-\u0130\u0132-\u017e\u2010\u2012-\u2027\u2030-\u205e"
    r"\u20a0-\u20c0\u2190-\u21ff\u2500-\u25ff\u2713-\u2718]*"
)
"""Text without any suspicious character: printable ASCII, accented Latin, punctuation, currency symbols, arrows."""


def name_of(char: str) -> str:
    """Return the code point and name of a character, such as "U+200B zero width space"."""
    code = ord(char)
    name = unicodedata.name(char, "") or _ALIASES.get(code, "") or "no character"
    return f"U+{code:04X} {name.lower()}"


def is_unseen(char: str) -> bool:
    """Return whether a character is invisible or blank, other than a space or line break."""
    return char not in _PLAIN and (ord(char) in _BLANKS or unicodedata.category(char) in _UNSEEN)


def make_visible(text: str) -> str:
    """Return the text with every invisible character replaced by its name in ⟦ ⟧."""
    if _ORDINARY.fullmatch(text):
        return text
    # Brackets in the text itself are doubled, so that no text imitates a name.
    return "".join(_name_if_unseen(char) for char in text)


def visible_context(text: str) -> str:
    """Return unchanged text with invisible characters named, except wide and narrow spaces and emoji joiners."""
    if _ORDINARY.fullmatch(text):
        return text
    return "".join(
        char
        if char == "\t"
        or unicodedata.category(char) == "Zs"
        or _joins_emoji(char, text[at - 1 : at])
        else _name_if_unseen(char)
        for at, char in enumerate(text)
    )


def _joins_emoji(char: str, before: str) -> bool:
    """Return whether the character joins to the emoji before it (zero width joiner or variation selector)."""
    if char not in "\u200d\ufe0f" or not before:
        return False
    is_picture = unicodedata.category(before) == "So" or "\U0001f3fb" <= before <= "\U0001f3ff"
    return is_picture or (char == "\u200d" and before == "\ufe0f")


def _name_if_unseen(char: str) -> str:
    if char in "⟦⟧":
        return char * 2
    if char == "\t":
        return "⟦tab⟧"
    return f"⟦{name_of(char)}⟧" if is_unseen(char) else char


def draw_space(space: str) -> str:
    """Return changed white space with ␣ for a space and ↵ for a line break."""
    return "".join({" ": "␣", "\n": "↵\n"}.get(char) or _name_if_unseen(char) for char in space)


_MISSED_SPACE: Final = re.compile(r" {2,}| +(?=\n)| +$|\n")
_EDGE_SPACE: Final = re.compile(rf"^ +|{_MISSED_SPACE.pattern}")
_DRAWN_SPACE: Final = str.maketrans({"␣": f"⟦{name_of('␣')}⟧", "↵": f"⟦{name_of('↵')}⟧"})


def draw_changed(text: str, *, is_whole: bool = False) -> str:
    """Return changed text with white space made visible that is easy to miss: doubled, trailing, and line breaks.

    `is_whole`: also draw leading spaces. Otherwise these only separate the text from the word before it.
    """
    pattern = _EDGE_SPACE if is_whole else _MISSED_SPACE
    found: list[str] = []
    at = 0
    for match in pattern.finditer(text):
        found += [_named_text(text[at : match.start()]), draw_space(match[0])]
        at = match.end()
    return "".join([*found, _named_text(text[at:])])


def _named_text(text: str) -> str:
    if "↵" not in text and _ORDINARY.fullmatch(text):
        return text
    return "".join(_name_if_unseen(char) for char in text).translate(_DRAWN_SPACE)


def find_suspicious(text: str, language: str = "en") -> list[str]:
    """Return the distinct names of hidden, disguised and foreign characters in a text, in order.

    A letter is foreign if its script is not the script of the language.
    """
    if _ORDINARY.fullmatch(text):
        return []
    main = _SCRIPT_OF_LANGUAGE.get(language[:2].lower(), "LATIN")
    found = [
        name_of(char)
        for at, char in enumerate(text)
        if (is_unseen(char) and not _joins_emoji(char, text[at - 1 : at]))
        or _is_disguised(char)
        or _is_foreign(char, main)
    ]
    if not unicodedata.is_normalized("NFC", text):
        # Combining marks in a sequence that has a precomposed letter.
        found += [name_of(char) for char in text if unicodedata.combining(char)]
    return list(dict.fromkeys(found))


def find_look_alikes(before: str, after: str) -> list[str]:
    """Return the names of the characters that distinguish words which look the same, empty if no words do.

    Words that differ in case do not look the same.
    """
    if not before or not after or before.casefold() == after.casefold():
        return []
    old, new = before.split(), after.split()
    gone = {_skeleton(word): word for word in set(old) - set(new)}
    found: list[str] = []
    for word in dict.fromkeys(new):
        other = gone.get(_skeleton(word))
        if other is not None and word not in old and other.casefold() != word.casefold():
            removed, added = Counter(other), Counter(word)
            found += [*(removed - added), *(added - removed)]
    return [
        f"{char} {name_of(char)}" if char.isprintable() else name_of(char)
        for char in dict.fromkeys(found)
    ]


def _is_disguised(char: str) -> bool:
    """Return whether the character looks like an ASCII letter or digit, or is a digit of another script."""
    if char.isascii():
        return False
    code = ord(char)
    if any(low <= code <= high for low, high in _ODD_LATIN):
        return True
    plain = unicodedata.normalize("NFKC", char)
    # Ordinals and small exponents are ordinary typography.
    if plain != char and plain.isascii() and plain.isalnum() and char not in "ªº²³¹":
        return True
    # Digits of other scripts, and overlay marks that strike through a letter.
    return unicodedata.category(char) == "Nd" or 0x0334 <= code <= 0x0338


def _is_foreign(char: str, main: str) -> bool:
    if char.isascii() or not char.isalpha():
        return False
    name = unicodedata.name(char, "")
    return not name.startswith(("LATIN", main, *_UNLIKE_LATIN))


def _skeleton(text: str) -> str:
    """Return a form that is equal for texts that look alike."""
    if not text.isascii():
        # Decompose letters and digits only: an ellipsis must not become three dots.
        apart = ""
        for char in text:
            parts = unicodedata.normalize("NFKD", char)
            apart += parts if any(part.isalnum() for part in parts) else char
        whole = unicodedata.normalize("NFC", "".join(c for c in apart if c not in _MARKS_BELOW))
        text = "".join(_LOOKALIKES.get(c, c) for c in whole if not is_unseen(c))
    text = text.translate(_ALIKE_LETTERS)
    for pair, one in _ALIKE:
        text = text.replace(pair, one)
    return text.casefold()


_MARKS_BELOW: Final = frozenset(map(chr, (0x0323, 0x0324, 0x0325, 0x0326, 0x032D, 0x0330, 0x0331)))
"""Dots and strokes below a letter."""
_LOOKALIKES: Final = dict(
    zip(
        "аеорсухіјѕԁԛԝһӏкмтвнгАВЕКМНОРСТУХІЈЅαορνικτυχγηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧοօսցհոɑɡıⅼ∕⁄։꞉;․‐‑",
        "aeopcyxijsdqwhlkmtbhrABEKMHOPCTYXIJSaopviktuxyhwABEZHIKMNOPTYXoouqhnagil//::;.--",
        strict=True,
    )
)
"""Latin letters and marks by the characters that look like them (common confusables of UTS 39)."""


def address_notes(address: str) -> list[str]:
    """Return notes for readers of an address: a non-ASCII host in ASCII, and the host if a user name precedes it."""
    try:
        parts = urlsplit(address)
        host, user = parts.hostname or "", parts.username
    except ValueError:
        return []
    notes = []
    if not host.isascii():
        try:
            notes.append(host.encode("idna").decode())
        except UnicodeError:
            # The codec refuses some hosts that browsers accept.
            labels = (
                label if label.isascii() else "xn--" + label.encode("punycode").decode()
                for label in host.split(".")
            )
            notes.append(".".join(labels))
    # In https://bank.example@evil.example the host is evil.example.
    if user is not None:
        notes.append(f"@{host}")
    return notes
