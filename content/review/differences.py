"""The result of a comparison: differences, each with its place, and the lines of text in which they stand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from content.review.diff import Segment
from proofroom.core.json import Json

DifferenceKind = Literal[
    "text", "link", "image", "embed", "reference", "mark", "structure", "space", "number", "price",
    "date", "negation", "name", "choice", "boolean", "characters", "slug", "seo", "structured-data",
    "module", "position", "code",
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
