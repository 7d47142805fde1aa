"""Blocks that Word and code editors write as styled paragraphs: lists and lines of code.

The editor uses the same rules for pasted content (`frontend/richtext/src/paste.js`, `code.js`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from proofroom.definitions.richtext.nodes import script_text
from proofroom_apps.imports.html_elements import MARKS, HtmlElement

_LINES: Final = frozenset({"p", "div"})
_NOT_A_LINE: Final = (
    "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "hr", "img", "section", "article",
)  # fmt: skip
_MONOSPACE: Final = re.compile(
    r"font-family\s*:[^;]*(?:mono|courier|consolas|menlo|monaco|source code|fira code|lucida console|cascadia code)",
    re.IGNORECASE,
)
_KEEPS_SPACE: Final = re.compile(r"white-space\s*:\s*pre(?![\w-])", re.IGNORECASE)
_LINE_END: Final = re.compile(r"[\r\n][ \t\r\n]*")
_INDENTED: Final = re.compile(r"^(?: {2}|\t)", re.MULTILINE)
_WORD_ITEM: Final = re.compile(r"mso-list\s*:(?!\s*none)", re.IGNORECASE)
_WORD_MARKER: Final = re.compile(r"mso-list\s*:\s*Ignore", re.IGNORECASE)
_LEVEL: Final = re.compile(r"level(\d{1,3})", re.IGNORECASE)
_SIGN: Final = re.compile(r"^\s*(?:[·•◦▪o§]|\w{1,3}[.)])\s+")
_NUMBER: Final = re.compile(r"(\w{1,3})[.)]")
_MAX_LEVEL: Final = 9
LineKind = Literal["kept", "font", "blank", ""]
"""Feature that identifies a line of code; empty if it is not code."""


def _is_blank(node: HtmlElement | str) -> bool:
    return isinstance(node, str) and not node.strip()


def _style(node: HtmlElement) -> str:
    return node.attributes.get("style", "")


# Lists of Word.


def convert_word_lists(element: HtmlElement) -> None:
    """Replace paragraphs that Word wrote for list items with lists."""
    made: list[HtmlElement | str] = []
    open_lists: list[HtmlElement] = []
    for node in element.content:
        if isinstance(node, HtmlElement) and node.tag in _LINES and _is_word_item(node):
            _add_word_item(node, made, open_lists)
            continue
        if not _is_blank(node):
            open_lists = []
        if isinstance(node, HtmlElement) and node.content:
            convert_word_lists(node)
        made.append(node)
    element.content = made


def _is_word_item(node: HtmlElement) -> bool:
    return _WORD_ITEM.search(_style(node)) is not None


def _add_word_item(
    node: HtmlElement, made: list[HtmlElement | str], open_lists: list[HtmlElement]
) -> None:
    found = _LEVEL.search(_style(node))
    # Word may skip a level, but a list can only be nested in an item of the level above.
    level = min(int(found[1]) if found else 1, len(open_lists) + 1, _MAX_LEVEL) or 1
    marker = _NUMBER.match(_take_marker(node))
    tag = "ol" if marker else "ul"
    del open_lists[level:]
    # A change between bullets and numbers starts a new list.
    if len(open_lists) == level and open_lists[-1].tag != tag:
        open_lists.pop()
    if len(open_lists) < level:
        new = HtmlElement(tag)
        if marker and marker[1].isdecimal() and marker[1] != "1":
            new.attributes["start"] = marker[1]
        if open_lists:
            items = open_lists[-1].content
            item = items[-1] if items else None
            if not isinstance(item, HtmlElement):
                item = HtmlElement("li")
                items.append(item)
            item.content.append(new)
        else:
            made.append(new)
        open_lists.append(new)
    paragraph = HtmlElement("p", {}, node.content)
    open_lists[-1].content.append(HtmlElement("li", {}, [paragraph]))


def _take_marker(node: HtmlElement) -> str:
    """Remove the bullet or number of an item, and return it."""
    if (marker := _remove_marker(node)) is not None:
        return marker.text.strip()
    text = node.text.strip()
    first = node.content[0] if node.content else ""
    if isinstance(first, str):
        node.content[:1] = [_SIGN.sub("", first, count=1)]
    return text


def _remove_marker(node: HtmlElement) -> HtmlElement | None:
    for place, child in enumerate(node.content):
        if not isinstance(child, HtmlElement):
            continue
        if _WORD_MARKER.search(_style(child)):
            del node.content[place]
            return child
        if (found := _remove_marker(child)) is not None:
            return found
    return None


# Code.


def convert_code_lines(element: HtmlElement) -> None:
    """Replace consecutive lines in a monospace font with a code block."""
    if any(
        _may_be_code(one) for one in element.find("div", "p", "span", "font", "td", "b", "table")
    ):
        _join_code(element, is_monospace=False)


def _may_be_code(node: HtmlElement) -> bool:
    style = _style(node)
    is_styled = _MONOSPACE.search(style) or _KEEPS_SPACE.search(style)
    return bool(is_styled) or "blob-code" in node.classes


def _join_code(element: HtmlElement, *, is_monospace: bool) -> None:
    made: list[HtmlElement | str] = []
    run: list[tuple[HtmlElement, LineKind]] = []
    for node in element.content:
        if run and _is_blank(node):
            continue
        kind = _kind_of(node, is_monospace) if isinstance(node, HtmlElement) else ""
        if isinstance(node, HtmlElement) and kind and (run or kind != "blank"):
            run.append((node, kind))
            continue
        made += _joined(run)
        run = []
        if isinstance(node, HtmlElement):
            if node.tag == "table" and (lines := list(_source_lines(node))):
                node = _code("\n".join(line.text.removesuffix("\n") for line in lines))
            elif node.tag != "pre":
                _join_code(node, is_monospace=_has_monospace(node, is_monospace))
        made.append(node)
    element.content = [*made, *_joined(run)]


def _source_lines(table: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the lines of a file in GitHub's HTML."""
    return (cell for cell in table.find("td") if "blob-code" in cell.classes)


