"""Differences: sequences aligned with bounded work, texts word by word, and the lines in which differences stand.

Never markup: whoever shows a text escapes it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias, get_args

from proofroom.core.i18n.words import IN_WORD, LETTER, MARK, UNSEEN, compile_pattern
from proofroom.core.json import Json

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
_WORD: Final = rf"[[_{LETTER}]--[{_CJK}]][[_{IN_WORD}]--[{_CJK}]]*+"
TOKEN: Final = compile_pattern(
    rf"\s*(?:[{_CJK}][{MARK}{UNSEEN}]*+|{_WORD}(?:['’]{_WORD})*|(?!\s)\X)|\s+"
)
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


DifferenceKind = Literal[
    "text", "link", "image", "embed", "reference", "mark", "structure", "space", "number", "price",
    "date", "negation", "name", "choice", "boolean", "characters", "slug", "seo", "structured-data",
    "module", "position", "code", "host", "modality", "opposite", "number-word", "quantity", "claim",
    "new-text", "rewording", "moved", "length", "language", "ungrounded",
    "source-mismatch",
]  # fmt: skip
KINDS: Final[tuple[DifferenceKind, ...]] = get_args(DifferenceKind)
ReferenceKind = Literal["media", "post-reference", "taxonomy-reference", "form-reference"]
Action = Literal["added", "removed", "changed"]
Status = Literal["same", "changed", "inserted", "removed"]


@dataclass(frozen=True, slots=True)
class ShownReference:
    """The id (the slug, of a form) of something that a value refers to."""

    kind: ReferenceKind
    id: str


Side: TypeAlias = "str | ShownReference"
SEPARATOR: Final = "#"
"""Between the path of a change and the name of a passage of it."""


def base_path(path: str) -> str:
    """The path of the change that a path speaks of, whether it names a passage or not."""
    return path.partition(SEPARATOR)[0]


def canonical_json(value: object) -> str:
    """A value as JSON, equal values as equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def side_to_json(side: Side | None) -> Json:
    """A side as it is stored and hashed."""
    return [side.kind, side.id] if isinstance(side, ShownReference) else side


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs.

    `place` leads to it from the value's own path, in words. `before` and `after` are what stands there, as it is
    stored; None where nothing does. `about` are the words that carry it: the text of a link, what is bold. `passage`
    is the number of the passage that it belongs to. `is_fact` where it says what a text beside it holds. `is_default`
    where something new has just the option that it begins with.
    """

    kind: DifferenceKind
    place: tuple[str, ...]
    before: Side | None
    after: Side | None
    about: str = ""
    passage: int = 0
    is_fact: bool = False
    is_default: bool = False

    @property
    def content(self) -> list[Json]:
        """What differs, wherever it is: like differences have equal ones."""
        return [self.kind, side_to_json(self.before), side_to_json(self.after), self.about]

    @property
    def action(self) -> Action:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A stretch of a value as it is drawn: its text with what goes and comes, and the differences in it.

    `role` is what kind of block it is: "Heading 2", "List item 3".
    """

    place: tuple[str, ...]
    role: str
    status: Status
    segments: tuple[Segment, ...]
    differences: tuple[Difference, ...] = ()
    is_code: bool = False

    @property
    def passages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(found.passage for found in self.differences))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that differs between two values, in order, and how it is drawn. Empty for equal values."""

    lines: tuple[DiffLine, ...] = ()
    words_before: int = 0
    words_after: int = 0

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(found for line in self.lines for found in line.differences)

    @property
    def passages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(found.passage for found in self.differences))

    def with_findings(self, findings: Iterable[tuple[int, Difference]]) -> Comparison:
        """Return the comparison with what a judgement found added to its lines, by their numbers."""
        by_line: dict[int, list[Difference]] = {}
        for number, found in findings:
            by_line.setdefault(number, []).append(found)
        if not by_line:
            return self
        lines = (
            replace(line, differences=(*line.differences, *by_line.get(number, ())))
            for number, line in enumerate(self.lines)
        )
        return replace(self, lines=tuple(lines))

    def by_passage(self) -> dict[int, list[Difference]]:
        """The differences of each passage, in order."""
        found: dict[int, list[Difference]] = {}
        for line in self.lines:
            for one in line.differences:
                found.setdefault(one.passage, []).append(one)
        return found


@dataclass(slots=True)
class Sink:
    """Collects the differences while a comparison goes through two values."""

    language: str
    lines: list[DiffLine] = field(default_factory=list)
    passage: int = 0
    count: int = 0

    def begin_passage(self) -> int:
        """Return what is found from now on can be decided on by itself."""
        self.passage += 1
        return self.passage

    def mark_defaults(self, since: int) -> None:
        """Say of all that was found in the lines after so many that it is what new things begin with."""
        for at, line in enumerate(self.lines[since:], since):
            found = tuple(replace(one, is_default=True) for one in line.differences)
            self.lines[at] = replace(line, differences=found)

    def merge_passages(self, since: int) -> None:
        """Make one passage of all that were begun after this one."""
        first = since + 1
        for at, line in enumerate(self.lines):
            if any(found.passage > first for found in line.differences):
                merged = tuple(
                    replace(found, passage=min(found.passage, first)) for found in line.differences
                )
                self.lines[at] = replace(line, differences=merged)

    def line(
        self,
        place: tuple[str, ...],
        differences: Iterable[Difference],
        *,
        role: str = "",
        status: Status = "changed",
        segments: Iterable[Segment] = (),
        is_code: bool = False,
    ) -> None:
        found = tuple(differences)
        self.count += len(found)
        self.lines.append(DiffLine(place, role, status, tuple(segments), found, is_code))

    def one(
        self,
        kind: DifferenceKind,
        place: tuple[str, ...],
        before: Side | None,
        after: Side | None,
        about: str = "",
    ) -> None:
        """A line that is one difference and nothing else, in the passage that was begun last."""
        self.line(place, [Difference(kind, place, before, after, about, self.passage)])

    def done(self) -> Comparison:
        return Comparison(tuple(self.lines))
