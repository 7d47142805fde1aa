"""The comparison of two values, used by everything that displays, sorts, flags or applies a change.

Two values that differ (`content.document.changes.same`) have at least one difference, equal ones have none. Labels
are English here. `content.comparison.difference_text` translates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Final, cast

from content.comparison.characters import find_look_alikes, find_suspicious
from content.comparison.inline import compare_inline, units_of_text
from content.comparison.merge_tree import InlinePart, MergedList, MergePart, RecordPart, passages_of
from content.comparison.richtext_comparison import compare_documents, is_document
from content.document.changes import ABSENT, Value, same
from content.document.differences import (
    Comparison,
    Difference,
    DifferenceKind,
    ReferenceKind,
    ShownReference,
    Side,
    Sink,
    align,
    canonical_json,
)
from content.document.document import ModuleDocument
from proofroom.core.json import Json
from proofroom.definitions import ModuleProps, modules, props_of
from proofroom.definitions.props import Prop, words_of
from proofroom.definitions.richtext.nodes import gathered
from proofroom.definitions.richtext.schema import EMPTY

Place = tuple[str, ...]
_TEXTS: Final = frozenset({"text", "textarea"})
_REFERENCES: Final[Mapping[str, ReferenceKind]] = {
    "media": "media",
    "post-reference": "post-reference",
    "taxonomy-reference": "taxonomy-reference",
    "form-reference": "form-reference",
}
_SCALARS: Final[Mapping[str, DifferenceKind]] = {
    "link": "link",
    "url": "link",
    "embed": "embed",
    "select": "choice",
    "icon": "choice",
    "boolean": "boolean",
    "number": "number",
    "date": "date",
    "moment": "date",
    "slug": "slug",
    "canonical": "seo",
}
_OBJECTS: Final[Mapping[str, DifferenceKind]] = {
    "robots": "seo",
    "structured-data": "structured-data",
}
DIVISIBLE: Final = frozenset({"richtext", "textarea", "repeater", "object"})
"""Kinds of fields whose passages are decided one by one."""
_EMPTY_DOCUMENT: Final[Mapping[str, Json]] = {"type": "doc", "content": []}
_MAX_DEPTH: Final = 40
_MAX_CACHED_LENGTH: Final = 1_000
"""Maximum total number of characters of two texts for caching their comparison."""


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The kind of a field, and the class of its nested objects."""

    kind: str
    nested: type[ModuleProps] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, with the tree to apply chosen passages."""

    comparison: Comparison
    part: MergePart


def compare(before: Value, after: Value, shape: ValueShape, *, language: str = "en") -> Comparison:
    """Return all differences between two values of a field. `language`: language of the text."""
    return compare_labelled(before, after, shape, language=language).comparison


def compare_labelled(
    before: Value, after: Value, shape: ValueShape, *, language: str = "en"
) -> Compared:
    """Return the comparison with the tree to apply chosen passages."""
    if (
        isinstance(before, str)
        and isinstance(after, str)
        and len(before) + len(after) < _MAX_CACHED_LENGTH
    ):
        return _compare_texts(before, after, shape, language)
    return _compare(before, after, shape, language)


@lru_cache(maxsize=512)
def _compare_texts(before: str, after: str, shape: ValueShape, language: str) -> Compared:
    # Cached, because a reviewer loads the same page again after each decision.
    return _compare(before, after, shape, language)


def _compare(before: Value, after: Value, shape: ValueShape, language: str) -> Compared:
    sink = Sink(language)
    part = _ValueComparer(sink).compare(before, after, shape, (), 0)
    found = _with_characters(sink.done(), language)
    counts = [_word_count(value, shape) for value in (before, after)]
    return Compared(replace(found, words_before=counts[0], words_after=counts[1]), part)


def _word_count(value: Value, shape: ValueShape) -> int:
    """Return the number of words of the texts in a value, 0 if it has none."""
    if shape.kind in _TEXTS and isinstance(value, str):
        return len(value.split())
    if shape.kind == "richtext" and is_document(value):
        return len(gathered(cast("Mapping[str, Json]", value)).split())
    if shape.nested is not None and isinstance(value, Mapping | list):
        items = value if isinstance(value, list) else [value]
        return sum(len(text.split()) for item in items for text in words_of(shape.nested, item))
    return 0


def compare_modules(
    before: ModuleDocument | None, after: ModuleDocument | None, *, language: str = "en"
) -> Comparison:
    """Return everything in an added or removed module, or all differences between a module and its replacement."""
    sink = Sink(language)
    comparer = _ValueComparer(sink)
    sink.begin_passage()
    sides = [
        definition.label if (definition := modules.get(side.type)) else side.type
        for side in (before, after)
        if side is not None
    ]
    if before is None or after is None:
        sink.one("module", (), sides[0] if before else None, sides[0] if after else None)
    else:
        sink.one("module", (), _identity(before), _identity(after))
    one, other = _props(before), _props(after)
    newest = after or before
    is_embed = newest is not None and newest.type == "embed"
    definition = modules.get(after.type) if after is not None else None
    defaults = definition.default_props() if definition else {}
    for name in dict.fromkeys((*one, *other)):
        prop = _find_prop(before, after, name)
        label = prop.label if prop else name
        shape = ValueShape(prop.kind, prop.nested) if prop else ValueShape("json")
        if shape.kind == "url" and is_embed:
            shape = replace(shape, kind="embed")
        was, now = one.get(name, ABSENT), other.get(name, ABSENT)
        if (
            # Blank props of an added or removed module are not worth a line.
            not same(was, now)
            and not (was is ABSENT and _is_blank(now))
            and not (now is ABSENT and _is_blank(was))
        ):
            lines_before = len(sink.lines)
            comparer.compare(was, now, shape, (label,), 1)
            if before is None and name in defaults and same(defaults[name], now):
                sink.mark_defaults(lines_before)
    for of in (before, after):
        is_gone = of is before
        if of is not None and of.scope == "global":
            slug_text = f"shared: {of.global_slug}"
            sink.one(
                "reference", (), slug_text if is_gone else None, None if is_gone else slug_text
            )
        if of is not None and of.locked:
            sink.one("structure", (), "locked" if is_gone else None, None if is_gone else "locked")
    found = _with_characters(sink.done(), language)
    counts = [_words_in(module) for module in (before, after)]
    return replace(found, words_before=counts[0], words_after=counts[1])


def _words_in(module: ModuleDocument | None) -> int:
    if module is None:
        return 0
    definition = modules.get(module.type)
    texts = words_of(definition.Props if definition else None, _props(module))
    return sum(len(text.split()) for text in texts)


def _identity(module: ModuleDocument) -> str:
    return canonical_json(module.identity)


def _props(module: ModuleDocument | None) -> dict[str, Json]:
    return {**module.props, **module.overrides} if module is not None else {}


def _find_prop(
    before: ModuleDocument | None, after: ModuleDocument | None, name: str
) -> Prop | None:
    for side in (after, before):
        definition = modules.get(side.type) if side is not None else None
        if definition is not None and (found := props_of(definition.Props).get(name)):
            return found
    return None


@dataclass(slots=True)
class _ValueComparer:
    """The comparer of two values of a field. It adds the differences to `sink`."""

    sink: Sink

    def compare(
        self, before: Value, after: Value, shape: ValueShape, place: Place, depth: int
    ) -> MergePart:
        """Return the merge part of two values. If they differ, at least one difference is added to `sink`."""
        if same(before, after):
            return MergePart(before, after)
        count = self.sink.count
        part = self.by_kind(before, after, shape, place, depth)
        if self.sink.count == count:
            # No visible difference: report the stored values, so that no change goes unnoticed.
            passage = self.sink.begin_passage()
            self.sink.one("structure", place, _json_text(before), _json_text(after))
            return MergePart(before, after, frozenset({passage}))
        return part

    def by_kind(
        self, before: Value, after: Value, shape: ValueShape, place: Place, depth: int
    ) -> MergePart:
        kind, nested = shape.kind, shape.nested
        old, new = (None if value is ABSENT else value for value in (before, after))
        if kind in _TEXTS and _is_text(old) and _is_text(new):
            return self.text(before, after, place)
        if kind == "richtext" and (one := _document(old)) and (other := _document(new)):
            part = compare_documents(one, other, self.sink, place)
            # Restore the stored values: an empty document was compared in place of a missing one.
            return replace(part, before=before, after=after)
        if kind in _REFERENCES and _are_ids(old) and _are_ids(new):
            reference = _REFERENCES[kind]
            listed: DifferenceKind = "image" if reference == "media" else "reference"
            return self.listed(before, after, listed, place, reference)
        if kind == "people" and isinstance(old, list | None) and isinstance(new, list | None):
            return self.listed(before, after, "reference", place, "people")
        if kind == "multiselect" and isinstance(old, list | None) and isinstance(new, list | None):
            return self.listed(before, after, "choice", place, None)
        if kind in _SCALARS and _is_scalar(old) and _is_scalar(new):
            return self.scalar(before, after, _SCALARS[kind], place)
        if kind == "repeater" and nested and _are_objects(old) and _are_objects(new):
            return self.items(before, after, nested, place, depth)
        if kind == "object" and nested and _is_object(old) and _is_object(new):
            return self.record(before, after, nested, place, depth)
        return self.leaves(before, after, _OBJECTS.get(kind, "structure"), place, depth)

    def text(self, before: Value, after: Value, place: Place) -> MergePart:
        old, new = (value if isinstance(value, str) else "" for value in (before, after))
        found = compare_inline(units_of_text(old), units_of_text(new), self.sink, place)
        if not found.differences:
            return MergePart(before, after)
        self.sink.line(place, found.differences, segments=found.segments)
        passages = frozenset(step.passage for step in found.steps if step.passage)
        return InlinePart(before, after, passages, steps=found.steps, is_text=True)

    def scalar(self, before: Value, after: Value, kind: DifferenceKind, place: Place) -> MergePart:
        passage = self.sink.begin_passage()
        old, new = _display_text(before), _display_text(after)
        # Different values can look the same, such as 1 and "1".
        if old == new:
            old, new = _json_text(before), _json_text(after)
        self.sink.one(kind, place, old, new)
        return MergePart(before, after, frozenset({passage}))

    def listed(
        self,
        before: Value,
        after: Value,
        kind: DifferenceKind,
        place: Place,
        of: ReferenceKind | None,
    ) -> MergePart:
        """Compare single values or lists: each item is added or removed. Two single values are one replacement."""
        passage = self.sink.begin_passage()
        old, new = _as_list(before), _as_list(after)

        def side(value: Json) -> Side:
            return ShownReference(of, str(value)) if of is not None else _display_text(value) or "–"

        for run in align([_json_text(item) for item in old], [_json_text(item) for item in new]):
            if run.is_same:
                continue
            gone, come = (
                [side(item) for item in old[run.old]],
                [side(item) for item in new[run.new]],
            )
            if len(old) == len(new) == 1:
                self.sink.one(kind, place, gone[0], come[0])
                continue
            for one in gone:
                self.sink.one(kind, place, one, None)
            for other in come:
                self.sink.one(kind, place, None, other)
        return MergePart(before, after, frozenset({passage}))

    def items(
        self, before: Value, after: Value, nested: type[ModuleProps], place: Place, depth: int
    ) -> MergePart:
        old, new = _as_list(before), _as_list(after)
        parts: list[MergePart] = []
        for run in align([_json_text(item) for item in old], [_json_text(item) for item in new]):
            gone, come = old[run.old], new[run.new]
            if run.is_same:
                parts += [MergePart(item, item) for item in come]
                continue
            # No item of this run is equal to another, so pair them by position.
            for number, (one, other) in enumerate(zip_longest(gone, come, fillvalue=ABSENT)):
                index = (run.old.start if other is ABSENT else run.new.start) + number
                label = f"Item {index + 1}"
                where = (*place, label)
                if one is ABSENT or other is ABSENT:
                    # An added or removed item is one passage with everything in it.
                    passages_before = self.sink.passage
                    self.sink.begin_passage()
                    word = where[-1]
                    self.sink.one(
                        "structure",
                        where,
                        word if other is ABSENT else None,
                        word if one is ABSENT else None,
                    )
                    self.record(one, other, nested, where, depth + 1)
                    self.sink.merge_passages(passages_before)
                    parts.append(MergePart(one, other, frozenset({passages_before + 1})))
                else:
                    parts.append(self.record(one, other, nested, where, depth + 1))
        # Without a visible difference, `compare` reports the stored values.
        if not parts or self.sink.count == 0:
            return MergePart(before, after)
        return MergedList(before, after, passages_of(parts), parts=parts)

    def record(
        self, before: Value, after: Value, nested: type[ModuleProps], place: Place, depth: int
    ) -> MergePart:
        old = before if isinstance(before, Mapping) else {}
        new = after if isinstance(after, Mapping) else {}
        known = props_of(nested)
        is_alone = before is ABSENT or after is ABSENT
        parts: dict[str, MergePart] = {}
        for name in dict.fromkeys((*new, *old)):
            prop = known.get(name)
            was, now = old.get(name, ABSENT), new.get(name, ABSENT)
            # Empty props of an added or removed object are not worth a line.
            if is_alone and _is_blank(was) and _is_blank(now):
                continue
            label = prop.label if prop else str(name)
            shape = ValueShape(prop.kind, prop.nested) if prop else ValueShape("json")
            parts[name] = self.compare(was, now, shape, (*place, label), depth + 1)
        return RecordPart(before, after, passages_of(parts.values()), parts=parts)

    def leaves(
        self, before: Value, after: Value, kind: DifferenceKind, place: Place, depth: int
    ) -> MergePart:
        """Compare values of any shape leaf by leaf, in one passage."""
        passage = self.sink.begin_passage()
        # A missing value against an object: list the object's leaves as added.
        old, new = (
            {} if value in (None, ABSENT) and isinstance(other, Mapping) else value
            for value, other in ((before, after), (after, before))
        )
        lines = list(_leaves(old, new, place, depth))
        for where, one, other in lines:
            self.sink.line(where, [Difference(kind, where, one, other, "", passage)])
        return MergePart(before, after, frozenset({passage}))


def _document(value: object) -> Mapping[str, Json] | None:
    if value is None or value == EMPTY:
        return _EMPTY_DOCUMENT
    return cast("Mapping[str, Json]", value) if is_document(value) else None


def _leaves(
    before: Value, after: Value, place: Place, depth: int
) -> list[tuple[Place, str | None, str | None]]:
    if same(before, after):
        return []
    if depth < _MAX_DEPTH and isinstance(before, Mapping) and isinstance(after, Mapping):
        names = dict.fromkeys((*after, *before))
        pairs = [(str(name), before.get(name, ABSENT), after.get(name, ABSENT)) for name in names]
    elif depth < _MAX_DEPTH and isinstance(before, list) and isinstance(after, list):
        both = enumerate(zip_longest(before, after, fillvalue=ABSENT), 1)
        pairs = [(str(number), one, other) for number, (one, other) in both]
    else:
        return [(place, _leaf(before), _leaf(after))]
    return [
        leaf
        for name, one, other in pairs
        for leaf in _leaves(one, other, (*place, name), depth + 1)
    ]


def _leaf(value: Value) -> str | None:
    return None if value is ABSENT else _json_text(value)


def _with_characters(found: Comparison, language: str) -> Comparison:
    """Return the comparison with differences for hidden and look-alike characters added."""
    lines = []
    for line in found.lines:
        named = [
            Difference("characters", one.place, before, after, "", one.passage, is_fact=True)
            for one in line.differences
            # Facts repeat the characters of their text.
            if not one.is_fact
            for before, after in _character_changes(one, language)
        ]
        lines.append(replace(line, differences=(*line.differences, *named)) if named else line)
    return replace(found, lines=tuple(lines))


def _character_changes(one: Difference, language: str) -> list[tuple[str | None, str | None]]:
    """Return hidden characters that were removed or added, or the characters that distinguish similar texts."""
    before, after = (side if isinstance(side, str) else "" for side in (one.before, one.after))
    if not before and not after:
        return []
    old, new = find_suspicious(before, language), find_suspicious(after, language)
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    found: list[tuple[str | None, str | None]] = []
    if gone or come:
        found.append((", ".join(gone) or None, ", ".join(come) or None))
    elif names := find_look_alikes(before, after):
        found.append((None, ", ".join(names)))
    return found


def _display_text(value: Value) -> str | None:
    """Return a plain value for display, None if it is empty."""
    if value is None or value is ABSENT or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else _json_text(value)


def _json_text(value: object) -> str:
    """Return a value as JSON, "–" if it is missing."""
    if value is ABSENT:
        return "–"
    return canonical_json(value)


def _as_list(value: Value) -> list[Json]:
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is ABSENT or value is None or value == "" else [cast(Json, value)]


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _are_ids(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return value is None or isinstance(value, str)


def _is_object(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


def _are_objects(value: object) -> bool:
    return value is None or (
        isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value)
    )


def _is_blank(value: object) -> bool:
    return value is ABSENT or value is None or value in ("", [], {}) or value == EMPTY
