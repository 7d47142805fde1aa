"""The inline content of a block as runs: marks in one fixed order, equal neighbours joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.nodes import Node, attributes, gathered, kind, one_line, string

MARK_ORDER = ("link", "bold", "italic", "strike", "code")
"""Outermost first."""


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

    @property
    def is_code(self) -> bool:
        return any(mark.kind == "code" for mark in self.marks)


@dataclass(frozen=True)
class MarkedRun:
    """Before `run`, the marks that end (innermost first) and those that begin (outermost first).

    The last step of a block has no run.
    """

    closes: tuple[TextMark, ...]
    opens: tuple[TextMark, ...]
    run: TextRun | None


def runs(nodes: Sequence[Node]) -> list[TextRun]:
    """The runs of inline nodes. Unsafe links lose the link, unsafe images become their text."""
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
    return [_marked_break(joined, at) for at in range(len(joined))]


def steps(found: Sequence[TextRun]) -> Iterator[MarkedRun]:
    """The runs with the marks that change around them; a mark stays open as long as it lasts."""
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
        alt, title = one_line(string(attrs.get("alt"))), one_line(string(attrs.get("title")))
        if src := safe_src(attrs.get("src")):
            links = tuple(mark for mark in marks if mark.kind == "link")
            return TextRun("image", alt, links, src, title)
        return TextRun("text", alt, marks)
    text = string(node.get("text")) if kind(node) == "text" else gathered(node)
    return TextRun("text", one_line(text), marks)


def _marks(value: Json) -> tuple[TextMark, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    found: dict[str, TextMark] = {}
    for item in value:
        if isinstance(item, dict) and (mark := _mark(item)):
            found.setdefault(mark.kind, mark)
    return tuple(found[name] for name in MARK_ORDER if name in found)


def _mark(item: Node) -> TextMark | None:
    if kind(item) != "link":
        return TextMark(kind(item))
    attrs = attributes(item)
    href = safe_href(attrs.get("href"))
    if href is None:
        return None
    title = one_line(string(attrs.get("title")))
    return TextMark("link", href, title, attrs.get("target") == "_blank")


def _marked_break(found: Sequence[TextRun], at: int) -> TextRun:
    # A break takes the marks its neighbours share, so that a link over two lines stays one link.
    run = found[at]
    if run.kind != "hardBreak" or not 0 < at < len(found) - 1:
        return run
    shared = _shared(found[at - 1].marks, found[at + 1].marks)
    return replace(run, marks=tuple(mark for mark in shared if mark.kind != "code"))


def _shared(left: Sequence[TextMark], right: Sequence[TextMark]) -> tuple[TextMark, ...]:
    pairs = zip(left, right, strict=False)
    return tuple(mark for mark, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
