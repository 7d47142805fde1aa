"""The comparison of two rich-text documents: added, removed and changed blocks, and the changes inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from content.comparison.inline import compare_inline, shown_text, units_of
from content.comparison.merge_tree import InlinePart, MergedList, MergePart, NodePart, passages_of
from content.document.changes import ABSENT, same
from content.document.differences import Difference, Segment, Sink, Status, align, canonical_json
from proofroom.core.json import Json
from proofroom.definitions.richtext.nodes import Node, attributes, children, gathered, kind

Place = tuple[str, ...]
_LEAVES: Final = frozenset({"paragraph", "heading", "codeBlock"})
_CONTAINERS: Final = frozenset(
    {
        "bulletList",
        "orderedList",
        "listItem",
        "blockquote",
        "table",
        "tableRow",
        "tableHeader",
        "tableCell",
    }
)
_LISTS: Final = frozenset({"bulletList", "orderedList"})
_CELLS: Final = frozenset({"tableHeader", "tableCell"})
_ROWS: Final = frozenset({"listItem", "tableRow"})
_KEYS: Final = frozenset({"type", "attrs", "content"})
_MAX_DEPTH: Final = 30
_MIN_ALIKE: Final = 0.35
_MAX_COMPARED: Final = 4_000
_WINDOW: Final = 30
"""Number of old blocks among which the counterpart of a new block is searched."""


def compare_documents(before: Node, after: Node, sink: Sink, place: Place) -> MergePart:
    """Compare two documents that are not equal. The differences are added to `sink`."""
    return _DocumentComparer(sink, place).compare(before, after, "", 0)


def is_document(value: object) -> bool:
    """Return whether a value can be compared block by block."""
    return isinstance(value, Mapping) and value.get("type") == "doc" and _has_nodes(value)


def _has_nodes(node: Node) -> bool:
    content = node.get("content", [])
    return isinstance(content, list) and all(isinstance(child, Mapping) for child in content)


@dataclass(slots=True)
class _DocumentComparer:
    """The comparer of two documents. It adds the differences to `sink`."""

    sink: Sink
    place: Place

    def compare(self, before: Node, after: Node, role: str, depth: int) -> MergePart:
        """Compare two corresponding nodes that are not equal."""
        count = self.sink.count
        head = self.head(before, after, role)
        both = {kind(before), kind(after)}
        has_nodes = _has_nodes(before) and _has_nodes(after)
        # Both contain blocks, so their children can be compared.
        is_container = len(both) == 1 and both <= _CONTAINERS | {"doc"}
        divides = is_container or both <= _LISTS or both <= _CELLS
        if has_nodes and both <= _LEAVES:
            content: MergePart = self.leaf(children(before), children(after), role, after)
        elif has_nodes and divides and depth < _MAX_DEPTH:
            content = self.blocks(before, after, role, depth)
        else:
            return self.whole(before, after, role)
        # The stored nodes differ although no visible difference was found: report them as stored.
        if self.sink.count == count and not same(canonical_json(before), canonical_json(after)):
            return self.whole(before, after, role)
        passages = passages_of([head, content])
        return NodePart(
            before,
            after,
            passages,
            head=head,
            content=content,
            must_hold=kind(after) in _CONTAINERS,
        )

    def whole(self, before: Node, after: Node, role: str) -> MergePart:
        """Report two nodes as stored, without comparing their parts."""
        passage = self.sink.begin_passage()
        self.sink.one(
            "structure",
            (*self.place, role) if role else self.place,
            canonical_json(before),
            canonical_json(after),
        )
        return MergePart(before, after, frozenset({passage}))

    def head(self, before: Node, after: Node, role: str) -> MergePart:
        """Compare the types and attributes of nodes, and all other keys except the content."""
        one, other = (
            {name: value for name, value in node.items() if name != "content"}
            for node in (before, after)
        )
        if same(one, other):
            return MergePart(one, other)
        passage = self.sink.begin_passage()
        sides_of_differences: list[tuple[str | None, str | None]] = []
        is_same_kind = kind(before) == kind(after)
        if not is_same_kind:
            sides_of_differences.append((_block_label(before), _block_label(after)))
        old, new = attributes(before), attributes(after)
        for name in dict.fromkeys((*old, *new)):
            was, now = old.get(name), new.get(name)
            if not same(was, now) and (is_same_kind or name != "level"):
                sides_of_differences.append(
                    (_attribute_text(name, was), _attribute_text(name, now))
                )
        if not sides_of_differences:
            sides_of_differences.append((canonical_json(one), canonical_json(other)))
        where = (*self.place, role) if role else self.place
        differences = [
            Difference("structure", where, *sides, "", passage) for sides in sides_of_differences
        ]
        # The start of the text, if unchanged, shows which block the attributes belong to.
        text = gathered(before)
        segments: list[Segment] = []
        if text and text == gathered(after):
            segments = [Segment("same", text if len(text) <= 80 else text[:79] + "…")]
        self.sink.line(self.place, differences, role=role, segments=segments)
        return MergePart(one, other, frozenset({passage}))

    def leaf(self, old: Sequence[Node], new: Sequence[Node], role: str, node: Node) -> MergePart:
        one, other = list(old), list(new)
        if same(cast(Json, one), cast(Json, other)):
            return MergePart(one, other)
        is_code = kind(node) == "codeBlock"
        ours, theirs = units_of(old), units_of(new)
        where = (*self.place, role) if role else self.place
        found = compare_inline(ours, theirs, self.sink, where)
        if not found.differences:
            # Equal words with equal marks in different nodes: stored differently, displayed alike.
            passage = self.sink.begin_passage()
            stored = Difference(
                "structure", where, canonical_json(one), canonical_json(other), "", passage
            )
            self.sink.line(
                self.place, [stored], role=role, segments=[Segment("same", shown_text(theirs))]
            )
            return MergePart(one, other, frozenset({passage}))
        differences = [
            # In code each sign counts.
            replace(one, kind="code") if is_code and one.kind in ("text", "space") else one
            for one in found.differences
        ]
        self.sink.line(self.place, differences, role=role, segments=found.segments, is_code=is_code)
        passages = frozenset(step.passage for step in found.steps if step.passage)
        return InlinePart(one, other, passages, steps=found.steps)

    def blocks(self, before: Node, after: Node, role: str, depth: int) -> MergePart:
        old, new = children(before), children(after)
        one, other = list(old), list(new)
        if same(cast(Json, one), cast(Json, other)):
            return MergePart(one, other)
        passages_before = self.sink.passage
        parts: list[MergePart] = []
        for run in align(
            [canonical_json(node) for node in old], [canonical_json(node) for node in new]
        ):
            gone, come = old[run.old], new[run.new]
            if run.is_same:
                self.context(come, after, run.new.start, role, depth)
                parts += [MergePart(node, node) for node in come]
            else:
                at = (run.old.start, run.new.start)
                parts += self.replaced(gone, come, at, (before, after), role, depth)
        # All rows of a table need the same number of columns. If cells and not only whole rows were added
        # or removed, they are one passage.
        is_reshaped = kind(after) == "table" and _width(before) != _width(after)
        if kind(after) == "tableRow":
            is_reshaped = any(part.before is ABSENT or part.after is ABSENT for part in parts)
        if is_reshaped:
            self.sink.merge_passages(passages_before)
            return MergePart(one, other, frozenset({passages_before + 1}))
        return MergedList(one, other, passages_of(parts), parts=parts)

    def replaced(
        self,
        gone: Sequence[Node],
        come: Sequence[Node],
        at: tuple[int, int],
        parents: tuple[Node, Node],
        role: str,
        depth: int,
    ) -> list[MergePart]:
        """Pair similar nodes in order. The others were added or removed, neighbours in one passage."""
        parts: list[MergePart] = []
        passage = 0
        begin = 0

        def unpaired(node: Node, index: int, status: Status) -> MergePart:
            nonlocal passage
            passage = passage or self.sink.begin_passage()
            parent = parents[0] if status == "removed" else parents[1]
            self.alone(node, status, role_of(role, parent, node, index), depth + 1, passage)
            is_gone = status == "removed"
            return MergePart(
                node if is_gone else ABSENT, ABSENT if is_gone else node, frozenset({passage})
            )

        for number, node in enumerate(come):
            partner = next(
                (
                    spot
                    for spot in range(begin, min(len(gone), begin + _WINDOW))
                    if _are_counterparts(gone[spot], node, len(gone), len(come))
                ),
                None,
            )
            if partner is None:
                parts.append(unpaired(node, at[1] + number, "inserted"))
                continue
            for spot in range(begin, partner):
                parts.append(unpaired(gone[spot], at[0] + spot, "removed"))
            passage = 0
            name = role_of(role, parents[1], node, at[1] + number)
            parts.append(self.compare(gone[partner], node, name, depth + 1))
            begin = partner + 1
        parts += [unpaired(gone[spot], at[0] + spot, "removed") for spot in range(begin, len(gone))]
        return parts

    def alone(self, node: Node, status: Status, role: str, depth: int, passage: int) -> None:
        """Report an added or removed node with all its content."""
        is_gone = status == "removed"
        where = (*self.place, role)

        def one(words: str) -> Difference:
            before, after = (words, None) if is_gone else (None, words)
            return Difference("structure", where, before, after, passage=passage)

        # Attributes that are not part of the role, and other keys of the node.
        differences = [
            one(text)
            for name, value in attributes(node).items()
            if name != "level" and value not in (None, 1) and (text := _attribute_text(name, value))
        ]
        differences += [
            one(f"{name}: {canonical_json(value)}")
            for name, value in node.items()
            if name not in _KEYS
        ]
        segments: list[Segment] = []
        inside = depth < _MAX_DEPTH and _has_nodes(node) and kind(node) in _CONTAINERS
        if kind(node) in _LEAVES and _has_nodes(node):
            units = units_of(children(node))
            found = compare_inline(
                units if is_gone else [], [] if is_gone else units, self.sink, where
            )
            differences += [
                replace(difference, passage=passage) for difference in found.differences
            ]
            segments = found.segments
        elif not inside:
            words = (
                "———" if kind(node) == "horizontalRule" and len(node) == 1 else canonical_json(node)
            )
            differences.append(one(words))
            segments = [Segment("removed" if is_gone else "inserted", words)]
        if not differences and (not inside or not children(node)):
            differences.append(one(_block_label(node)))
        if differences:
            is_code = kind(node) == "codeBlock"
            if is_code:
                differences = [
                    replace(found, kind="code") if found.kind in ("text", "space") else found
                    for found in differences
                ]
            self.sink.line(
                self.place,
                differences,
                role=role,
                status=status,
                segments=segments,
                is_code=is_code,
            )
        for index, child in enumerate(children(node) if inside else ()):
            self.alone(child, status, role_of(role, node, child, index), depth + 1, passage)

    def context(self, nodes: Sequence[Node], parent: Node, at: int, role: str, depth: int) -> None:
        """Add unchanged blocks as context around changes."""
        for index, node in enumerate(nodes, at):
            name = role_of(role, parent, node, index)
            inner = children(node)
            if kind(node) in _CONTAINERS and inner and depth < _MAX_DEPTH:
                self.context(inner, node, 0, name, depth + 1)
                continue
            text = shown_text(units_of(inner)) if kind(node) in _LEAVES else gathered(node)
            self.sink.line(
                self.place,
                (),
                role=name,
                status="same",
                segments=[Segment("same", text)] if text else [],
            )


def _attribute_text(name: str, value: Json) -> str | None:
    if value is None:
        return None
    words = {
        "level": "Heading {}",
        "start": "starts at {}",
        "language": "language: {}",
        "colspan": "{} columns wide",
        "rowspan": "{} rows high",
        "align": "aligned: {}",
    }
    text = (
        value
        if isinstance(value, str | int) and not isinstance(value, bool)
        else canonical_json(value)
    )
    return words[name].format(text) if name in words else f"{name}: {text}"


def _width(table: Node) -> int:
    return max((len(children(row)) for row in children(table)), default=0)


def _are_counterparts(one: Node, other: Node, gone: int, come: int) -> bool:
    """Return whether two nodes correspond: same family, and similar or alone on both sides."""
    both = {kind(one), kind(other)}
    is_family = both <= _LEAVES or both <= _LISTS or both <= _CELLS
    if len(both) == 1:
        is_family = both <= _LEAVES | _CONTAINERS
    elif "codeBlock" in both:
        is_family = False
    if not is_family:
        return False
    # A single block, or rows and cells in equal number, correspond whatever their text.
    if gone == come and (gone == 1 or kind(one) in _ROWS | _CELLS):
        return True
    text, other_text = gathered(one), gathered(other)
    if text == other_text:
        return True
    left, right = set(text[:_MAX_COMPARED].split()), set(other_text[:_MAX_COMPARED].split())
    if not left or not right:
        return False
    return len(left & right) / min(len(left), len(right)) >= _MIN_ALIKE


def role_of(role: str, parent: Node, node: Node, index: int) -> str:
    """Return the place of a block among its siblings: "3 · Bulleted list › List item 2", "Row 2 › cell 1"."""
    name, number = kind(node), index + 1
    numbered = {
        "listItem": f"List item {number}",
        "tableRow": f"Row {number}",
        "tableHeader": f"header cell {number}",
        "tableCell": f"cell {number}",
    }
    own = numbered[name] if name in numbered else _block_label(node)
    if name == "listItem" and kind(parent) == "orderedList":
        start = attributes(parent).get("start")
        own = f"Item {index + (start if isinstance(start, int) else 1)}."
    elif name == "paragraph" and kind(parent) != "doc":
        own = f"paragraph {number}" if index else ""
    if kind(parent) == "doc":
        own = f"{number} · {own}"
    return " › ".join(part for part in (role, own) if part)


def _block_label(node: Node) -> str:
    """Return the label of a block type."""
    name = kind(node)
    if name == "heading":
        return f"Heading {attributes(node).get('level')}"
    words = {
        "paragraph": "Paragraph",
        "codeBlock": "Code",
        "bulletList": "Bulleted list",
        "orderedList": "Numbered list",
        "blockquote": "Quote",
        "table": "Table",
        "horizontalRule": "Horizontal line",
        "tableHeader": "Header cell",
        "tableCell": "Table cell",
    }
    return words.get(name, name)
