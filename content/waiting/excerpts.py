"""The part of a text around what changed in it, short enough for a line of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONGEST: Final = 300
_AROUND: Final = 8
"""Words of the same text that stand before and after what changed."""
_WORDY: Final = 25
"""Letters for each space, beyond which a text is one of a script without spaces."""
_TWIN_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Excerpts:
    """`gone` and `come` are only what differs, empty where it is long; `old` and `new` all of it with what is around.

    `is_whole`: nothing that differs is left out.
    """

    before: str
    after: str
    gone: str
    come: str
    old: str
    new: str
    is_whole: bool


def excerpts(before: str, after: str) -> Excerpts:
    """Both texts around the stretch in which they differ."""
    old, new, joint = _units(before, after)
    around = _AROUND if joint else _AROUND * 3
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    words = joint.join(gone), joint.join(come)
    is_short = all(len(text) <= _TWIN_LONGEST for text in words)
    near = slice(max(0, start - around), len(old) - end + around)
    near_new = slice(near.start, len(new) - end + around)
    return Excerpts(
        _around(old, start, len(gone), around, joint),
        _around(new, start, len(come), around, joint),
        words[0] if is_short else "",
        words[1] if is_short else "",
        old=joint.join(old[near]),
        new=joint.join(new[near_new]),
        is_whole=is_short and bool(gone or come),
    )


def clipped(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def _units(before: str, after: str) -> tuple[list[str], list[str], str]:
    old, new = before.split(), after.split()
    longest = max(len(before), len(after))
    if longest > _WORDY * max(len(old), len(new), 1):
        return list(before), list(after), ""
    return old, new, " "


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _around(units: list[str], start: int, length: int, around: int, joint: str) -> str:
    first, last = max(0, start - around), start + length + around
    # More than fits is cut off anyway.
    shown = joint.join(units[first : min(last, first + LONGEST)])
    text = ("…" if first else "") + shown + ("…" if last < len(units) else "")
    return clipped(text)
