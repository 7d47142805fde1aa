"""Word diffs of texts, as segments to be escaped by whoever shows them. Never markup."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

SegmentKind = Literal["same", "removed", "inserted"]

# A token keeps the white space before it. Scripts without spaces are compared by character.
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"\s*(?:[{_CJK}]|[^\W{_CJK}]+|[^\w\s])|\s+")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PAIRS: Final = 120_000
"""Equal pairs of tokens that the matcher may have to look at; beyond it whole lines are compared."""
_OFTEN: Final = 30
"""A token that comes more often never starts a match, only extends one: repetitive texts would take minutes."""
_FOLDED: Final = 900
_EDGE: Final = 240
"""Of an unchanged stretch longer than `_FOLDED`, so much is shown at each end."""
_LEAST_ALIKE: Final = 0.2
"""Below this a mixture of old and new words reads worse than the one after the other."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the merged text."""

    kind: SegmentKind
    text: str

    @property
    def is_folded(self) -> bool:
        """Whether it is so long, and unchanged, that its middle is shown on request."""
        return self.kind == "same" and len(self.text) > _FOLDED

    @property
    def head(self) -> str:
        return self.text[:_EDGE].rsplit(" ", 1)[0]

    @property
    def tail(self) -> str:
        return self.text[-_EDGE:].split(" ", 1)[-1]

    @property
    def middle(self) -> str:
        return self.text[len(self.head) : len(self.text) - len(self.tail)]

    @property
    def hidden_words(self) -> int:
        return len(self.middle.split())


def words(text: str) -> list[str]:
    return _TOKEN.findall(text)


def diff_text(before: str, after: str) -> list[Segment]:
    """One text with what was removed and inserted, word by word; equal texts give one `same` segment.

    The `same` and `inserted` segments joined are `after`. Where only white space differs, all is `same`.
    """
    if before == after:
        return [Segment("same", after)] if after else []
    if not before or not after:
        return list(_whole(before, after))
    old, new = words(before), words(after)
    if _pairs(old, new) > _MOST_PAIRS:
        old, new = _LINE.findall(before), _LINE.findall(after)
        if _pairs(old, new) > _MOST_PAIRS:
            return list(_whole(before, after))
    return _merged(before, after, old, new)


def _whole(before: str, after: str) -> Iterator[Segment]:
    if before:
        yield Segment("removed", before)
    if after:
        yield Segment("inserted", after)


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """What the matcher costs."""
    ours, theirs = Counter(map(str.strip, old)), Counter(map(str.strip, new))
    return sum(count * theirs[token] for token, count in ours.items() if theirs[token] <= _OFTEN)


def _merged(before: str, after: str, old: list[str], new: list[str]) -> list[Segment]:
    codes, keys = _opcodes([token.strip() for token in old], [token.strip() for token in new])
    kept = sum(sum(map(len, old[a:b])) for tag, a, b, _, _ in codes if tag == "equal")
    if kept < _LEAST_ALIKE * min(len(before), len(after)):
        return list(_whole(before, after))
    found: list[Segment] = []
    for run in _runs(codes, keys):
        removed, inserted = "".join(old[run.old]), "".join(new[run.new])
        if run.is_same:
            found.append(Segment("same", inserted))
        else:
            found += _changed(removed, inserted)
    return found


def _changed(removed: str, inserted: str) -> Iterator[Segment]:
    """A change without the space before it, which would be marked too."""
    space = inserted[: len(inserted) - len(inserted.lstrip())]
    if space and inserted.strip():
        yield Segment("same", space)
        removed, inserted = removed.removeprefix(space), inserted.removeprefix(space)
    yield from _whole(removed, inserted)


_Code = tuple[str, int, int, int, int]


def _opcodes(old: list[str], new: list[str]) -> tuple[list[_Code], list[str]]:
    """The matcher's answer for the middle, between what both texts begin and end with; and the new keys."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    ours, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    often = {token for token, count in Counter(theirs).items() if count > _OFTEN}
    matcher = SequenceMatcher(often.__contains__, ours, theirs, autojunk=False)
    middle = [
        (str(tag), a + head, b + head, c + head, d + head)
        for tag, a, b, c, d in matcher.get_opcodes()
    ]
    codes: list[_Code] = [("equal", 0, head, 0, head)] if head else []
    codes += middle
    if tail:
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return codes, new


@dataclass(frozen=True, slots=True)
class _Run:
    is_same: bool
    old: slice
    new: slice


def _runs(codes: Sequence[_Code], keys: Sequence[str]) -> list[_Run]:
    """Stretches, with an equal crumb between two changes taken into the change around it."""
    runs: list[_Run] = []
    for number, (tag, a, b, c, d) in enumerate(codes):
        is_same = tag == "equal"
        inside = 0 < number < len(codes) - 1
        if is_same and inside and d - c == 1 and len(keys[c]) <= 3:
            is_same = False
        if runs and not is_same and not runs[-1].is_same:
            last = runs[-1]
            runs[-1] = _Run(False, slice(last.old.start, b), slice(last.new.start, d))
        else:
            runs.append(_Run(is_same, slice(a, b), slice(c, d)))
    return runs
