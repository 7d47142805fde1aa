"""The stored form to Markdown.

Superscript and subscript are written as the tags `<sup>` and `<sub>`, the layout of an image as attributes after it,
such as `![alt](src){align=left size=small caption="A cup"}`.

Content that CommonMark cannot express is normalized: empty paragraphs are dropped; a table's first row becomes its
header, and cells hold one paragraph; merged cells and lettered lists become plain ones; a link's target is dropped;
equal neighbours are joined; line breaks in a text become spaces. Text is never lost.

CommonMark opens and closes emphasis depending on the characters around its delimiters. Where these prevent it, the
neighbouring character is written as a numeric entity, which counts as punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from string import punctuation

from proofroom.core.i18n.words import MARK, compile_pattern
from proofroom.definitions.richtext.nodes import (
    INLINE,
    MAX_DEPTH,
    Node,
    TextRun,
    attributes,
    children,
    code_lines,
    gathered,
    integer,
    kind,
    one_line,
    runs,
    steps,
    string,
)
from proofroom.definitions.richtext.schema import LANGUAGE

_DELIMITERS = {"bold": "**", "italic": "_", "strike": "~~"}
_LETTER = compile_pattern(rf"[\p{{L}}\p{{N}}{MARK}]")
_OPENING_TAGS = {"superscript": "<sup>", "subscript": "<sub>"}
_CLOSING_TAGS = {"superscript": "</sup>", "subscript": "</sub>"}
_SPECIAL = re.compile(r"[\\`*\[\]<~]|&(?=#?\w{1,32};)")
_AT_LINE_START = re.compile(r"[#>=:|]|[-+](?=[\s\-:|]|$)")
_NUMBERED = re.compile(r"(\d{1,9})([.)])")
_BREAK = "\\\n"


@dataclass
class _Piece:
    """A piece of output: fixed, or text whose first and last characters may have to be entities."""

    text: str
    is_text: bool = False
    is_break: bool = False
    is_image: bool = False
    starts_line: bool = False
    hides_first: bool = False
    hides_last: bool = False

    def written(self) -> str:
        if not self.is_text:
            return self.text
        first = self.hides_first or (self.starts_line and self.text[0].isspace())
        last = self.hides_last and (len(self.text) > 1 or not first)
        body = self.text
        if first or last or _SPECIAL.search(body) or "_" in body:
            body = "".join(escaped(body)[int(first) : len(body) - int(last)])
        if self.starts_line and not first:
            body = _NUMBERED.sub(r"\1\\\2", body, count=1) if _NUMBERED.match(body) else body
            body = "\\" + body if _AT_LINE_START.match(body) else body
        head = _entity(self.text[0]) if first else ""
        return head + body + (_entity(self.text[-1]) if last else "")


def escaped(text: str) -> list[str]:
    """Return the Markdown source of each character, escaped for use inside a line."""
    source = list(text)
    for found in _SPECIAL.finditer(text):
        source[found.start()] = "\\" + found.group()
    at = text.find("_")
    while at != -1:
        # Inside a word, an underscore is no delimiter. The outermost characters may become entities.
        inside = (
            2 <= at < len(text) - 2 and _LETTER.match(text, at - 1) and _LETTER.match(text, at + 1)
        )
        if not inside:
            source[at] = "\\_"
        at = text.find("_", at + 1)
    return source


def inline_markdown(nodes: Sequence[Node], *, one_line: bool = False) -> str:
    """Return the Markdown of inline nodes. `one_line` writes breaks as `<br>`, for headings and cells."""
    found = runs(nodes)
    if len(found) == 1 and found[0].kind == "text" and not found[0].marks:  # most paragraphs
        text = found[0].text
        ends_blank = text[-1].isspace()
        return _Piece(text, is_text=True, starts_line=True, hides_last=ends_blank).written()
    pieces: list[_Piece] = []
    previous: _Piece | None = None
    for at, step in enumerate(steps(found)):
        piece = _piece(step.run, one_line or at in {0, len(found) - 1}) if step.run else None
        markers = "".join(
            f"]({_target(mark.href, mark.title)})"
            if mark.kind == "link"
            else (_DELIMITERS | _CLOSING_TAGS).get(mark.kind, "")
            for mark in step.closes
        )
        markers += "".join(
            ("[" if mark.kind == "link" else (_DELIMITERS | _OPENING_TAGS).get(mark.kind, ""))
            for mark in step.opens
        )
        # Decide which characters next to delimiters must be entities.
        closes = [_DELIMITERS[mark.kind] for mark in step.closes if mark.kind in _DELIMITERS]
        opens = [_DELIMITERS[mark.kind] for mark in step.opens if mark.kind in _DELIMITERS]
        linked = any(mark.kind == "link" for mark in (*step.closes, *step.opens))
        at_edge = piece is None or piece.is_break
        if previous and previous.is_text and previous.text[-1].isspace() and (closes or at_edge):
            previous.hides_last = True
        if piece and piece.is_text and piece.text[0].isspace() and opens:
            piece.hides_first = True
        # A tag between a delimiter and the text counts as punctuation.
        tag_closes = any(mark.kind in _CLOSING_TAGS for mark in step.closes)
        tag_opens = any(mark.kind in _OPENING_TAGS for mark in step.opens)
        is_plain = not tag_closes and _plain_edge(closes, previous, -1)
        hides_right = closes and not (opens or linked or tag_opens or is_plain)
        if hides_right and piece and piece.is_text and not _is_neutral(piece.text[0]):
            piece.hides_first = True
        is_plain = not tag_opens and _plain_edge(opens, piece, 0)
        hides_left = opens and not (closes or linked or tag_closes or is_plain)
        if hides_left and previous and previous.is_text and not _is_neutral(previous.text[-1]):
            previous.hides_last = True
        # "!" before "[" would make the link an image.
        if previous and previous.is_text and markers.startswith("[") and previous.text[-1] == "!":
            previous.hides_last = True
        # A brace right after an image would begin its attributes.
        if not markers and previous and previous.is_image and piece and piece.text[:1] == "{":
            piece.hides_first = True
        if markers:
            pieces.append(_Piece(markers))
        if piece:
            piece.starts_line = not pieces or pieces[-1].is_break
            pieces.append(piece)
        previous = piece
    return "".join(piece.written() for piece in pieces)


def _piece(run: TextRun, with_tag: bool) -> _Piece:
    if run.kind == "hardBreak":
        return _Piece("<br>" if with_tag else _BREAK, is_break=True)
    if run.kind == "image":
        alt = "".join(escaped(run.text))
        return _Piece(
            f"![{alt}]({_target(run.src, run.title)}){_image_attributes(run)}", is_image=True
        )
    if not run.is_code:
        return _Piece(run.text, is_text=True)
    longest = max((len(ticks) for ticks in re.findall("`+", run.text)), default=0)
    # The reader removes one space on each side of a code span.
    begin, end = run.text[0], run.text[-1]
    padded = "`" in {begin, end} or (begin == end == " " and len(run.text) > 2)
    fence = "`" * (longest + 1)
    return _Piece(fence + (f" {run.text} " if padded else run.text) + fence)


def _image_attributes(run: TextRun) -> str:
    """Return the layout of an image, such as `{align=left size=small caption="A cup"}`; "" for none."""
    found = [
        f"{name}={value}" for name, value in (("align", run.align), ("size", run.size)) if value
    ]
    if run.caption:
        quoted = "".join(escaped(run.caption)).replace('"', '\\"')
        found.append(f'caption="{quoted}"')
    return f"{{{' '.join(found)}}}" if found else ""


def _plain_edge(markers: list[str], inner: _Piece | None, edge: int) -> bool:
    """Return True if one delimiter next to a letter works with any character outside."""
    if len(markers) != 1 or markers[0] == "_" or inner is None or not inner.is_text:
        return False
    return len(inner.text) > 1 and _LETTER.fullmatch(inner.text[edge]) is not None


def _is_neutral(char: str) -> bool:
    return char == " " or char in punctuation


def _entity(char: str) -> str:
    return f"&#{ord(char)};"


def _target(href: str, title: str) -> str:
    # A backslash keeps an entity in a URL from being decoded.
    address = re.sub(r"&(?=#?\w{1,32};)", r"\\&", href)
    if "(" in address or ")" in address:
        address = f"<{address}>"
    if not title:
        return address
    quoted = re.sub(r'[\\"]|&(?=#?\w{1,32};)', lambda found: "\\" + found.group(), title)
    return f'{address} "{quoted}"'


_LISTS = frozenset({"bulletList", "orderedList"})
# A list can follow its paragraph without a blank line only if it can interrupt one.
_INTERRUPTS = re.compile(r"(?:[-+*]|1[.)]) \S")
_MAX_ITEM_NUMBER = 999_999_999


def to_markdown(document: object) -> str:
    """Return CommonMark with tables and strikethrough, normalized as the module docstring describes."""
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
    """Return the nodes, with inline content between blocks wrapped in paragraphs."""
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
        level = integer(attributes(node).get("level"), default=2, least=1, most=6)
        text = inline_markdown(children(node), one_line=True)
        # Trailing "#" would be read as a closing sequence.
        if text.endswith("#") and not text.endswith("\\#"):
            text = text[:-1] + "\\#"
        return [f"{'#' * level} {text}".rstrip(" ")]
    if name == "blockquote":
        inner = _blocks(children(node), depth + 1) or [""]
        return [f"> {line}" if line else ">" for line in inner]
    if name == "codeBlock":
        return _code_block(node)
    if name == "horizontalRule":
        # Dashes and asterisks could be read as lists or underlines of headings.
        return ["___"]
    if name == "table":
        rows = [children(row) for row in children(node)]
        width = max((len(row) for row in rows), default=0)
        if not width:
            return []
        lines = [_row([_cell(cell, depth) for cell in row], width) for row in rows]
        aligns = [string(attributes(cell).get("align")) for cell in rows[0]]
        markers = {"left": ":---", "center": ":---:", "right": "---:"}
        lines.insert(1, _row([markers.get(align, "---") for align in aligns], width, fill="---"))
        return lines
    text = inline_markdown([{"type": "text", "text": gathered(node)}])
    return text.split("\n") if text else []


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
    """Return the lines of a list and its marker, which differs from that of the list right above."""
    items = [(_blocks(children(item), depth + 2) or [""]) for item in children(node)]
    if kind(node) == "orderedList":
        # With the same marker, the two lists would become one.
        sign = ")" if above == "." else "."
        start = integer(attributes(node).get("start"), default=1, least=0, most=_MAX_ITEM_NUMBER)
        markers = [f"{min(start + at, _MAX_ITEM_NUMBER)}{sign}" for at in range(len(items))]
    else:
        sign = _bullet([item[0] for item in items], above)
        markers = [sign] * len(items)
    lines: list[str] = []
    loose = any("" in item for item in items)
    for marker, item in zip(markers, items, strict=True):
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
    # The reader first removes one backslash before a pipe, then parses the cell.
    return "<br>".join(parts).replace("|", "\\|")


def _flat(node: Node, depth: int) -> list[str]:
    """Return the lines of a block in a table cell, which can hold only inline content."""
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
