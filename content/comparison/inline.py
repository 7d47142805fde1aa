"""The comparison of the words of two texts, with their marks, links, images and line breaks."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from content.comparison.characters import address_notes
from content.comparison.facts import ChangedText, FactFinder
from content.document.differences import (
    TOKEN,
    AlignedRun,
    Difference,
    DifferenceKind,
    Segment,
    Sink,
    align,
    canonical_json,
)
from proofroom.core.json import Json
from proofroom.definitions.richtext.nodes import (
    MARK_ORDER,
    SCRIPT_SIGNS,
    Node,
    attributes,
    kind,
    script_text,
    string,
)

_LEAST_ALIKE: Final = 0.2
"""Share of common text below which the complete old and new texts are easier to read than a mixture."""
_MAX_CRUMB: Final = 3
"""Maximum number of letters of an unchanged word between two changes that is displayed as part of them."""
_PASSAGE_GAP: Final = 3
"""Number of unchanged words that separate two passages."""
_NEAR_UNITS: Final = 4
_RECENT_DIFFERENCES: Final = 8
_MAX_NEAR_UNITS: Final = 60
"""Maximum number of units on each side of a change in text without spaces, such as an address."""
_SENTENCE_ENDS: Final = frozenset(".!?…。！？")
MARK_NAMES: Final = frozenset(MARK_ORDER) - {"link"}


@dataclass(frozen=True, slots=True)
class InlineUnit:
    """A word with the white space before it, or an image, a line break or similar (`atom`).

    `spans`: pairs of a number of characters and their marks as JSON.
    """

    space: str
    word: str
    spans: tuple[tuple[int, str], ...] = ()
    atom: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """The alignment key: the word, or the kind of atom."""
        return f"\0{self.name}" if self.atom else self.word

    @property
    def text(self) -> str:
        return self.space + self.word


Units: TypeAlias = Sequence[InlineUnit]
_Status = Literal["same", "removed", "inserted"]


@dataclass(frozen=True, slots=True)
class AlignedUnits:
    """Corresponding units of both sides. `passage` is 0 if they are equal."""

    old: Units
    new: Units
    passage: int


@dataclass(slots=True)
class InlineComparison:
    """The steps through both sides, with the text to display and the differences."""

    steps: list[AlignedUnits] = field(default_factory=list)
    drawn: list[tuple[_Status, list[str]]] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    @property
    def segments(self) -> list[Segment]:
        return [Segment(status, "".join(parts)) for status, parts in self.drawn]


def units_of_text(text: str) -> list[InlineUnit]:
    return _units([(text, "")])


def units_of(nodes: Iterable[Node]) -> list[InlineUnit]:
    """Return the units of the inline nodes of a block."""
    found: list[InlineUnit] = []
    texts: list[tuple[str, str]] = []
    for node in nodes:
        if kind(node) == "text" and isinstance(node.get("text"), str):
            texts.append((string(node["text"]), _marks_json(node)))
            continue
        found += _units(texts)
        texts = []
        bare = {name: value for name, value in node.items() if name != "marks"}
        found.append(
            InlineUnit("", "", ((1, _marks_json(node)),), canonical_json(bare), kind(node))
        )
    return found + _units(texts)


def nodes_of(units: Units) -> list[Json]:
    """Return the inline nodes of units. Neighbours with equal marks are joined."""
    texts: list[tuple[str, str]] = []
    found: list[Json] = []

    def flush() -> None:
        for text, marks in _join_equal_marks(texts):
            node: dict[str, Json] = {"type": "text", "text": text}
            found.append({**node, "marks": json.loads(marks)} if marks else node)
        texts.clear()

    for unit in units:
        if unit.atom:
            flush()
            marks = unit.spans[0][1]
            bare = json.loads(unit.atom)
            found.append({**bare, "marks": json.loads(marks)} if marks else bare)
        else:
            texts += _marked_texts([unit])
    flush()
    return found


def text_of_units(units: Units) -> str:
    return "".join(unit.text for unit in units if not unit.atom)


def shown_text(units: Units) -> str:
    """Return the text of units for readers, with signs for superscript and subscript."""
    # Without the signs, a superscript digit would look like a digit of the number before it.
    return "".join(_display_text(unit) for unit in units if not unit.atom)


def compare_inline(
    old: Units,
    new: Units,
    sink: Sink,
    place: tuple[str, ...],
    *,
    text_kind: DifferenceKind = "text",
) -> InlineComparison:
    """Return the differences between two sequences of units, at least one wherever units differ."""
    found = InlineComparison()
    _InlineComparer(old, new, sink, place, text_kind, found).compare()
    return found


def words_of_address(mark: Mapping[str, Json]) -> str:
    """Return the text for a link: its address, a non-ASCII host in ASCII, and its other attributes."""
    attrs = attributes(mark)
    href = string(attrs.get("href"))
    return " · ".join([href, *address_notes(href), *_attributes_text(attrs, {"href"})])


def words_of_image(node: Node) -> str:
    """Return the text for an image: its address, its alternative text even if empty, and its other attributes."""
    attrs = attributes(node)
    src, alt = string(attrs.get("src")), attrs.get("alt")
    alternative = f"alt: “{alt}”" if alt else "alt: –"
    rest = _attributes_text(attrs, {"src", "alt"})
    return " · ".join([src, *address_notes(src), alternative, *rest])


def _attributes_text(attrs: Mapping[str, Json], names: Collection[str]) -> list[str]:
    return [
        f"{name}: {value if isinstance(value, str) else canonical_json(value)}"
        for name, value in sorted(attrs.items())
        if name not in names and value is not None
    ]


@dataclass(slots=True)
class _InlineComparer:
    """The comparer of two sequences of units. It collects the differences in `found`."""

    old: Units
    new: Units
    sink: Sink
    place: tuple[str, ...]
    text_kind: DifferenceKind
    found: InlineComparison
    finder: FactFinder | None = None
    gap: int = _PASSAGE_GAP
    passage: int = 0
    marked: list[tuple[str, str, str]] = field(default_factory=list)
    """Unchanged words with changed marks: text, old marks, new marks."""

    def compare(self) -> None:
        for run in _align_units(self.old, self.new):
            if run.is_same:
                for one, other in zip(self.old[run.old], self.new[run.new], strict=True):
                    self.pair(one, other)
            else:
                self.replaced(run)
        self.end_marked()

    def pair(self, one: InlineUnit, other: InlineUnit) -> None:
        """Compare two units with the same key."""
        if one == other:
            self.end_marked()
            # The end of a sentence always ends a passage.
            self.gap = _PASSAGE_GAP if one.word in _SENTENCE_ENDS else self.gap + 1
            self.found.steps.append(AlignedUnits([one], [other], 0))
            self.draw("same", other)
            return
        self.change()
        self.found.steps.append(AlignedUnits([one], [other], self.passage))
        if one.atom:
            self.end_marked()
            self.atoms([one], [other])
            self.draw("removed", one)
            self.draw("inserted", other)
            return
        if one.space != other.space:
            self.end_marked()
            spacing: DifferenceKind = "code" if _has_code(one, other) else "space"
            self.add(spacing, one.space or None, other.space or None, about=one.word)
            self.draw_text("removed", one.space)
            self.draw_text("inserted", other.space)
            self.draw_text("same", other.word)
            self.mark(one.word, _word_spans(one), _word_spans(other))
            return
        self.draw("same", other)
        self.mark(one.text, one.spans, other.spans)

    def replaced(self, run: AlignedRun) -> None:
        """Compare removed units with the units that replace them."""
        self.end_marked()
        self.change()
        old, new = self.old[run.old], self.new[run.new]
        self.found.steps.append(AlignedUnits(old, new, self.passage))
        before, after = text_of_units(old), text_of_units(new)
        # White space at the start of both sides is not part of the change.
        lead = before[: len(before) - len(before.lstrip())]
        if not (after.startswith(lead) and before.strip() and after.strip()):
            lead = ""
        before, after = before[len(lead) :], after[len(lead) :]
        self.draw_text("same", lead)
        statuses: tuple[_Status, _Status] = ("removed", "inserted")
        for status, units in zip(statuses, (old, new), strict=True):
            # The common white space was drawn above.
            skipped = len(lead)
            for unit in units:
                if unit.atom:
                    self.draw(status, unit)
                    continue
                drawn = _display_text(unit)
                self.draw(status, unit, drawn[min(skipped, len(drawn)) :])
                skipped = max(0, skipped - len(drawn))
        if before != after:
            is_space = not before.strip() and not after.strip()
            of = "space" if is_space else self.text_kind
            # In code each sign counts.
            self.add("code" if _has_code(*old, *new) else of, before or None, after or None)
            self.facts(before, after, run)
        count = len(self.found.differences)
        self.atoms([unit for unit in old if unit.atom], [unit for unit in new if unit.atom])
        self.marks_of_replaced(old, new)
        if len(self.found.differences) == count and _order(old) != _order(new):
            # Equal words and images in another order.
            self.add("structure", *("".join(map(_display_text, units)) for units in (old, new)))

    def change(self) -> None:
        """Start a difference. It is in the previous passage unless `_PASSAGE_GAP` unchanged words lie between."""
        if self.gap >= _PASSAGE_GAP or not self.passage:
            self.passage = self.sink.begin_passage()
        self.gap = 0

    def add(
        self, of: DifferenceKind, before: str | None, after: str | None, *, about: str = ""
    ) -> None:
        self.found.differences.append(
            Difference(of, self.place, before, after, about, self.passage)
        )

    def draw(self, status: _Status, unit: InlineUnit, text: str | None = None) -> None:
        self.draw_text(status, text if text is not None else _display_text(unit))

    def draw_text(self, status: _Status, text: str) -> None:
        drawn = self.found.drawn
        if drawn and drawn[-1][0] == status:
            drawn[-1][1].append(text)
        elif text:
            drawn.append((status, [text]))

    def facts(self, before: str, after: str, run: AlignedRun) -> None:
        if self.text_kind != "text":
            return
        if self.finder is None:
            self.finder = FactFinder(
                text_of_units(self.old), text_of_units(self.new), self.sink.language
            )
        one = ChangedText(before, _surrounding_text(self.old, run.old))
        other = ChangedText(after, _surrounding_text(self.new, run.new))
        for fact in self.finder.find(one, other):
            difference = Difference(
                fact.kind, self.place, fact.before, fact.after, "", self.passage, is_fact=True
            )
            # Two neighbouring stretches can belong to one date.
            recent = [
                (one.kind, one.before, one.after)
                for one in self.found.differences[-_RECENT_DIFFERENCES:]
            ]
            if (fact.kind, fact.before, fact.after) not in recent:
                self.found.differences.append(difference)

    def atoms(self, old: Units, new: Units) -> None:
        """Compare images and other atoms in pairs by kind, in order."""
        for name in dict.fromkeys(unit.name for unit in (*old, *new)):
            pairs = zip_longest(
                (unit for unit in old if unit.name == name),
                (unit for unit in new if unit.name == name),
            )
            for one, other in pairs:
                atoms = [unit.atom if unit else None for unit in (one, other)]
                if atoms[0] != atoms[1]:
                    sides = [_atom_text(unit) if unit else None for unit in (one, other)]
                    of: DifferenceKind = "image" if name == "image" else "structure"
                    # Different nodes can have the same display text. Then show the stored nodes.
                    self.add(of, *(sides if sides[0] != sides[1] else atoms))
                marks = [unit.spans[0][1] if unit else "" for unit in (one, other)]
                self.mark_differences("", *marks)

    def marks_of_replaced(self, old: Units, new: Units) -> None:
        """Add the differing links and marks of replaced words.

        Adds none if both sides have the same single set of marks.
        """
        ours, theirs = (_join_equal_marks(_marked_texts(units)) for units in (old, new))
        if len({marks for _, marks in (*ours, *theirs)}) <= 1 and ours and theirs:
            return
        links = [
            [(text, link) for text, marks in side if (link := _link_text(marks))]
            for side in (ours, theirs)
        ]
        for one, other in zip_longest(*links):
            before, after = one[1] if one else None, other[1] if other else None
            about = (other or one)[0].strip()
            if before == after and one and other:
                before, after = (f"“{side[0].strip()}” {side[1]}" for side in (one, other))
            if before != after:
                self.add("link", before, after, about=about)
        for text, marks in ours:
            for name in _mark_names(marks) if text.strip() else ():
                self.add("mark", name, None, about=text.strip())
        for text, marks in theirs:
            for name in _mark_names(marks) if text.strip() else ():
                self.add("mark", None, name, about=text.strip())

    def mark(
        self, text: str, old: tuple[tuple[int, str], ...], new: tuple[tuple[int, str], ...]
    ) -> None:
        """Record a change of the marks of an unchanged word, split by character where the marks differ."""
        at = 0
        ours, theirs = _marks_by_character(old), _marks_by_character(new)
        # A mark can start or end inside a word, so group the characters with equal changes.
        while at < len(text):
            end = at + 1
            while end < len(text) and (ours[end], theirs[end]) == (ours[at], theirs[at]):
                end += 1
            here = (text[at:end], ours[at], theirs[at])
            if self.marked and self.marked[-1][1:] == here[1:]:
                self.marked[-1] = (self.marked[-1][0] + here[0], *here[1:])
            else:
                self.marked.append(here)
            at = end

    def end_marked(self) -> None:
        """Add the recorded changes of marks as differences, joined over neighbouring words."""
        for text, before, after in self.marked:
            if before != after:
                self.mark_differences(text.strip() or text, before, after)
        self.marked.clear()

    def mark_differences(self, about: str, before: str, after: str) -> None:
        if before == after:
            return
        count = len(self.found.differences)
        one, other = _link_text(before), _link_text(after)
        if one != other:
            self.add("link", one, other, about=about)
        old, new = _mark_names(before), _mark_names(after)
        for name in dict.fromkeys((*old, *new)):
            if (name in old) != (name in new):
                self.add(
                    "mark",
                    name if name in old else None,
                    name if name in new else None,
                    about=about,
                )
            # A digit that becomes an exponent changes the number.
            if name in SCRIPT_SIGNS and any(char.isdigit() for char in about):
                sides = (SCRIPT_SIGNS[name] + about, about)
                self.add("number", *(sides if name in old else reversed(sides)))
        if len(self.found.differences) == count:
            self.add("structure", before or "[]", after or "[]", about=about)


def _align_units(old: Units, new: Units) -> list[AlignedRun]:
    """Align units by word, or return one run for sides with almost no common text."""
    if not old and not new:
        return []
    runs = align([unit.key for unit in old], [unit.key for unit in new])
    common = sum(len(unit.text) for run in runs if run.is_same for unit in old[run.old])
    least = min(len(text_of_units(old)), len(text_of_units(new)))
    if common < _LEAST_ALIKE * least:
        return [AlignedRun(False, slice(0, len(old)), slice(0, len(new)))]
    # Join two changes with only one short unchanged word between them.
    found: list[AlignedRun] = []
    for number, run in enumerate(runs):
        is_same = run.is_same
        if is_same and 0 < number < len(runs) - 1 and run.new.stop - run.new.start == 1:
            word = new[run.new.start]
            # Names and figures stay visible as unchanged, however short.
            is_same = bool(word.atom) or len(word.word) > _MAX_CRUMB or not word.word.islower()
        if found and not is_same and not found[-1].is_same:
            last = found[-1]
            found[-1] = AlignedRun(
                False, slice(last.old.start, run.old.stop), slice(last.new.start, run.new.stop)
            )
        else:
            found.append(AlignedRun(is_same, run.old, run.new))
    return found


def _units(texts: Sequence[tuple[str, str]]) -> list[InlineUnit]:
    """Split adjacent texts into words. Marks may start and end within a word."""
    whole = "".join(text for text, _ in texts)
    bounds = iter(_join_equal_marks(texts))
    left, marks = 0, ""
    found: list[InlineUnit] = []
    for match in TOKEN.finditer(whole):
        spans: list[tuple[int, str]] = []
        need = len(match[0])
        while need:
            if not left:
                text, marks = next(bounds)
                left = len(text)
                continue
            take = min(left, need)
            spans.append((take, marks))
            left, need = left - take, need - take
        word = match[0].lstrip()
        found.append(InlineUnit(match[0][: len(match[0]) - len(word)], word, tuple(spans)))
    return found


def _marked_texts(units: Units) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for unit in units:
        at = 0
        for length, marks in () if unit.atom else unit.spans:
            found.append((unit.text[at : at + length], marks))
            at += length
    return found


def _join_equal_marks(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for text, marks in texts:
        if not text:
            continue
        if found and found[-1][1] == marks:
            found[-1] = (found[-1][0] + text, marks)
        else:
            found.append((text, marks))
    return found


def _marks_by_character(spans: Sequence[tuple[int, str]]) -> list[str]:
    return [marks for length, marks in spans for _ in range(length)]


def _word_spans(unit: InlineUnit) -> tuple[tuple[int, str], ...]:
    """Return the spans of the word without the space before it."""
    return tuple((1, marks) for marks in _marks_by_character(unit.spans)[len(unit.space) :])


def _has_code(*units: InlineUnit) -> bool:
    return any("code" in _mark_names(marks) for unit in units for _, marks in unit.spans if marks)


def _order(units: Units) -> list[str]:
    """Return the order of atoms among the words, empty if there are no atoms."""
    return [unit.key for unit in units] if any(unit.atom for unit in units) else []


def _surrounding_text(units: Units, run: slice) -> str:
    """Return the stretch with a few words around it, never splitting text without spaces."""
    start, stop = max(0, run.start - _NEAR_UNITS), min(len(units), run.stop + _NEAR_UNITS)
    while start and not units[start].space and run.start - start < _MAX_NEAR_UNITS:
        start -= 1
    while stop < len(units) and not units[stop].space and stop - run.stop < _MAX_NEAR_UNITS:
        stop += 1
    return text_of_units(units[start:stop])


def _display_text(unit: InlineUnit) -> str:
    if not unit.atom:
        return "".join(_script(text, marks) for text, marks in _marked_texts([unit]))
    if unit.name == "hardBreak":
        return "↵\n"
    alt = attributes(json.loads(unit.atom)).get("alt")
    return f"[{unit.name}: {alt}]" if isinstance(alt, str) and alt else f"[{unit.name}]"


def _script(text: str, marks: str) -> str:
    for name in _mark_names(marks) if "script" in marks else ():
        text = script_text(text, name)
    return text


def _atom_text(unit: InlineUnit) -> str:
    node = json.loads(unit.atom)
    if unit.name == "image":
        return words_of_image(node)
    return "↵" if unit.name == "hardBreak" and len(node) == 1 else unit.atom


def _marks_json(node: Node) -> str:
    marks = node.get("marks")
    return canonical_json(marks) if marks else ""


def _marks(marks: str) -> list[Node]:
    found = json.loads(marks) if marks else []
    return [mark for mark in found if isinstance(mark, Mapping)] if isinstance(found, list) else []


def _link_text(marks: str) -> str | None:
    if '"link"' not in marks:
        return None
    links = [words_of_address(mark) for mark in _marks(marks) if kind(mark) == "link"]
    return " · ".join(links) if links else None


def _mark_names(marks: str) -> list[str]:
    """Return the names of marks except links. Marks with attributes or unknown names are returned as JSON."""
    return [
        kind(mark) if kind(mark) in MARK_NAMES and len(mark) == 1 else canonical_json(mark)
        for mark in _marks(marks)
        if kind(mark) != "link"
    ]
