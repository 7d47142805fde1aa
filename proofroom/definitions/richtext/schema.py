"""The stored form: a ProseMirror document with the node and mark names of TipTap's StarterKit.

The editor needs two matching settings: images are inline (`Image.configure({inline: true})`), and code can be
combined with other marks (`Code.extend({excludes: ""})`), as in Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.nodes import (
    IMAGE_ALIGNMENTS,
    IMAGE_SIZES,
    INLINE,
    MARK_ORDER,
    MAX_DEPTH,
    Node,
    children,
    has_controls,
    kind,
    one_line,
)

__all__ = ["EMPTY", "is_document", "safe_href", "safe_src", "validate"]

EMPTY: Final[JsonObject] = {"type": "doc", "content": [{"type": "paragraph"}]}
"""A document without text. Copy it before a change."""

MAX_CONTAINERS = 16
"""Deepest level at which a list or quote may begin. A list and its items are two levels."""
MAX_QUOTES = 5
"""Levels of nested quotes. Markdown parsers need time for each."""
MAX_NODES = 50_000
MAX_TEXT = 1_000_000
"""Characters of a document."""
MAX_WORDS = 2000
"""Characters of a title or a description."""
MAX_PROBLEMS = 20

LANGUAGE = re.compile(r"[A-Za-z0-9_+#.\-]{1,40}")
ALIGNMENTS = ("left", "center", "right")
BLOCKS: Final = (
    "paragraph",
    "heading",
    "bulletList",
    "orderedList",
    "blockquote",
    "codeBlock",
    "horizontalRule",
    "table",
)
CELLS: Final = ("tableHeader", "tableCell")
CHILDREN: Final[Mapping[str, tuple[str, ...]]] = {
    "doc": BLOCKS,
    "paragraph": INLINE,
    "heading": INLINE,
    "bulletList": ("listItem",),
    "orderedList": ("listItem",),
    "listItem": BLOCKS,
    "blockquote": BLOCKS,
    "codeBlock": ("text",),
    "table": ("tableRow",),
    "tableRow": CELLS,
    "tableHeader": BLOCKS,
    "tableCell": BLOCKS,
}
"""The nodes that each node can contain. Others contain none."""
_NEEDS_CHILDREN = frozenset(CHILDREN) - {"doc", "paragraph", "heading", "codeBlock"}
NODES: Final = frozenset(CHILDREN) | frozenset(INLINE) | {"horizontalRule"}


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a node or mark: the values that can be stored, and their JSON Schema."""

    accepts: Callable[[Json], bool]
    json_schema: JsonObject


def _number(least: int, most: int) -> Attribute:
    return Attribute(
        # `type`, because bool is a subclass of int.
        lambda value: type(value) is int and least <= value <= most,
        {"type": "integer", "minimum": least, "maximum": most},
    )


def _choice(*allowed: str) -> Attribute:
    return Attribute(
        lambda value: value is None or value in allowed,
        {"type": ["string", "null"], "enum": [*allowed, None]},
    )


def _is_line(value: Json) -> bool:
    if value is None:
        return True
    return isinstance(value, str) and len(value) <= MAX_WORDS and one_line(value) == value


def _is_language(value: Json) -> bool:
    return value is None or (isinstance(value, str) and LANGUAGE.fullmatch(value) is not None)


_WIDTH = _number(0, 10_000)


def _are_widths(value: Json) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(_WIDTH.accepts(width) for width in value)


TEXT_OR_NULL: Final[JsonObject] = {"type": ["string", "null"]}
_LINE: Final = Attribute(_is_line, TEXT_OR_NULL)
_OF_CELLS: Final = {
    "colspan": _number(1, 100),
    "rowspan": _number(1, 100),
    "colwidth": Attribute(_are_widths, {"type": ["array", "null"], "items": _WIDTH.json_schema}),
    "align": _choice(*ALIGNMENTS),
}
ATTRIBUTES: Final[Mapping[str, Mapping[str, Attribute]]] = {
    "heading": {"level": _number(1, 6)},
    # `type`: the editor writes it for lettered lists.
    "orderedList": {"start": _number(0, 999_999_999), "type": _choice("1", "a", "A", "i", "I")},
    "codeBlock": {
        "language": Attribute(_is_language, {**TEXT_OR_NULL, "description": "Like `python`."})
    },
    "image": {
        "src": Attribute(
            lambda value: safe_src(value) is not None,
            {"type": "string", "description": "The absolute address of the image."},
        ),
        "alt": _LINE,
        "title": _LINE,
        "caption": Attribute(
            _is_line, {**TEXT_OR_NULL, "description": "Shown below the image, as plain text."}
        ),
        "align": _choice(*IMAGE_ALIGNMENTS),
        "size": _choice(*IMAGE_SIZES),
    },
    "tableHeader": _OF_CELLS,
    "tableCell": _OF_CELLS,
    # The editor writes `target`, `rel` and `class`. Rendering sets `rel` itself.
    "link": {
        "href": Attribute(
            lambda value: safe_href(value) is not None,
            {"type": "string", "description": "For a post, its present path."},
        ),
        "title": _LINE,
        "target": _choice("_blank", "_self"),
        "rel": _LINE,
        "class": Attribute(lambda value: value is None, {"type": "null"}),
    },
}
"""The attributes of nodes and marks. Others have none."""
REQUIRED: Final = {"heading": "level", "image": "src", "link": "href"}
_KEYS = frozenset({"type", "attrs", "content"})
_KEYS_OF = {
    "text": frozenset({"type", "text", "marks"}),
    "image": frozenset({"type", "attrs", "marks"}),
    "hardBreak": frozenset({"type", "attrs", "marks"}),
    "horizontalRule": frozenset({"type", "attrs"}),
}


