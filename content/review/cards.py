"""Changes as cards: what changes, in which words, what to look at, who proposed it. Pure: no queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.changes import ABSENT, Change, Changes, Value
from content.document import ModuleDocument, PostDocument
from content.layers import LayerView
from content.layers.state import Mark, Marks, mark_of
from content.review.change_comparison import compare_change, names_of
from content.review.comparison import ValueShape, compare
from content.review.diff import Segment
from content.review.difference_text import Note, note_of, role_text
from content.review.differences import (
    SEPARATOR,
    Comparison,
    Difference,
    DiffLine,
    ShownReference,
    Status,
)
from content.review.labels import POST_GROUP, label_of, module_names
from content.review.references import MediaView, References
from content.review.risk import Risk, assess
from content.review.summary import length_note, summarize

_FOLDED: Final = 5
"""Unchanged blocks in a row that are folded, but for the one beside each change."""
_NOTES_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning on a card: `conflict` or `drift`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a change that is decided on by itself; `name` is that of its radio group."""

    name: str
    label: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as it is drawn.

    `place` is empty where it is that of the line before; `notes` are those outside of passages.
    """

    place: str
    role: str
    status: Status
    segments: tuple[Segment, ...]
    notes: tuple[Note, ...]
    passages: tuple[Passage, ...]
    is_code: bool
    media_before: MediaView | None = None
    media_after: MediaView | None = None

    @property
    def has_media(self) -> bool:
        return self.media_before is not None or self.media_after is not None

    @property
    def has_two_images(self) -> bool:
        """Whether one picture can be laid over the other."""
        return all(side and side.url for side in (self.media_before, self.media_after))

    @property
    def first_notes(self) -> tuple[Note, ...]:
        return self.notes[:_NOTES_SHOWN]

    @property
    def more_notes(self) -> tuple[Note, ...]:
        """Those that are folded where there are many: closed, but there."""
        return self.notes[_NOTES_SHOWN:]


@dataclass(frozen=True, slots=True)
class DiffStretch:
    """Lines that follow one another; `is_folded` where they are unchanged and far from what changed."""

    lines: tuple[ShownLine, ...]
    is_folded: bool


@dataclass(frozen=True, slots=True)
class ChangeCard:
    """One change to decide on; `path` names its radio group."""

    path: str
    kind: str
    label: str
    comparison: Comparison
    lines: tuple[ShownLine, ...]
    risk: Risk
    summary: str = ""
    length: str = ""
    flags: tuple[Flag, ...] = ()
    mark: Mark | None = None

    @property
    def stretches(self) -> list[DiffStretch]:
        return fold_lines(self.lines)

    @property
    def passages(self) -> list[Passage]:
        return [passage for line in self.lines for passage in line.passages]

    @property
    def is_flagged(self) -> bool:
        """Whether a careful reader looks twice."""
        return not self.risk.is_safe

    @property
    def flagged_by(self) -> str:
        """`hand` where somebody else was here too, `fact` where what it says changed, else empty."""
        return "hand" if self.flags else "fact" if self.is_flagged else ""

    @property
    def short(self) -> str:
        """The label without the module's name, for a list below that name."""
        return self.label.rpartition(" › ")[2]

    @property
    def is_in_module(self) -> bool:
        return self.path.startswith("modules.")

    @property
    def module_id(self) -> str:
        return self.path.split(".", 2)[1] if self.is_in_module else ""


@dataclass(slots=True)
class CardGroup:
    """The cards of the post's fields, or of one module."""

    name: str
    cards: list[ChangeCard] = field(default_factory=list)
    is_locked: bool = False


@dataclass(frozen=True, slots=True)
class _Between:
    """The data that all cards of a list share."""

    before: PostDocument
    after: PostDocument
    names: Mapping[str, str]
    references: References
    marks: Marks
    drifted: frozenset[str]
    layer: str
    is_live: bool


def cards_of_layer(view: LayerView, references: References, *, is_live: bool) -> list[CardGroup]:
    """The cards of a layer, with who wrote each and what moved below it. `is_live` where the post is published."""
    names = module_names(view.document, view.below)
    shared = _Between(
        view.below,
        view.document,
        names,
        references,
        view.marks,
        view.drifted,
        view.layer,
        is_live,
    )
    return _grouped(view.changes, shared)


def cards_between(
    before: PostDocument, after: PostDocument, changes: Changes, references: References
) -> list[CardGroup]:
    """The cards that lead from one document to another."""
    names = module_names(after, before)
    return _grouped(
        changes, _Between(before, after, names, references, {}, frozenset(), "", is_live=True)
    )


def fold_lines(lines: Iterable[ShownLine]) -> list[DiffStretch]:
    """The lines with long unchanged runs folded, but for the one beside each change."""
    found: list[DiffStretch] = []
    for is_same, run in groupby(lines, lambda line: line.status == "same"):
        listed = tuple(run)
        if not is_same or len(listed) < _FOLDED:
            found.append(DiffStretch(listed, is_folded=False))
            continue
        found += [
            DiffStretch(listed[:1], is_folded=False),
            DiffStretch(listed[1:-1], is_folded=True),
            DiffStretch(listed[-1:], is_folded=False),
        ]
    return found


