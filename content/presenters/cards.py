"""Changes as cards for review: differences, warnings and authors. No queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.change_comparison import compare_change, names_of
from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import Note, length_note, note_of, role_text, summarize
from content.comparison.references import MediaView, References
from content.comparison.risk import Risk, assess, flag_rank
from content.document.changes import ABSENT, Changes, Value
from content.document.differences import SEPARATOR, Comparison, Segment, ShownReference, Status
from content.document.document import ModuleDocument, PostDocument
from content.document.labels import POST_GROUP, label_of, module_names, prop_label
from content.inbox.judgement import Judgement
from content.layers import LayerView
from content.models import Layer
from content.post_checks.proposals import BrokenRule
from content.store.layer_state import Attribution, mark_of

_MIN_FOLDED: Final = 5
"""Number of consecutive unchanged blocks from which they are folded, except the blocks next to a change."""
_NOTES_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning on a card: `conflict` or `drift`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a change with its own decision. `name` is the name of its radio group."""

    name: str
    label: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a comparison for the template.

    `place` is empty if equal to that of the previous line; `notes` are notes outside of passages.
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
    def is_plain(self) -> bool:
        """True if it has only text and notes, which are rendered without a template."""
        return not (self.has_media or self.passages or self.more_notes)

    @property
    def has_media(self) -> bool:
        return self.media_before is not None or self.media_after is not None

    @property
    def has_two_images(self) -> bool:
        """True if two images can be overlaid."""
        return all(side and side.url for side in (self.media_before, self.media_after))

    @property
    def first_notes(self) -> tuple[Note, ...]:
        return self.notes[:_NOTES_SHOWN]

    @property
    def more_notes(self) -> tuple[Note, ...]:
        """Notes that are collapsed."""
        return self.notes[_NOTES_SHOWN:]


@dataclass(frozen=True, slots=True)
class DiffStretch:
    """Consecutive lines. `is_folded`: unchanged and not next to a change."""

    lines: tuple[ShownLine, ...]
    is_folded: bool


@dataclass(frozen=True, slots=True)
class ChangeCard:
    """One change to decide on. `path` is the name of its radio group."""

    path: str
    kind: str
    label: str
    comparison: Comparison
    lines: tuple[ShownLine, ...]
    risk: Risk
    summary: str = ""
    length: str = ""
    flags: tuple[Flag, ...] = ()
    mark: Attribution | None = None
    rules: tuple[BrokenRule, ...] = ()

    @property
    def stretches(self) -> list[DiffStretch]:
        return fold_lines(self.lines)

    @property
    def passages(self) -> list[Passage]:
        return [passage for line in self.lines for passage in line.passages]

    @property
    def is_flagged(self) -> bool:
        """True if the change is not safe."""
        return not self.risk.is_safe

    @property
    def flagged_by(self) -> str:
        """`hand` after a conflict or drift, `fact` for an unsafe change, else empty."""
        return "hand" if self.flags else "fact" if self.is_flagged else ""

    @property
    def short(self) -> str:
        """The label without the module's name."""
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


_NOT_JUDGED: Final[Mapping[str, Judgement]] = {}
_HEADINGS: Final[Mapping[str, Promise]] = {
    "added": gettext_lazy("New module: %(module)s"),
    "removed": gettext_lazy("Module removed: %(module)s"),
    "replaced": gettext_lazy("Module replaced: %(module)s"),
}


def cards_of_layer(
    view: LayerView,
    references: References,
    judgements: Mapping[str, Judgement] = _NOT_JUDGED,
    *,
    is_live: bool,
) -> list[CardGroup]:
    """Return the cards of a layer, with authors and warnings.

    A change without an entry in `judgements` is not safe. `is_live`: the post is published.
    """
    return cards_between(
        view.below,
        view.document,
        view.changes,
        references,
        view=view,
        judgements=judgements,
        is_live=is_live,
    )