ADDED_BY_DELIVERY: Final = {"heading": "id", "image": "mediaId", "link": "post"}
"""Attributes of nodes and marks that only the delivery API answers. They follow from the rest, so none is stored."""


def drop_added_by_delivery(document: object) -> None:
    """Remove the attributes that the delivery API adds, in place, so that its documents can be stored."""
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        attrs = node.get("attrs")
        added = ADDED_BY_DELIVERY.get(kind(node))
        if added is not None and isinstance(attrs, dict):
            attrs.pop(added, None)
        for key in ("content", "marks"):
            if isinstance(node.get(key), list):
                waiting.extend(node[key])


def is_document(value: object) -> bool:
    """Return True if a value has the basic shape of a document. `validate` checks the rest."""
    return (
        isinstance(value, dict)
        and value.get("type") == "doc"
        and isinstance(value.get("content", []), list)
    )


def validate(value: object) -> list[str]:
    """Return the problems of a document, as sentences with their place; empty if it is valid."""
    if not isinstance(value, dict) or not is_document(value):
        return ['Rich text must be an object {"type": "doc", "content": [...]}.']
    check = _Check()
    check.node(value, "doc", 0, 0)
    if check.nodes > MAX_NODES or check.text > MAX_TEXT:
        check.problems.append(
            f"The document is too large: at most {MAX_NODES} nodes and {MAX_TEXT} characters."
        )
    return check.problems


@dataclass
class _Check:
    problems: list[str] = field(default_factory=list)
    nodes: int = 0
    text: int = 0

    def report(self, place: str, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{place}: {problem}.")

    def node(self, node: Node, place: str, depth: int, quotes: int) -> None:
        name = kind(node)
        self.nodes += 1
        if self.nodes > MAX_NODES:
            return
        for key in node.keys() - _KEYS_OF.get(name, _KEYS):
            self.report(place, f"{name} has no key {key!r}")
        self.attributes(node, name, place)
        self.marks(node.get("marks"), place)
        if name == "text":
            self.words(node, place)
        elif name in CHILDREN:
            quotes += name == "blockquote"
            self.nesting(name, place, depth, quotes)
            self.content(node, name, place, depth, quotes)

    def nesting(self, name: str, place: str, depth: int, quotes: int) -> None:
        too_deep = depth > MAX_CONTAINERS and name in {"bulletList", "orderedList", "blockquote"}
        if too_deep or (name == "blockquote" and quotes > MAX_QUOTES):
            self.report(place, f"{name} is nested too deep")

    def content(self, node: Node, name: str, place: str, depth: int, quotes: int) -> None:
        content = node.get("content", [])
        if not isinstance(content, list) or not all(isinstance(item, Mapping) for item in content):
            self.report(place, "content must be a list of nodes")
            return
        if not content and name in _NEEDS_CHILDREN:
            self.report(place, f"{name} must not be empty")
        if name == "listItem" and content and kind(content[0]) != "paragraph":
            self.report(place, "a listItem begins with a paragraph")
        for index, child in enumerate(children(node)):
            where = f"{place}.content.{index}"
            if kind(child) not in NODES:
                self.report(
                    where, f"unknown node {kind(child)!r}; known: {', '.join(sorted(NODES))}"
                )
            elif kind(child) not in CHILDREN[name]:
                self.report(where, f"{kind(child)} cannot stand in {name}")
            elif depth + 1 >= MAX_DEPTH:
                self.report(where, f"nested deeper than {MAX_DEPTH} levels")
            elif name == "codeBlock" and child.get("marks"):
                self.report(where, "text in a codeBlock has no marks")
            else:
                self.node(child, where, depth + 1, quotes)

    def words(self, node: Node, place: str) -> None:
        text = node.get("text")
        if not isinstance(text, str) or not text:
            self.report(place, "text must be a string that is not empty")
            return
        self.text += len(text)
        if has_controls(text):
            self.report(place, "text has control characters")

    def attributes(self, node: Node, name: str, place: str) -> None:
        attrs = node.get("attrs")
        if attrs is None:
            attrs = {}
        if not isinstance(attrs, Mapping):
            self.report(place, "attrs must be an object")
            return
        rules = ATTRIBUTES.get(name, {})
        required = REQUIRED.get(name)
        if required and required not in attrs:
            self.report(place, f"{name} needs the attribute {required!r}")
        for key, value in attrs.items():
            if key not in rules:
                self.report(place, f"{name} has no attribute {key!r}")
            elif not rules[key].accepts(value):
                self.report(place, f"{name} cannot have {key} = {str(value)[:80]!r}")

    def marks(self, marks: Json, place: str) -> None:
        if marks is None:
            return
        if isinstance(marks, str) or not isinstance(marks, Sequence):
            self.report(place, "marks must be a list")
            return
        seen: set[str] = set()
        for mark in marks:
            name = kind(mark) if isinstance(mark, Mapping) else ""
            if not isinstance(mark, Mapping) or name not in MARK_ORDER:
                self.report(place, f"unknown mark {name!r}; known: {', '.join(MARK_ORDER)}")
                continue
            if name in seen or mark.keys() - {"type", "attrs"}:
                self.report(place, f"the mark {name!r} is given twice or has unknown keys")
            seen.add(name)
            self.attributes(mark, name, place)