def lines_of(
    comparison: Comparison,
    references: References,
    *,
    path: str = "",
    passages: Mapping[int, str] | None = None,
) -> tuple[ShownLine, ...]:
    """A comparison as it is drawn, every difference of it in words or in the text."""
    named = passages or {}
    grouped = comparison.by_passage() if named else {}
    shown: set[int] = set()
    found: list[ShownLine] = []
    place = ""
    for line in comparison.lines:
        own = [number for number in line.passages if number in named and number not in shown]
        shown |= set(own)
        here = role_text(" › ".join(line.place))
        found.append(
            _line(line, here if here != place else "", grouped, references, path, named, own)
        )
        place = here
    return tuple(found)


def lines_of_value(
    value: Value, shape: ValueShape, references: References
) -> tuple[ShownLine, ...]:
    """A value as it stands, drawn as a comparison is."""
    drawn = lines_of(compare(ABSENT, value, shape), references)
    return tuple(
        replace(
            line,
            status="same",
            segments=tuple(Segment("same", part.text) for part in line.segments),
            notes=() if line.segments or line.has_media else line.notes,
        )
        for line in drawn
    )


def _line(
    line: DiffLine,
    place: str,
    grouped: Mapping[int, Sequence[Difference]],
    references: References,
    path: str,
    named: Mapping[int, str],
    own: Iterable[int],
) -> ShownLine:
    one = line.differences[0] if line.differences else None
    before, after = (
        references.media.get(side.id)
        if isinstance(side, ShownReference) and side.kind == "media"
        else None
        for side in ((one.before, one.after) if one is not None else (None, None))
    )
    drawn = bool(line.segments)
    full = (*line.place, line.role) if line.role else line.place
    return ShownLine(
        place=place,
        role=role_text(line.role),
        status=line.status,
        segments=line.segments,
        notes=tuple(
            note_of(difference, references, here=full)
            for difference in line.differences
            if difference.passage not in named and not (drawn and difference.kind == "text")
        ),
        passages=tuple(
            _passage(f"{path}{SEPARATOR}{named[number]}", grouped[number], references, full)
            for number in own
        ),
        is_code=line.is_code,
        media_before=before,
        media_after=after,
    )


def _passage(
    name: str,
    differences: Sequence[Difference],
    references: References,
    here: tuple[str, ...],
) -> Passage:
    notes = [note_of(one, references, here=here) for one in differences]
    label = notes[0].text if notes else name
    return Passage(name, label, tuple(notes))


def _grouped(changes: Iterable[Change], shared: _Between) -> list[CardGroup]:
    groups: dict[str, CardGroup] = {}
    for change in changes:
        module_id = change.module_id
        name = shared.names.get(module_id, _("Module")) if module_id else str(POST_GROUP)
        module = (
            (shared.after.module(module_id) or shared.before.module(module_id))
            if module_id
            else None
        )
        group = groups.setdefault(
            module_id or "", CardGroup(name, is_locked=bool(module and module.locked))
        )
        group.cards.append(_card(change, shared))
    return list(groups.values())


def _card(change: Change, shared: _Between) -> ChangeCard:
    is_there = change.module_id is None or shared.after.module(change.module_id) is not None
    where = shared.after if is_there else shared.before
    label = label_of(change.path, where, shared.names)
    if isinstance(change.before, ModuleDocument) or isinstance(change.after, ModuleDocument):
        label = str(_HEADINGS[change.kind]) % {"module": label}
    found, kind = compare_change(change, shared.before, shared.after, shared.references.shared)
    comparison = found.comparison
    mark = mark_of(shared.marks, change.path)
    is_drifted = change.path in shared.drifted
    passages = names_of(change, comparison, kind) if shared.layer else {}
    return ChangeCard(
        change.path,
        change.kind,
        label,
        comparison,
        lines_of(comparison, shared.references, path=change.path, passages=passages),
        assess(comparison, is_live=shared.is_live, mark=mark, is_drifted=is_drifted),
        summary=summarize(comparison),
        length=length_note(change.path, change.before, change.after),
        flags=tuple(_flags(mark, is_drifted, shared.layer)),
        mark=mark,
    )


_HEADINGS: Final[Mapping[str, Promise]] = {
    "added": gettext_lazy("New module: %(module)s"),
    "removed": gettext_lazy("Module removed: %(module)s"),
    "replaced": gettext_lazy("Module replaced: %(module)s"),
}


def _flags(mark: Mark | None, is_drifted: bool, layer: str) -> list[Flag]:
    flags = []
    if mark is not None and mark.conflict:
        text = _(
            "A person staged another value here in Review. That one stays unless you reject it there; "
            "this one waits."
        )
        flags.append(Flag("conflict", text))
    if is_drifted or (mark is not None and mark.drifted):
        flags.append(Flag("drift", _drift(layer)))
    return flags


def _drift(layer: str) -> str:
    if layer == "ai-review":
        return _(
            "Since this was proposed, Review changed here too. Accepting replaces that newer value; "
            "the left side below is what stands now."
        )
    return _(
        "Since this was proposed, the live text changed here too. Accepting replaces that newer value; "
        "the left side below is what stands now."
    )