def cards_between(
    before: PostDocument,
    after: PostDocument,
    changes: Changes,
    references: References,
    *,
    view: LayerView | None = None,
    judgements: Mapping[str, Judgement] = _NOT_JUDGED,
    is_live: bool = True,
) -> list[CardGroup]:
    """Return the cards of the changes between two documents; with `view`, they can be decided on.

    A change without a judgement is not safe.
    """
    names, label_of_prop = module_names(after, before), cache(prop_label)
    groups: dict[str, CardGroup] = {}
    for change in changes:
        module_id = change.module_id or ""
        module = after.module(module_id) or before.module(module_id)
        name = names.get(module_id, _("Module")) if module_id else str(POST_GROUP)
        group = groups.setdefault(
            module_id, CardGroup(name, is_locked=module is not None and module.locked)
        )
        is_there = not module_id or after.module(module_id) is not None
        label = label_of(change.path, after if is_there else before, names, label_of_prop)
        if isinstance(change.before, ModuleDocument) or isinstance(change.after, ModuleDocument):
            label = str(_HEADINGS[change.kind]) % {"module": label}
        found, kind = compare_change(change, before, after, references.shared)
        comparison = found.comparison
        passages = names_of(change, comparison, kind) if view is not None else {}
        mark = mark_of(view.marks, change.path) if view is not None else None
        judgement = judgements.get(change.path)
        annotated = comparison.with_findings(judgement.findings.found) if judgement else comparison
        risk = judgement and (judgement.live if is_live else judgement.draft)
        card = ChangeCard(
            change.path,
            change.kind,
            label,
            comparison,
            lines_of(annotated, references, path=change.path, passages=passages),
            risk or assess(comparison, is_live=is_live),
            summary=summarize(comparison),
            length=length_note(change.path, change.before, change.after),
            flags=_flags_of(view, mark, change.path) if view is not None else (),
            mark=mark,
            rules=judgement.rules if judgement else (),
        )
        group.cards.append(card)
    return list(groups.values())


def _flags_of(view: LayerView, mark: Attribution | None, path: str) -> tuple[Flag, ...]:
    flags = []
    if mark is not None and mark.conflict:
        text = _(
            "A person’s value for this is already waiting in Review. Reject it there first to "
            "submit this one."
        )
        flags.append(Flag("conflict", text))
    if path in view.drifted or (mark is not None and mark.drifted):
        if view.layer == Layer.AI_REVIEW:
            text = _(
                "The value in Review has changed since this was proposed. Accepting replaces the "
                "newer value, shown on the left."
            )
        else:
            text = _(
                "The live text has changed since this was proposed. Accepting replaces the newer "
                "value, shown on the left."
            )
        flags.append(Flag("drift", text))
    return tuple(flags)


def fold_lines(lines: Iterable[ShownLine]) -> list[DiffStretch]:
    """Return the lines with long unchanged runs folded, except the lines next to a change."""
    found: list[DiffStretch] = []
    for is_same, run in groupby(lines, lambda line: line.status == "same"):
        listed = tuple(run)
        if not is_same or len(listed) < _MIN_FOLDED:
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
    """Return a comparison as lines, with all differences as notes or in the text."""
    names = passages or {}
    grouped = comparison.by_passage() if names else {}
    listed_passages: set[int] = set()
    found: list[ShownLine] = []
    place = ""
    for line in comparison.lines:
        here = role_text(" › ".join(line.place))
        full = (*line.place, line.role) if line.role else line.place
        own: list[Passage] = []
        for number in line.passages:
            if number in names and number not in listed_passages:
                listed_passages.add(number)
                name = f"{path}{SEPARATOR}{names[number]}"
                notes = [note_of(one, references, here=full) for one in grouped[number]]
                notes.sort(key=_rank)
                own.append(Passage(name, notes[0].text if notes else name, tuple(notes)))
        sides = (line.differences[0].before, line.differences[0].after) if line.differences else ()
        media = [
            references.media.get(side.id)
            if isinstance(side, ShownReference) and side.kind == "media"
            else None
            for side in sides
        ]
        found.append(
            ShownLine(
                place=here if here != place else "",
                role=role_text(line.role),
                status=line.status,
                segments=line.segments,
                # Removed and added text is already shown in the segments.
                notes=tuple(
                    sorted(
                        (
                            note_of(one, references, here=full)
                            for one in line.differences
                            if one.passage not in names
                            and not (line.segments and one.kind == "text")
                        ),
                        key=_rank,
                    )
                ),
                passages=tuple(own),
                is_code=line.is_code,
                media_before=media[0] if media else None,
                media_after=media[1] if media else None,
            )
        )
        place = here
    return tuple(found)


def _rank(note: Note) -> int:
    """Return the sort key of a note, most harmful first."""
    return flag_rank(note.kind)


def lines_of_value(
    value: Value, shape: ValueShape, references: References
) -> tuple[ShownLine, ...]:
    """Return a single value as lines of a comparison."""
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
