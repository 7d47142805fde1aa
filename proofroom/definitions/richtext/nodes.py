"""Reads a stored document without trusting its shape, because invalid data must not break a page.

Provides its nodes, the inline content of a block as runs (marks in a fixed order, equal neighbours joined), and its
plain text for search, word counts, descriptions and line diffs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions.richtext.links import safe_href, safe_src

MAX_DEPTH = 24
"""Levels of nested nodes. The document is level 0."""


INLINE = ("text", "image", "hardBreak")
IMAGE_ALIGNMENTS = ("left", "center", "right", "full")
"""`full` is the whole width of the page. Text flows around images on the left and right."""
IMAGE_SIZES = ("small", "medium", "full")
"""Widths of an image in the text: a third, two thirds, all of it."""


Node = Mapping[str, Json]

# Control characters are never stored: databases refuse some, and Markdown cannot express others.
_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_CONTROLS_IN_LINE = {code: char for code, char in _CONTROLS.items() if code != 0x09}
_CONTROLS_IN_CODE = {code: char for code, char in _CONTROLS_IN_LINE.items() if code != 0x0A}


def kind(node: Node) -> str:
    value = node.get("type")
    return value if isinstance(value, str) else ""


def children(node: Node) -> list[Node]:
    value = node.get("content")
    # Values from JSON have exact types. Checking the abstract classes takes ten times as long.
    if type(value) is not list and (isinstance(value, str) or not isinstance(value, Sequence)):
        return []
    return [child for child in value if type(child) is dict or isinstance(child, Mapping)]


def attributes(node: Node) -> Node:
    value = node.get("attrs")
    return value if isinstance(value, Mapping) else {}


def string(value: Json) -> str:
    """Return the value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def integer(value: Json, *, default: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    return min(max(value, least), most)


def one_line(text: str) -> str:
    """Return the text with all control characters except tabs as spaces."""
    return text if text.isprintable() else text.translate(_CONTROLS_IN_LINE)


def code_lines(text: str) -> str:
    """Return the text of a code block: control characters as spaces, except line breaks and tabs."""
    return text.translate(_CONTROLS_IN_CODE)


def has_controls(text: str) -> bool:
    """Return True if a text has control characters other than tab and line break."""
    return code_lines(text) != text


def gathered(node: Node) -> str:
    """Return all text below a node of any shape and depth, separated by spaces."""
    found: list[str] = []
    # A stack instead of recursion, because the depth of invalid data is not limited.
    pending = [node]
    while pending:
        current = pending.pop()
        texts = [current.get("text"), *map(attributes(current).get, ("alt", "caption"))]
        found.extend(text for text in map(string, texts) if text)
        pending.extend(reversed(children(current)))
    return " ".join(found)


MARK_ORDER = ("link", "bold", "italic", "strike", "superscript", "subscript", "code")
"""Marks, outermost first."""

_SCRIPTS = {
    "superscript": ("^", dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))),
    "subscript": ("_", dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))),
}
"""By mark: the sign for plain text, and the Unicode forms of characters."""
SCRIPT_SIGNS = {name: sign for name, (sign, _) in _SCRIPTS.items()}


def script_text(text: str, name: str) -> str:
    """Return superscript or subscript as plain text, such as `⁶` or `^x`; other marks leave the text unchanged.

    Words such as the `st` of an ordinal stay plain; a single letter may be an exponent.
    """
    if name not in _SCRIPTS or (len(text) > 1 and text.isalpha()) or not text.strip():
        return text
    sign, forms = _SCRIPTS[name]
    if all(char in forms for char in text):
        return "".join(forms[char] for char in text)
    return sign + text


@dataclass(frozen=True)
class TextMark:
    kind: str
    href: str = ""
    title: str = ""
    new_tab: bool = False


@dataclass(frozen=True)
class TextRun:
    """A stretch of text, an image (`text` is its alternative text) or a line break."""

    kind: Literal["text", "image", "hardBreak"]
    text: str = ""
    marks: tuple[TextMark, ...] = ()
    src: str = ""
    title: str = ""
    caption: str = ""
    align: str = ""
    size: str = ""

    @property
    def is_figure(self) -> bool:
        """Whether an image stands between paragraphs instead of in a line of text."""
        return bool(self.caption or self.align or self.size)

    @property
    def plain(self) -> str:
        """The text where marks cannot be shown."""
        text = self.text
        if self.caption:
            return f"{text} {self.caption}" if text else self.caption
        for mark in self.marks:
            text = script_text(text, mark.kind)
        return text

    @property
    def is_code(self) -> bool:
        return any(mark.kind == "code" for mark in self.marks)


@dataclass(frozen=True)
class MarkedRun:
    """A run with the marks that end before it (innermost first) and that begin (outermost first).

    The last step of a block has no run.
    """

    closes: tuple[TextMark, ...]
    opens: tuple[TextMark, ...]
    run: TextRun | None


