"""Markdown to the stored form. Raw HTML is read as text, except `<br>`, `<sup>` and `<sub>`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.nodes import (
    IMAGE_ALIGNMENTS,
    IMAGE_SIZES,
    MARK_ORDER,
    SCRIPT_SIGNS,
    code_lines,
    one_line,
)
from proofroom.definitions.richtext.schema import (
    ALIGNMENTS,
    EMPTY,
    LANGUAGE,
    MAX_CONTAINERS,
    MAX_QUOTES,
    MAX_WORDS,
)

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_SCRIPT_TAG = re.compile(r"<(/?)(sup|sub)>", re.IGNORECASE)
_IMAGE_ATTRIBUTE = r"(?:(?:align|size)=[a-z]+|caption=\"(?:[^\"\\]|\\.)*\")"
_IMAGE_ATTRIBUTES = re.compile(rf"\{{({_IMAGE_ATTRIBUTE}(?: {_IMAGE_ATTRIBUTE}){{0,2}})\}}")
_NAME_AND_VALUE = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\w+))')
_ALT_OF_CONTAINERS = ["paragraph", "reference", "blockquote", "list"]


def parser() -> MarkdownIt:
    """Return a parser with linear run time. It can be shared."""
    # The library drops content nested deeper than `maxNesting`, so our own limits must apply first.
    options = {"html": False, "maxNesting": MAX_CONTAINERS + 4}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    # Only `safe_href` decides on URLs: a refused link must become its text, not its Markdown source.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    rules = markdown.block.ruler
    rules.at("blockquote", _limited_quote, {"alt": _ALT_OF_CONTAINERS})
    rules.at("list", _limited_list, {"alt": _ALT_OF_CONTAINERS[:3]})
    rules.at("table", _table_with_all_cells, {"alt": ["paragraph", "reference"]})
    markdown.inline.ruler.before("autolink", "line_break", _line_break)
    markdown.inline.ruler.before("autolink", "script_tag", _script_tag)
    markdown.inline.ruler.before("autolink", "image_attributes", _image_attributes)
    return markdown


def _limited_list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return state.level < MAX_CONTAINERS and list_block(state, start, end, silent)


def _limited_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    depth = state.env.get("quotes", 0)
    # Parsing takes extra time for each level of quotes.
    if state.level >= MAX_CONTAINERS or depth >= MAX_QUOTES:
        return False
    state.env["quotes"] = depth + 1
    try:
        return blockquote(state, start, end, silent)
    finally:
        state.env["quotes"] = depth


def _table_with_all_cells(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table. Surplus cells join the last one; the library would drop them with their text."""
    first = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    added = state.tokens[first:]
    width = sum(token.type == "th_open" for token in added)
    row = -1
    for position, token in enumerate(added):
        if token.type == "tr_open" and token.map:
            row = token.map[0]
        elif token.type == "tr_close" and row > start:
            cells = escapedSplit(getLine(state, row).strip())
            if cells and cells[0] == "":
                cells.pop(0)
            if cells and cells[-1] == "":
                cells.pop()
            surplus = [cell.strip() for cell in cells][width:]
            # A row ends with the tokens inline, td_close, tr_close.
            last = added[position - 2]
            last.content = " | ".join([last.content, *surplus]) if surplus else last.content
    return True


