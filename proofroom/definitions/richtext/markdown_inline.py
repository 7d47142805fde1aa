"""Inline runs as Markdown.

CommonMark opens and closes emphasis by the characters around its signs. Where those stand in the
way, the neighbouring character is written as a numeric entity, which counts as punctuation.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from proofroom.definitions.richtext.inline import TextMark, TextRun, runs, steps
from proofroom.definitions.richtext.nodes import Node

_SIGNS = {"bold": "**", "italic": "_", "strike": "~~"}
_SPECIAL = re.compile(r"[\\`*\[\]<~]|&(?=#?\w{1,32};)")
_AT_LINE_START = re.compile(r"[#>=:|]|[-+](?=[\s\-:|]|$)")
_NUMBERED = re.compile(r"(\d{1,9})([.)])")
_BREAK = "\\\n"


@dataclass
class _Piece:
    """A stretch of output: fixed, or text that may still need its edges written as entities."""

    text: str
    is_text: bool = False
    is_break: bool = False
    starts_line: bool = False
    hides_first: bool = False
    hides_last: bool = False

    def written(self) -> str:
        if not self.is_text:
            return self.text
        first = self.hides_first or (self.starts_line and self.text[0].isspace())
        last = self.hides_last and (len(self.text) > 1 or not first)
        middle = escaped(self.text)[int(first) : len(self.text) - int(last)]
        body = "".join(middle)
        if self.starts_line and not first:
            body = _NUMBERED.sub(r"\1\\\2", body, count=1) if _NUMBERED.match(body) else body
            body = "\\" + body if _AT_LINE_START.match(body) else body
        head = _entity(self.text[0]) if first else ""
        return head + body + (_entity(self.text[-1]) if last else "")


def escaped(text: str) -> list[str]:
    """The source of each character, so that Markdown reads it as itself inside a line."""
    source = list(text)
    for found in _SPECIAL.finditer(text):
        source[found.start()] = "\\" + found.group()
    at = text.find("_")
    while at != -1:
        # Inside a word an underscore is no sign; the outermost characters may become entities.
        inside = 2 <= at < len(text) - 2 and text[at - 1].isalnum() and text[at + 1].isalnum()
        if not inside:
            source[at] = "\\_"
        at = text.find("_", at + 1)
    return source


def inline_markdown(nodes: Sequence[Node], *, one_line: bool = False) -> str:
    """The Markdown of inline nodes; `one_line` writes breaks as `<br>`, for headings and cells."""
    found = runs(nodes)
    pieces: list[_Piece] = []
    previous: _Piece | None = None
    for at, step in enumerate(steps(found)):
        piece = _piece(step.run, one_line or at in {0, len(found) - 1}) if step.run else None
        signs = "".join(_closing(mark) for mark in step.closes)
        signs += "".join(
            ("[" if mark.kind == "link" else _SIGNS.get(mark.kind, "")) for mark in step.opens
        )
        # Decide which edges of the texts around a change of marks must be entities.
        closes = [_SIGNS[mark.kind] for mark in step.closes if mark.kind in _SIGNS]
        opens = [_SIGNS[mark.kind] for mark in step.opens if mark.kind in _SIGNS]
        linked = any(mark.kind == "link" for mark in (*step.closes, *step.opens))
        at_edge = piece is None or piece.is_break
        if previous and previous.is_text and previous.text[-1].isspace() and (closes or at_edge):
            previous.hides_last = True
        if piece and piece.is_text and piece.text[0].isspace() and opens:
            piece.hides_first = True
        hides_right = closes and not opens and not linked and not _plain_edge(closes, previous, -1)
        if hides_right and piece and piece.is_text and not _is_neutral(piece.text[0]):
            piece.hides_first = True
        hides_left = opens and not closes and not linked and not _plain_edge(opens, piece, 0)
        if hides_left and previous and previous.is_text and not _is_neutral(previous.text[-1]):
            previous.hides_last = True
        if previous and previous.is_text and signs.startswith("[") and previous.text[-1] == "!":
            previous.hides_last = True
        if signs:
            pieces.append(_Piece(signs))
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
        return _Piece(f"![{alt}]({_target(run.src, run.title)})")
    return _Piece(_code(run.text)) if run.is_code else _Piece(run.text, is_text=True)


def _plain_edge(signs: list[str], inner: _Piece | None, edge: int) -> bool:
    """Return whether signs hold whatever stands outside: one sign next to a letter that stays a letter."""
    if len(signs) > 1 or signs[0] == "_" or inner is None or not inner.is_text:
        return False
    return len(inner.text) > 1 and inner.text[edge].isalnum()


def _is_neutral(char: str) -> bool:
    return char == " " or char in string.punctuation


def _entity(char: str) -> str:
    return f"&#{ord(char)};"


def _closing(mark: TextMark) -> str:
    if mark.kind == "link":
        return f"]({_target(mark.href, mark.title)})"
    return _SIGNS.get(mark.kind, "")


def _target(href: str, title: str) -> str:
    address = re.sub(r"&(?=#?\w{1,32};)", r"\\&", href)
    if "(" in address or ")" in address:
        address = f"<{address}>"
    if not title:
        return address
    quoted = re.sub(r'[\\"]|&(?=#?\w{1,32};)', lambda found: "\\" + found.group(), title)
    return f'{address} "{quoted}"'


def _code(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    # One space on each side is taken off by the reader.
    padded = "`" in {text[0], text[-1]} or (text[0] == text[-1] == " " and len(text) > 2)
    fence = "`" * (longest + 1)
    return fence + (f" {text} " if padded else text) + fence
