"""Formulas of HTML (MathML) as text with superscripts and subscripts."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from typing import Final

_START: Final = re.compile(r"<math(?=[\s>])[^<>]*>", re.IGNORECASE)
_END: Final = re.compile(r"</math\s*>", re.IGNORECASE)
_TAGS: Final = re.compile(
    r"</?(?:math|m[inos]|mtext|mrow|msub|msup|msubsup|mfrac|msqrt|mroot|mover|munder|munderover|semantics)(?=[\s>])[^<>]*>",
    re.IGNORECASE,
)
_LEFT_OUT: Final = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_EMPTY: Final = frozenset({"mspace", "none", "mprescripts", "malignmark", "maligngroup"})
_SPACED: Final = frozenset("=≠≈≡≅∼∝<>≤≥≪≫+−-–±∓×÷→←↔⇒⇐⇔∈∉⊂⊆∪∩∧∨∥⊥")
_INVISIBLE: Final = frozenset("\u2061\u2062\u2063\u2064")
_MAX_DEPTH: Final = 60


class _FormulaElement:
    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.content: list[_FormulaElement | str] = []


class _FormulaParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = _FormulaElement("mrow")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = _FormulaElement(tag)
        self.open[-1].content.append(element)
        # Deeper elements become siblings, since `_html_of` is recursive.
        if tag not in _EMPTY and len(self.open) < _MAX_DEPTH:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].content.append(_FormulaElement(tag))

    def handle_endtag(self, tag: str) -> None:
        if len(self.open) > 1 and self.open[-1].tag == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def has_formula(html: str) -> bool:
    return _START.search(html) is not None


def with_formulas_as_text(html: str) -> str:
    """Return the HTML with formulas as text: `<math>…</math>` becomes `x<sup>2</sup> = 4`.

    The HTML parser would remove formulas with their text. An unclosed formula stays text.
    """
    parts: list[str] = []
    at = 0
    while (start := _START.search(html, at)) is not None:
        parts.append(html[at : start.start()])
        end = _END.search(html, start.end())
        if end is None:
            # No further formula is closed, so stop searching.
            return "".join([*parts, _TAGS.sub("", html[start.start() :])])
        parser = _FormulaParser()
        parser.feed(html[start.end() : end.start()])
        parser.close()
        text = " ".join(_html_of(parser.root).split())
        if not text:
            found_alt = re.search(r"""\balttext\s*=\s*(?:"([^"]*)"|'([^']*)')""", start[0])
            text = (found_alt[1] or found_alt[2] or "") if found_alt else ""
        parts.append(text)
        at = end.end()
    return "".join([*parts, html[at:]])


def _html_of(element: _FormulaElement) -> str:
    tag = element.tag
    if tag in _LEFT_OUT:
        return ""
    if tag in ("mi", "mn", "mtext", "ms", "mo"):
        text = "".join(
            part if isinstance(part, str) else _html_of(part) for part in element.content
        )
        return escape("".join(char for char in text.strip() if char not in _INVISIBLE), quote=False)
    inner = [part for part in element.content if not isinstance(part, str)]
    parts = [_html_of(part) for part in inner]
    match tag, len(parts):
        # The first child is the formula, the others are annotations of it.
        case "semantics", count if count:
            return parts[0]
        case (("msup" | "mover"), 2):
            return f"{parts[0]}<sup>{parts[1]}</sup>"
        case (("msub" | "munder"), 2):
            return f"{parts[0]}<sub>{parts[1]}</sub>"
        case (("msubsup" | "munderover"), 3):
            return f"{parts[0]}<sub>{parts[1]}</sub><sup>{parts[2]}</sup>"
        case "mfrac", 2:
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "mroot", 2:
            return f"<sup>{parts[1]}</sup>√{_grouped(parts[0])}"
        case "msqrt", _:
            return f"√{_grouped(_row(element, inner, parts))}"
        case "mfenced", _:
            return f"({', '.join(parts)})"
        case "mtable", _:
            return f"({'; '.join(parts)})"
        case "mtr", _:
            return ", ".join(parts)
    return _row(element, inner, parts)


def _row(element: _FormulaElement, inner: list[_FormulaElement], parts: list[str]) -> str:
    """Return the parts of a row, with spaces around operators between two parts."""
    if not inner:
        return escape("".join(str(part) for part in element.content).strip(), quote=False)
    found: list[str] = []
    for number, (part, html) in enumerate(zip(inner, parts, strict=True)):
        is_operator = part.tag == "mo"
        follows_operator = number == 0 or inner[number - 1].tag == "mo"
        if is_operator and html == ",":
            found.append(", ")
        elif is_operator and not follows_operator and _unescaped(html) in _SPACED:
            found.append(f" {html} ")
        else:
            found.append(html)
    return "".join(found)


def _unescaped(html: str) -> str:
    return {"&lt;": "<", "&gt;": ">"}.get(html, html)


def _grouped(html: str) -> str:
    is_single = re.fullmatch(r"\w+", html) is not None
    return html if is_single else f"({html})"
