"""Aligns two sequences with bounded work, and diffs texts word by word. Never markup: whoever shows it escapes it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

MAX_PAIRS: Final = 120_000
"""Equal pairs that the matcher may have to look at; beyond it the middle is replaced as a whole."""
MAX_STEPS: Final = 4_000_000
"""The lengths of both sides multiplied: what the matcher may need at worst."""
_LONG: Final = 600
"""Keys of both sides beyond which the matcher is asked between anchors only: it takes the square of what it sees."""
_MAX_REPEATS: Final = 30
"""A key that comes more often never starts a match, only extends one: repetitive texts would take minutes."""


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """Stretches of both sides that belong together. Those of a same run have equal keys, one by one."""

    is_same: bool
    old: slice
    new: slice


def align(old: Sequence[str], new: Sequence[str]) -> list[AlignedRun]:
    """Runs that cover both sequences in order; no two neighbours are both the same or both not."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    rest = least - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    middle = _middle(old[head : len(old) - tail], new[head : len(new) - tail])
    runs = [AlignedRun(True, slice(0, head), slice(0, head))]
    runs += [
        AlignedRun(same, slice(a + head, b + head), slice(c + head, d + head))
        for same, a, b, c, d in middle
    ]
    runs.append(
        AlignedRun(True, slice(len(old) - tail, len(old)), slice(len(new) - tail, len(new)))
    )
    found: list[AlignedRun] = []
    for run in runs:
        if run.old.start == run.old.stop and run.new.start == run.new.stop:
            continue
        if found and found[-1].is_same == run.is_same:
            last = found[-1]
            run = AlignedRun(
                run.is_same,
                slice(last.old.start, run.old.stop),
                slice(last.new.start, run.new.stop),
            )
            found[-1] = run
        else:
            found.append(run)
    return found


def alignment_cost(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many equal pairs the matcher would look at."""
    ours, theirs = Counter(old), Counter(new)
    return sum(count * theirs[key] for key, count in ours.items() if theirs[key] <= _MAX_REPEATS)


_Block = tuple[bool, int, int, int, int]


def _middle(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    if not old or not new:
        return [(False, 0, len(old), 0, len(new))]
    if len(old) + len(new) > _LONG:
        anchors = _anchors(old, new)
        if anchors:
            # The anchors, and what the matcher finds between them.
            found: list[_Block] = []
            a = c = 0
            for b, d in (*anchors, (len(old), len(new))):
                gone, come = old[a:b], new[c:d]
                if gone or come:
                    found += [
                        (same, e + a, f + a, g + c, h + c)
                        for same, e, f, g, h in _middle(gone, come)
                    ]
                if b < len(old):
                    found.append((True, b, b + 1, d, d + 1))
                a, c = b + 1, d + 1
            return found
    if alignment_cost(old, new) > MAX_PAIRS or len(old) * len(new) > MAX_STEPS:
        return [(False, 0, len(old), 0, len(new))]
    often = {key for key, count in Counter(new).items() if count > _MAX_REPEATS}
    matcher = SequenceMatcher(often.__contains__, old, new, autojunk=False)
    return [(tag == "equal", a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes()]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of keys that come once on both sides, as many as stand in one order (patience diff): n log n."""
    counts, others = Counter(old), Counter(new)
    places = {key: at for at, key in enumerate(new) if others[key] == 1}
    pairs = [(at, places[key]) for at, key in enumerate(old) if counts[key] == 1 and key in places]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        slot = bisect_left(tails, place)
        before.append(ends[slot - 1] if slot else -1)
        if slot == len(tails):
            tails.append(place)
            ends.append(number)
        else:
            tails[slot], ends[slot] = place, number
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


SegmentKind = Literal["same", "removed", "inserted"]

# A token keeps the white space before it. Scripts without spaces are compared by character.
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN: Final = re.compile(rf"\s*(?:[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|[^\w\s])|\s+")
_MAX_UNFOLDED: Final = 900
_EDGE: Final = 240
"""Of an unchanged stretch longer than `_MAX_UNFOLDED`, so much is shown at each end."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the merged text."""

    kind: SegmentKind
    text: str

    @property
    def is_folded(self) -> bool:
        """Whether it is so long, and unchanged, that its middle is shown on request."""
        return self.kind == "same" and len(self.text) > _MAX_UNFOLDED

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


def diff_text(before: str, after: str) -> list[Segment]:
    """One text with what was removed and inserted, word by word; equal texts give one `same` segment.

    The `same` and `inserted` segments joined are `after`, the `same` and `removed` ones `before`.
    """
    if before == after:
        return [Segment("same", after)] if after else []
    old, new = (TOKEN.findall(text) for text in (before, after))
    found: list[Segment] = []
    for run in align(old, new):
        if run.is_same:
            found.append(Segment("same", "".join(new[run.new])))
        else:
            removed, inserted = "".join(old[run.old]), "".join(new[run.new])
            # The space that both begin with would be marked too.
            space = inserted[: len(inserted) - len(inserted.lstrip())]
            if space and removed.startswith(space) and inserted.strip() and removed.strip():
                found.append(Segment("same", space))
                removed, inserted = removed[len(space) :], inserted[len(space) :]
            if removed:
                found.append(Segment("removed", removed))
            if inserted:
                found.append(Segment("inserted", inserted))
    return found
