"""The stored form to Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from proofroom.definitions.richtext.markdown_inline import escaped, inline_markdown
from proofroom.definitions.richtext.nodes import (
    Node,
    attributes,
    children,
    code_lines,
    gathered,
    integer,
    kind,
    one_line,
    string,
)
from proofroom.definitions.richtext.schema import INLINE, LANGUAGE, MAX_DEPTH

_LISTS = frozenset({"bulletList", "orderedList"})
# A list may follow its paragraph without a blank line only if it can interrupt one.
_INTERRUPTS = re.compile(r"(?:[-+*]|1[.)]) \S")
_MOST_ITEMS = 999_999_999


def to_markdown(document: object) -> str:
    """CommonMark, tables, strikethrough; `proofroom.definitions.richtext.markdown` says what is normalised."""
    if not isinstance(document, dict):
        return ""
    lines = _blocks(children(document), 1)
    return "\n".join(lines) + "\n" if lines else ""


def _blocks(nodes: Sequence[Node], depth: int) -> list[str]:
    lines: list[str] = []
    above, sign = "", ""
    for node in _grouped(nodes):
        name = kind(node)
        if name in _LISTS:
            block, sign = _list(node, depth, sign if name == above else "")
        else:
            block = _block(node, depth)
        if not block:
            continue
        tight = name in _LISTS and above == "paragraph" and depth > 1
        if lines and not (tight and _INTERRUPTS.match(block[0])):
            lines.append("")
        lines += block
        above = name
    return lines


def _grouped(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with stray inline content between blocks put into paragraphs."""
    grouped: list[Node] = []
    stray: list[Node] = []
    for node in nodes:
        if kind(node) in INLINE:
            stray.append(node)
            continue
        if stray:
            grouped.append({"type": "paragraph", "content": stray})
            stray = []
        grouped.append(node)
    return [*grouped, {"type": "paragraph", "content": stray}] if stray else grouped


def _block(node: Node, depth: int) -> list[str]:
    name = kind(node)
    if depth >= MAX_DEPTH:
        return inline_markdown([{"type": "text", "text": gathered(node)}]).split("\n")
    if name == "paragraph":
        text = inline_markdown(children(node))
        return text.split("\n") if text else []
    if name == "heading":
        return [_heading(node)]
    if name == "blockquote":
        inner = _blocks(children(node), depth + 1) or [""]
        return [f"> {line}" if line else ">" for line in inner]
    if name == "codeBlock":
        return _code_block(node)
    if name == "horizontalRule":
        # Dashes and stars could be read as lists or underlines.
        return ["___"]
    if name == "table":
        rows = [children(row) for row in children(node)]
        width = max((len(row) for row in rows), default=0)
        if not width:
            return []
        lines = [_row([_cell(cell, depth) for cell in row], width) for row in rows]
        aligns = [string(attributes(cell).get("align")) for cell in rows[0]]
        signs = {"left": ":---", "center": ":---:", "right": "---:"}
        lines.insert(1, _row([signs.get(align, "---") for align in aligns], width, fill="---"))
        return lines
    text = inline_markdown([{"type": "text", "text": gathered(node)}])
    return text.split("\n") if text else []


def _heading(node: Node) -> str:
    level = integer(attributes(node).get("level"), default=2, least=1, most=6)
    text = inline_markdown(children(node), one_line=True)
    if text.endswith("#") and not text.endswith("\\#"):
        text = text[:-1] + "\\#"
    return f"{'#' * level} {text}".rstrip(" ")


def _code_block(node: Node) -> list[str]:
    language = string(attributes(node).get("language"))
    text = code_lines(
        "".join(string(child.get("text")) or gathered(child) for child in children(node))
    )
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = text.split("\n") if text else []
    return [fence + (language if LANGUAGE.fullmatch(language) else ""), *body, fence]


def _list(node: Node, depth: int, above: str) -> tuple[list[str], str]:
    """The lines of a list and its sign, which differs from that of the list right above it."""
    items = [(_blocks(children(item), depth + 2) or [""]) for item in children(node)]
    if kind(node) == "orderedList":
        sign = ")" if above == "." else "."
        start = integer(attributes(node).get("start"), default=1, least=0, most=_MOST_ITEMS)
        signs = [f"{min(start + at, _MOST_ITEMS)}{sign}" for at in range(len(items))]
    else:
        sign = _bullet([item[0] for item in items], above)
        signs = [sign] * len(items)
    lines: list[str] = []
    loose = any("" in item for item in items)
    for marker, item in zip(signs, items, strict=True):
        if lines and loose:
            lines.append("")
        lines.append(f"{marker} {item[0]}".rstrip(" ") if not item[0] else f"{marker} {item[0]}")
        indent = " " * (len(marker) + 1)
        lines += [indent + line if line else "" for line in item[1:]]
    return lines, sign


def _bullet(first_lines: list[str], above: str) -> str:
    for sign in "-+*":
        # `- - -` would be a rule.
        is_rule = any(line and not line.strip(f"{sign} ") for line in first_lines)
        if sign != above and not is_rule:
            return sign
    return "+"


def _row(cells: list[str], width: int, *, fill: str = "") -> str:
    filled = [text for text, _ in zip_longest(cells, range(width), fillvalue=fill)]
    return "| " + " | ".join(str(text) for text in filled) + " |"


def _cell(cell: Node, depth: int) -> str:
    parts = [text for block in _grouped(children(cell)) for text in _flat(block, depth + 3)]
    # The reader takes one backslash before a pipe away before it reads anything else.
    return "<br>".join(parts).replace("|", "\\|")


def _flat(node: Node, depth: int) -> list[str]:
    """The lines of a block inside a table cell, which has room for inline content only."""
    if kind(node) in {"paragraph", "heading"}:
        text = inline_markdown(children(node), one_line=True)
        return [text] if text else []
    if kind(node) == "codeBlock":
        lines = code_lines(gathered(node)).split("\n")
        code: list[Node] = [
            {"type": "text", "text": line, "marks": [{"type": "code"}]} for line in lines if line
        ]
        return [inline_markdown([line]) for line in code]
    if depth >= MAX_DEPTH or not children(node):
        text = "".join(escaped(one_line(gathered(node)))).strip()
        return [text] if text else []
    return [text for child in children(node) for text in _flat(child, depth + 1)]