def _has_monospace(node: HtmlElement, inherited: bool) -> bool:
    style = _style(node)
    return _MONOSPACE.search(style) is not None if "font-family" in style.lower() else inherited


def _kind_of(node: HtmlElement, inherited: bool) -> LineKind:
    if node.tag not in _LINES:
        return ""
    is_kept = _KEEPS_SPACE.search(_style(node)) is not None
    if not (is_kept or _is_all_monospace(node, inherited)) or any(node.find(*_NOT_A_LINE)):
        return ""
    if is_kept:
        return "kept"
    return "font" if node.text.strip() else "blank"


def _is_all_monospace(node: HtmlElement, inherited: bool) -> bool:
    own = _has_monospace(node, inherited)
    return all(
        (own or not child.strip()) if isinstance(child, str) else _is_all_monospace(child, own)
        for child in node.content
    )


def _joined(run: Sequence[tuple[HtmlElement, LineKind]]) -> list[HtmlElement | str]:
    """Return lines as one code block. Lines with only a font are code if one is indented."""
    lines = list(run)
    while lines and lines[-1][1] == "blank":
        lines.pop()
    text = "\n".join(
        lines_of(node, keeps_space=kind == "kept").removesuffix("\n") for node, kind in lines
    ).replace("\xa0", " ")
    if any(kind == "kept" for _, kind in lines) or _INDENTED.search(text):
        return [_code(text)]
    return [node for node, _ in run]


def _code(text: str) -> HtmlElement:
    return HtmlElement("pre", {}, [text.replace("\xa0", " ").strip("\n")])


def lines_of(node: HtmlElement, *, keeps_space: bool) -> str:
    """Return the text of an element, with a line for each block and break."""
    text = ""
    has_lines = any(node.find(*_LINES))
    for child in node.content:
        if isinstance(child, str):
            is_between = has_lines and not child.strip() and ("\n" in child or "\r" in child)
            if not is_between:
                text += child if keeps_space else _LINE_END.sub(" ", child)
        elif child.tag == "br":
            text += "\n"
        elif child.tag in _LINES:
            text += "\n" if text and not text.endswith("\n") else ""
            text += lines_of(child, keeps_space=keeps_space)
            text += "" if text.endswith("\n") else "\n"
        else:
            inside = lines_of(child, keeps_space=keeps_space)
            text += script_text(inside, MARKS.get(child.tag, ""))
    return text
