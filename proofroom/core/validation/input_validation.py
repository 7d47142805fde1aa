"""Values from outside: what could not be stored, read back or searched anywhere, and texts as they are kept."""

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
"""Beyond it readers of JSON disagree about which number it is, and some cannot write it again."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Asked for first: most of a body is of these, and asking for kinds of collections is slow."""
_Fault = tuple[tuple[str, ...], str]


def is_deeper(value: object, levels: int = MAX_DEPTH) -> bool:
    """Return whether objects and lists stand in one another deeper than that."""
    if type(value) in _PLAIN or not isinstance(value, Mapping | list | tuple):
        return False
    items = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(
        is_deeper(item, levels - 1) for item in items if type(item) not in _PLAIN
    )


def refuse_unstorable(value: object, field: str = "") -> None:
    """Raise `RuleViolation`, keyed by the path below `field`, for the first thing that cannot be stored.

    That is NUL or half of a character in a text or a key, a number that is none or beyond 2**53, and nesting
    beyond 64 levels.
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
        # The comparison is false for NaN too.
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
            text.encode()
        except UnicodeEncodeError:
            return "must not contain an incomplete character (a lone surrogate)"
    return ""


_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
NOT_ON_A_LINE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")
"""What one line of text does not have: control characters, tabs among them, whatever breaks a line, and what turns
the direction of all that follows, so that a name is read as another. No-break spaces, soft hyphens and joiners are
ordinary: French, Persian and many emoji are written with them."""

NOT_IN_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What text of several lines does not have: control characters but tabs and line breaks."""


def character_at(found: re.Match[str], before: int = 0) -> dict[str, object]:
    """Return which character was found, and where, for a sentence; `before` characters were cut off the text."""
    return {"ord": f"{ord(found.group()[0]):04X}", "start": found.start() + before}


def is_one_line(text: str) -> bool:
    """Return whether a text can be stored, and stands on one line without control characters."""
    return NOT_ON_A_LINE.search(text) is None and not _text_fault(text)


def clean_line(
    name: str, value: Json, limit: int, *, required: bool = False, lines: bool = False
) -> str:
    """Text of at most so many characters, on one line unless `lines`; `RuleViolation` keyed by the field's name."""
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise invalid(name, _("%(name)s must be text.") % {"name": name})
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
    """The name of something, on one line of at most so many characters. Raises `RuleViolation` on `name`."""
    return clean_line("name", value, limit, required=True)


def parse_uuid(value: object) -> UUID | None:
    """The id that a value is, or spells; None for everything else."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def parse_uuids(values: Iterable[object]) -> list[UUID]:
    """The ids among the values, each once, in their order."""
    found = (id_ for value in values if (id_ := parse_uuid(value)) is not None)
    return list(dict.fromkeys(found))
