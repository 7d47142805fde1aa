"""Values from outside that could not be stored, read back or searched on every database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from proofroom.core.errors import invalid

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
    if not isinstance(value, Mapping):
        return _first(enumerate(value), levels)
    for key in value:
        sentence = _text_fault(str(key))
        if sentence:
            return (), f"has a key that {sentence}"
    return _first(value.items(), levels)


def _first(items: Iterable[tuple[object, object]], levels: int) -> _Fault | None:
    for name, item in items:
        fault = _fault(item, levels - 1)
        if fault is not None:
            return (str(name), *fault[0]), fault[1]
    return None


def _text_fault(text: str) -> str:
    if "\x00" in text:
        return "must not hold the character NUL"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "must not hold half of a character (a lone surrogate)"
    return ""