def runs(nodes: Sequence[Node]) -> list[TextRun]:
    """Return the runs of inline nodes. Unsafe links lose the link, unsafe images become their text."""
    joined: list[TextRun] = []
    for node in nodes:
        run = _run(node)
        if run.kind == "text" and not run.text:
            continue
        last = joined[-1] if joined else None
        if last and last.kind == run.kind == "text" and last.marks == run.marks:
            joined[-1] = replace(last, text=last.text + run.text)
        else:
            joined.append(run)
    marked: list[TextRun] = []
    for at, run in enumerate(joined):
        if run.kind != "hardBreak" or not 0 < at < len(joined) - 1:
            marked.append(run)
            continue
        # A break gets the marks its neighbours share, so that a link over two lines stays one link.
        shared = _shared(joined[at - 1].marks, joined[at + 1].marks)
        marked.append(replace(run, marks=tuple(mark for mark in shared if mark.kind != "code")))
    return marked


def steps(found: Sequence[TextRun]) -> Iterator[MarkedRun]:
    """Yield the runs with the marks that change around them. A mark stays open as long as possible."""
    current: tuple[TextMark, ...] = ()
    for run in found:
        shared = len(_shared(current, run.marks))
        yield MarkedRun(tuple(reversed(current[shared:])), run.marks[shared:], run)
        current = run.marks
    yield MarkedRun(tuple(reversed(current)), (), None)


def _run(node: Node) -> TextRun:
    marks = _marks(node.get("marks"))
    if kind(node) == "hardBreak":
        return TextRun("hardBreak")
    if kind(node) == "image":
        attrs = attributes(node)
        alt, title, caption = (
            one_line(string(attrs.get(name))) for name in ("alt", "title", "caption")
        )
        if src := safe_src(attrs.get("src")):
            links = tuple(mark for mark in marks if mark.kind == "link")
            align, size = string(attrs.get("align")), string(attrs.get("size"))
            return TextRun(
                "image",
                alt,
                links,
                src,
                title,
                caption,
                align if align in IMAGE_ALIGNMENTS else "",
                size if size in IMAGE_SIZES else "",
            )
        return TextRun("text", " ".join(filter(None, (alt, caption))), marks)
    text = string(node.get("text")) if kind(node) == "text" else gathered(node)
    return TextRun("text", one_line(text), marks)


def _marks(value: Json) -> tuple[TextMark, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    found: dict[str, TextMark] = {}
    for item in value:
        if not isinstance(item, dict):
            continue
        if kind(item) != "link":
            found.setdefault(kind(item), TextMark(kind(item)))
            continue
        attrs = attributes(item)
        href = safe_href(attrs.get("href"))
        if href is not None:
            title = one_line(string(attrs.get("title")))
            mark = TextMark("link", href, title, attrs.get("target") == "_blank")
            found.setdefault("link", mark)
    return tuple(found[name] for name in MARK_ORDER if name in found)


def _shared(left: Sequence[TextMark], right: Sequence[TextMark]) -> tuple[TextMark, ...]:
    pairs = zip(left, right, strict=False)
    return tuple(mark for mark, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def to_text(document: object) -> str:
    """Return the text: blocks separated by a blank line, cells by a tab, images as their description."""
    if not isinstance(document, dict):
        return ""
    return "\n\n".join(_blocks(children(document), 1))


def blocks(document: object) -> list[str]:
    """Return one line per top-level block, also for blocks without text, for line diffs."""
    if not isinstance(document, dict):
        return []
    lines: list[str] = []
    for node in children(document):
        line = " ".join(" ".join(_block(node, 1)).split())
        if not line and kind(node) == "horizontalRule":
            line = "---"
        elif not line:
            images = (child for child in (node, *children(node)) if kind(child) == "image")
            source = next((string(attributes(image).get("src")) for image in images), "")
            line = f"[image {source}]" if source else ""
        lines.append(line)
    return lines


def _blocks(nodes: Sequence[Node], depth: int) -> list[str]:
    return [text for node in nodes for text in _block(node, depth) if text]


def _block(node: Node, depth: int) -> list[str]:
    name = kind(node)
    if depth >= MAX_DEPTH:
        return [gathered(node)]
    if name in {"paragraph", "heading"} or name in INLINE:
        found = runs([node] if name in INLINE else children(node))
        return ["".join("\n" if run.kind == "hardBreak" else run.plain for run in found)]
    if name == "codeBlock":
        return [code_lines("".join(string(child.get("text")) for child in children(node)))]
    if name in {"bulletList", "orderedList"}:
        # The items of a list are lines, not paragraphs.
        return ["\n".join(_blocks(children(node), depth + 1))]
    if name == "table":
        rows = (
            (" ".join(_blocks(children(cell), depth + 3)) for cell in children(row))
            for row in children(node)
        )
        return ["\n".join("\t".join(cells) for cells in rows)]
    if name in {"listItem", "blockquote"}:
        return _blocks(children(node), depth + 1)
    return [gathered(node)]
