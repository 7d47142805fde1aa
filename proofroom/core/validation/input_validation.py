"""Checks of values from outside: values that cannot be stored, and normalised texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from proofroom.core.errors import invalid
from proofroom.core.json import Json

MAX_DEPTH: Final = 64
MAX_INTEGER: Final = 2**53
"""JSON parsers lose precision beyond this (RFC 8259, section 6), and some cannot write such numbers."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Checked first, because most values have these types and `isinstance` with abstract collections is slow."""
_Fault = tuple[tuple[str, ...], str]


def is_deeper(value: object, levels: int = MAX_DEPTH) -> bool:
    """Return whether objects and lists are nested deeper than `levels`."""
    if type(value) in _PLAIN or not isinstance(value, Mapping | list | tuple):
        return False
    items = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(
        is_deeper(item, levels - 1) for item in items if type(item) not in _PLAIN
    )


def reject_unstorable(value: object, field: str = "") -> None:
    """Raise `RuleViolation` for the first value that cannot be stored, keyed by its path below `field`.

    These are NUL and lone surrogates in texts and keys, NaN, numbers beyond 2**53, and nesting beyond 64 levels.
    """
    fault = _fault(value, MAX_DEPTH)
    if fault is not None:
        path = ".".join(part[:80] for part in (field, *fault[0]) if part) or "body"
        raise invalid(path, f"{path} {fault[1]}.")


def _fault(value: object, levels: int) -> _Fault | None:
    if isinstance(value, str):
        sentence = _text_fault(value)
        return ((), sentence) if sentence else None
    if value is None:
        return None
    if isinstance(value, int | float):
        # Written so that NaN fails: every comparison with it is false.
        fits = abs(value) <= MAX_INTEGER
        return None if fits else ((), "must be a number between -2**53 and 2**53")
    if not isinstance(value, Mapping | list | tuple):
        return None
    if levels == 0:
        return (), f"is nested deeper than {MAX_DEPTH} levels"
    for key in value if isinstance(value, Mapping) else ():
        sentence = _text_fault(str(key))
        if sentence:
            return (), f"has a key that {sentence}"
    for name, item in value.items() if isinstance(value, Mapping) else enumerate(value):
        fault = _fault(item, levels - 1)
        if fault is not None:
            return (str(name), *fault[0]), fault[1]
    return None


def _text_fault(text: str) -> str:
    if "\x00" in text:
        return "must not contain the character NUL"
    if not text.isascii():
        try:
            # Fails only for lone surrogates.
            text.encode()
        except UnicodeEncodeError:
            return "must not contain an incomplete character (a lone surrogate)"
    return ""


_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
NOT_ON_A_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")
"""Characters not allowed in one line of text: control characters including tabs, line breaks, and bidirectional
overrides.

Overrides could make a name look like another one. No-break spaces, soft hyphens and joiners are allowed: French,
Persian and many emoji need them.
"""

NOT_IN_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters not allowed in text of several lines: control characters except tabs and line breaks."""


def character_at(found: re.Match[str], before: int = 0) -> dict[str, object]:
    """Return the code and position of a character for a message. `before` characters were stripped from the text."""
    return {"ord": f"{ord(found.group()[0]):04X}", "start": found.start() + before}


def is_one_line(text: str) -> bool:
    """Return whether a text can be stored and is a single line without control characters."""
    return NOT_ON_A_LINE.search(text) is None and not _text_fault(text)


def clean_line(
    name: str, value: Json, limit: int, *, required: bool = False, lines: bool = False
) -> str:
    """Return the stripped text of at most `limit` characters. Raises `RuleViolation` on the field `name`.

    It must be one line unless `lines` is True.
    """
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise invalid(name, _("%(name)s must be text.") % {"name": name})
    # Positions in messages refer to the text as sent, before stripping.
    before = len(value) - len(value.lstrip())
    value = value.strip()
    if required and not value:
        raise invalid(name, _("%(name)s must not be empty.") % {"name": name})
    if len(value) > limit:
        raise invalid(
            name,
            _("%(name)s has %(number)s characters; at most %(limit)s are allowed.")
            % {"name": name, "number": f"{len(value):,}", "limit": f"{limit:,}"},
        )
    if found := (_CONTROL if lines else NOT_ON_A_LINE).search(value):
        raise invalid(
            name,
            _(
                "%(name)s must not contain control characters or line breaks (U+%(ord)s at "
                "position %(start)s)."
            )
            % {"name": name, **character_at(found, before)},
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise invalid(
            name,
            _("%(name)s contains an incomplete character (a lone surrogate).") % {"name": name},
        ) from None
    return value


def clean_name(value: Json, limit: int) -> str:
    """Return a name as one line of at most `limit` characters. Raises `RuleViolation` on `name`."""
    return clean_line("name", value, limit, required=True)


def parse_uuid(value: object) -> UUID | None:
    """Return the UUID that a value is or spells; None for other values."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def parse_uuids(values: Iterable[object]) -> list[UUID]:
    """Return the distinct UUIDs among the values, in their order."""
    found = (id_ for value in values if (id_ := parse_uuid(value)) is not None)
    return list(dict.fromkeys(found))


def clean_lines(text: str) -> str:
    """Return text of several lines with plain line breaks. Raises `ValueError` for control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(ord(char) < 32 and char not in "\n\t" for char in text):
        raise ValueError(_("This must not contain control characters."))
    return text