def _line_break(state: StateInline, silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _script_tag(state: StateInline, silent: bool) -> bool:
    found = _SCRIPT_TAG.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        tag = found[2].lower()
        token = state.push(f"{tag}_close" if found[1] else f"{tag}_open", tag, 0)
        token.nesting = -1 if found[1] else 1
        token.markup = found[0]
    state.pos = found.end()
    return True


def _image_attributes(state: StateInline, silent: bool) -> bool:
    """Read `{align=left size=small caption="A cup"}` right after an image. Anything else in braces is text."""
    # `pending` is text after the last token. In silent mode there are no tokens, but then nothing is stored either.
    last = state.tokens[-1] if state.tokens and not state.pending else None
    if silent or last is None or last.type != "image" or "layout" in last.meta:
        return False
    found = _IMAGE_ATTRIBUTES.match(state.src, state.pos, state.posMax)
    layout = _layout_of(found[1]) if found else None
    if found is None or layout is None:
        return False
    last.meta["layout"] = layout
    state.pos = found.end()
    return True


def _layout_of(source: str) -> JsonObject | None:
    """Return the attributes of an image, or None if a name occurs twice or a value is unknown."""
    layout: JsonObject = {}
    for name, quoted, word in _NAME_AND_VALUE.findall(source):
        value = one_line(unescapeAll(quoted)) if quoted else word
        allowed = {"align": IMAGE_ALIGNMENTS, "size": IMAGE_SIZES}.get(name)
        if name in layout or (allowed and value not in allowed) or len(value) > MAX_WORDS:
            return None
        layout[name] = value
    return {name: value for name, value in layout.items() if value}


_PARSER = parser()
_MARKS = {
    "strong": "bold",
    "em": "italic",
    "s": "strike",
    "sup": "superscript",
    "sub": "subscript",
}
_CONTAINERS = {
    "paragraph": "paragraph",
    "heading": "heading",
    "bullet_list": "bulletList",
    "ordered_list": "orderedList",
    "list_item": "listItem",
    "blockquote": "blockquote",
    "table": "table",
    "tr": "tableRow",
    "th": "tableHeader",
    "td": "tableCell",
}
_NEEDS_PARAGRAPH = frozenset({"blockquote", "tableHeader", "tableCell"})


def from_markdown(text: str) -> JsonObject:
    """Return a valid document for any text. Refused links and images become their text."""
    root: JsonObject = {"type": "doc"}
    stack: list[tuple[JsonObject, list[Json]]] = [(root, [])]
    for token in _PARSER.parse(code_lines(text.replace("\r\n", "\n").replace("\r", "\n"))):
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.nesting == 1 and name in _CONTAINERS:
            stack.append((_container(_CONTAINERS[name], token), []))
        elif token.nesting == -1 and name in _CONTAINERS:
            node, content = stack.pop()
            _close(node, content, stack[-1][1])
        elif token.type == "inline":
            parent, siblings = stack[-1]
            inline = _Inline().read(token.children or [])
            if parent["type"] in {"tableHeader", "tableCell"}:
                siblings.append(
                    {"type": "paragraph", "content": inline} if inline else _paragraph()
                )
            else:
                siblings.extend(inline)
        elif token.nesting == 0:
            stack[-1][1].append(_leaf(token))
    blocks = stack[0][1]
    return {"type": "doc", "content": blocks} if blocks else deepcopy(EMPTY)


def _container(name: str, token: Token) -> JsonObject:
    if name == "heading":
        return {"type": name, "attrs": {"level": int(token.tag[1:])}}
    if name == "orderedList":
        start = token.attrGet("start")
        return {"type": name, "attrs": {"start": 1 if start is None else int(start)}}
    align = str(token.attrGet("style") or "").removeprefix("text-align:")
    if name in {"tableHeader", "tableCell"} and align in ALIGNMENTS:
        return {"type": name, "attrs": {"align": align}}
    return {"type": name}


def _close(node: JsonObject, content: list[Json], siblings: list[Json]) -> None:
    name = node["type"]
    if name == "paragraph" and not content:
        return
    if name == "listItem":
        # The schema requires a paragraph first, also in an item that begins with a list or a code block.
        first = content[0] if content else None
        if not isinstance(first, dict) or first.get("type") != "paragraph":
            content.insert(0, _paragraph())
    if name in _NEEDS_PARAGRAPH and not content:
        content.append(_paragraph())
    if content:
        node["content"] = content
    siblings.append(node)


def _leaf(token: Token) -> JsonObject:
    if token.type == "hr":
        return {"type": "horizontalRule"}
    language = LANGUAGE.match(token.info.strip())
    node: JsonObject = {
        "type": "codeBlock",
        "attrs": {"language": language.group() if language else None},
    }
    if text := code_lines(token.content).removesuffix("\n"):
        node["content"] = [{"type": "text", "text": text}]
    return node


def _paragraph() -> JsonObject:
    return {"type": "paragraph"}


class _Inline:
    """Reads the inline tokens of one block."""

    def __init__(self) -> None:
        self.content: list[Json] = []
        self.depths: Counter[str] = Counter()
        self.links: list[JsonObject | None] = []
        self.last: list[str] = []
        """Parts of the current text. They are joined once at the end, because each join copies the text."""

    def read(self, tokens: Sequence[Token]) -> list[Json]:
        unmatched = _unmatched_tags(tokens)
        for number, token in enumerate(tokens):
            if number in unmatched:
                self._text(token.markup)
            else:
                self._token(token)
        self._end_text()
        return self.content

    def _token(self, token: Token) -> None:
        name = token.type.removesuffix("_open").removesuffix("_close")
        if name in _MARKS:
            # A nested mark of the same kind cannot be stored. Its sign keeps the meaning in the text.
            if token.nesting == 1 and self.depths[_MARKS[name]]:
                self._text(SCRIPT_SIGNS.get(_MARKS[name], ""))
            self.depths[_MARKS[name]] += token.nesting
        elif token.type == "link_open":
            self.links.append(_link(token))
        elif token.type == "link_close":
            self.links.pop()
        elif token.type == "hardbreak":
            self._end_text()
            self.content.append({"type": "hardBreak"})
        elif token.type == "image":
            self._image(token)
        elif token.type == "code_inline":
            self._text(token.content, ("code",))
        else:
            self._text(" " if token.type == "softbreak" else token.content)

    def _text(self, text: str, extra: tuple[str, ...] = ()) -> None:
        text = one_line(text)
        if not text:
            return
        marks = self._marks(extra)
        last = self.content[-1] if self.content else None
        if isinstance(last, dict) and last["type"] == "text" and last.get("marks", []) == marks:
            self.last.append(text)
            return
        self._end_text()
        node: JsonObject = {"type": "text", "text": ""}
        if marks:
            node["marks"] = marks
        self.content.append(node)
        self.last = [text]

    def _end_text(self) -> None:
        last = self.content[-1] if self.content else None
        if self.last and isinstance(last, dict):
            last["text"] = "".join(self.last)
        self.last = []

    def _image(self, token: Token) -> None:
        alt = _plain(token.children or [])
        src = safe_src(token.attrGet("src"))
        if src is None or len(alt) > MAX_WORDS:
            caption = str(token.meta.get("layout", {}).get("caption", ""))
            self._text(" ".join(filter(None, (alt, caption))))
            return
        attrs: JsonObject = {"src": src, "alt": alt}
        if title := one_line(str(token.attrGet("title") or "")):
            attrs["title"] = title[:MAX_WORDS]
        attrs |= token.meta.get("layout", {})
        node: JsonObject = {"type": "image", "attrs": attrs}
        if links := [mark for mark in self._marks(()) if mark["type"] == "link"]:
            node["marks"] = links
        self._end_text()
        self.content.append(node)

    def _marks(self, extra: tuple[str, ...]) -> list[JsonObject]:
        found: list[JsonObject] = [link for link in self.links[-1:] if link]
        names = MARK_ORDER[1:]
        found += [{"type": name} for name in names if self.depths[name] > 0 or name in extra]
        return found


def _unmatched_tags(tokens: Sequence[Token]) -> set[int]:
    """Return the positions of `<sup>` and `<sub>` tags without a partner. They become text."""
    open_positions: dict[str, list[int]] = {"sup": [], "sub": []}
    unmatched: set[int] = set()
    for number, token in enumerate(tokens):
        if token.type in ("sup_open", "sub_open"):
            open_positions[token.tag].append(number)
        elif token.type in ("sup_close", "sub_close"):
            if open_positions[token.tag]:
                open_positions[token.tag].pop()
            else:
                unmatched.add(number)
    return unmatched.union(*open_positions.values())


def _link(token: Token) -> JsonObject | None:
    href = safe_href(token.attrGet("href"))
    if href is None:
        return None
    attrs: JsonObject = {"href": href}
    if title := one_line(str(token.attrGet("title") or "")):
        attrs["title"] = title[:MAX_WORDS]
    return {"type": "link", "attrs": attrs}


def _plain(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    for token in tokens:
        if token.type == "image":
            parts.append(_plain(token.children or []))
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        else:
            parts.append(token.markup if token.tag in ("sup", "sub") else token.content)
    return one_line("".join(parts))
