"""Differences between values: alignment of sequences with bounded work, word diffs of texts, and lines to display.

Texts are plain. Templates escape them.
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
"""Maximum of equal pairs for the matcher. Above it the middle counts as replaced as a whole."""
MAX_STEPS: Final = 4_000_000
"""Maximum of the product of both lengths, the matcher's worst case."""
_LONG: Final = 600
"""Number of keys on both sides above which the matcher only runs between anchors. Its time is quadratic."""
_MAX_REPEATS: Final = 30
"""Number of occurrences above which a key cannot start a match. Repetitive texts would take minutes."""


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """Slices of both sides that belong together. If `is_same`, their keys are equal one by one."""

    is_same: bool
    old: slice
    new: slice


def align(old: Sequence[str], new: Sequence[str]) -> list[AlignedRun]:
    """Return runs that cover both sequences in order. Neighbouring runs differ in `is_same`."""
    # Most edits are local: strip the equal ends first, so that the matcher only gets the middle.
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    rest = least - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    middle = _align_middle(old[head : len(old) - tail], new[head : len(new) - tail])
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
        # The ends can touch equal runs of the middle.
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
    """Return the number of equal pairs that the matcher would compare."""
    ours, theirs = Counter(old), Counter(new)
    # Keys that occur more often are junk for the matcher and cost nothing.
    return sum(count * theirs[key] for key, count in ours.items() if theirs[key] <= _MAX_REPEATS)


_Block = tuple[bool, int, int, int, int]


def _align_middle(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    if not old or not new:
        return [(False, 0, len(old), 0, len(new))]
    if len(old) + len(new) > _LONG:
        anchors = _anchors(old, new)
        if anchors:
            # Align the stretches between the anchors one by one.
            found: list[_Block] = []
            a = c = 0
            for b, d in (*anchors, (len(old), len(new))):
                gone, come = old[a:b], new[c:d]
                if gone or come:
                    found += [
                        (same, e + a, f + a, g + c, h + c)
                        for same, e, f, g, h in _align_middle(gone, come)
                    ]
                if b < len(old):
                    found.append((True, b, b + 1, d, d + 1))
                a, c = b + 1, d + 1
            return found
    if alignment_cost(old, new) > MAX_PAIRS or len(old) * len(new) > MAX_STEPS:
        return [(False, 0, len(old), 0, len(new))]
    # `autojunk` would treat every frequent word of a long text as junk. Pass the junk keys explicitly instead.
    often = {key for key, count in Counter(new).items() if count > _MAX_REPEATS}
    matcher = SequenceMatcher(often.__contains__, old, new, autojunk=False)
    return [(tag == "equal", a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes()]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return increasing (old, new) positions of keys that occur once on each side (patience diff, O(n log n))."""
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

# A token includes the white space before it. Scripts without spaces are compared by character.
# The possessive `*+` avoids backtracking in long words.
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD: Final = rf"[[_{LETTER}]--[{_CJK}]][[_{IN_WORD}]--[{_CJK}]]*+"
TOKEN: Final = compile_pattern(
    rf"\s*(?:[{_CJK}][{MARK}{UNSEEN}]*+|{_WORD}(?:['’]{_WORD})*|(?!\s)\X)|\s+"
)
_MAX_UNFOLDED: Final = 900
_EDGE: Final = 240
"""Number of characters shown at each end of an unchanged stretch that is longer than `_MAX_UNFOLDED`."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the merged text."""

    kind: SegmentKind
    text: str

    @property
    def is_folded(self) -> bool:
        """True if the segment is unchanged and so long that its middle is collapsed."""
        return self.kind == "same" and len(self.text) > _MAX_UNFOLDED

    @property
    def head(self) -> str:
        # Cut at a space, so that no word is split.
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
    """Return one text with removed and inserted stretches, word by word. Equal texts give one `same` segment.

    The joined `same` and `inserted` segments are `after`; the joined `same` and `removed` segments are `before`.
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
            # Tokens start with their white space. Without this, an unchanged space would be marked as changed.
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
ReferenceKind = Literal["media", "post-reference", "taxonomy-reference", "form-reference", "people"]
Action = Literal["added", "removed", "changed"]
Status = Literal["same", "changed", "inserted", "removed"]


@dataclass(frozen=True, slots=True)
class ShownReference:
    """The id (for a form, the slug) of an object that a value refers to."""

    kind: ReferenceKind
    id: str


Side: TypeAlias = "str | ShownReference"
SEPARATOR: Final = "#"
"""Separator between the path of a change and the name of a passage."""


def base_path(path: str) -> str:
    """Return the path of a change without the name of a passage."""
    return path.partition(SEPARATOR)[0]


def canonical_json(value: object) -> str:
    """Return JSON text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def side_to_json(side: Side | None) -> Json:
    """Return a side as it is stored and hashed."""
    return [side.kind, side.id] if isinstance(side, ShownReference) else side


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference within a value.

    `place`: labels that lead from the path of the value to the difference. `before` and `after`: stored values,
    None if there is none. `about`: the text of a link, or the marked text. `passage`: number of the passage.
    `is_fact`: the difference names a fact of a text difference beside it. `is_default`: a new object has the
    default value of an option.
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
        """The difference without its place. Like differences have equal content."""
        return [self.kind, side_to_json(self.before), side_to_json(self.after), self.about]

    @property
    def action(self) -> Action:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A stretch of a value as displayed: its text with removals and insertions, and its differences.

    `role`: the kind of block, such as "Heading 2" or "List item 3".
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
    """All differences between two values in order, and the lines to display. Empty for equal values."""

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
        """Return the comparison with findings added to the lines with these numbers."""
        by_line: dict[int, list[Difference]] = {}
        for number, found in findings:
            by_line.setdefault(number, []).append(found)
        # Most comparisons have no findings: keep the same object.
        if not by_line:
            return self
        lines = (
            replace(line, differences=(*line.differences, *by_line.get(number, ())))
            for number, line in enumerate(self.lines)
        )
        return replace(self, lines=tuple(lines))

    def by_passage(self) -> dict[int, list[Difference]]:
        """Return the differences of each passage in order."""
        found: dict[int, list[Difference]] = {}
        for line in self.lines:
            for one in line.differences:
                found.setdefault(one.passage, []).append(one)
        return found


@dataclass(slots=True)
class Sink:
    """The collector of differences during a comparison of two values."""

    language: str
    lines: list[DiffLine] = field(default_factory=list)
    passage: int = 0
    count: int = 0

    def begin_passage(self) -> int:
        """Start a passage for the following differences and return its number."""
        self.passage += 1
        return self.passage

    def mark_defaults(self, since: int) -> None:
        """Set `is_default` on all differences in the lines from index `since` on."""
        for at, line in enumerate(self.lines[since:], since):
            found = tuple(replace(one, is_default=True) for one in line.differences)
            self.lines[at] = replace(line, differences=found)

    def merge_passages(self, since: int) -> None:
        """Merge all passages after number `since` into one."""
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
        """Add a line with one difference, in the current passage."""
        self.line(place, [Difference(kind, place, before, after, about, self.passage)])

    def done(self) -> Comparison:
        return Comparison(tuple(self.lines))
