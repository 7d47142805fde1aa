"""A document as plain text: for search, word counts, descriptions and line diffs."""

from __future__ import annotations

from collections.abc import Sequence

from proofroom.definitions.richtext.inline import runs
from proofroom.definitions.richtext.nodes import (
    Node,
    attributes,
    children,
    code_lines,
    gathered,
    kind,
    string,
)
from proofroom.definitions.richtext.schema import INLINE, MAX_DEPTH


def to_text(document: object) -> str:
    """The text: blocks apart by a blank line, cells by a tab; images give their description."""
    if not isinstance(document, dict):
        return ""
    return "\n\n".join(_blocks(children(document), 1))


def word_count(document: object) -> int:
    """Words between white space; a text of a script without spaces counts as few words."""
    return len(to_text(document).split())


def blocks(document: object) -> list[str]:
    """One line for every top-level block, even one without text: what a line diff compares."""
    if not isinstance(document, dict):
        return []
    return [_line(node) for node in children(document)]


def _line(node: Node) -> str:
    text = " ".join(" ".join(_block(node, 1)).split())
    if text:
        return text
    if kind(node) == "horizontalRule":
        return "---"
    source = _first_source(node)
    return f"[image {source}]" if source else ""


def _first_source(node: Node) -> str:
    for child in (node, *children(node)):
        if kind(child) == "image":
            return string(attributes(child).get("src"))
    return ""


def _blocks(nodes: Sequence[Node], depth: int) -> list[str]:
    return [text for node in nodes for text in _block(node, depth) if text]


def _block(node: Node, depth: int) -> list[str]:
    name = kind(node)
    if depth >= MAX_DEPTH:
        return [gathered(node)]
    if name in {"paragraph", "heading"}:
        return [_inline(children(node))]
    if name in INLINE:
        return [_inline([node])]
    if name == "codeBlock":
        return [code_lines("".join(string(child.get("text")) for child in children(node)))]
    if name in {"bulletList", "orderedList"}:
        # The parts of a list are lines, not paragraphs.
        return ["\n".join(_blocks(children(node), depth + 1))]
    if name == "table":
        return ["\n".join(_row(row, depth + 1) for row in children(node))]
    if name in {"listItem", "blockquote"}:
        return _blocks(children(node), depth + 1)
    return [gathered(node)]


def _row(row: Node, depth: int) -> str:
    cells = (" ".join(_blocks(children(cell), depth + 2)) for cell in children(row))
    return "\t".join(cells)


def _inline(nodes: Sequence[Node]) -> str:
    return "".join("\n" if run.kind == "hardBreak" else run.text for run in runs(nodes))
