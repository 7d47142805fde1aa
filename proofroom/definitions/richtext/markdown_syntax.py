"""The Markdown we read: CommonMark, tables, strikethrough and `<br>`; no HTML, nothing dropped."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_inline import StateInline

from proofroom.definitions.richtext.schema import MAX_CONTAINERS, MAX_QUOTES

BlockRule = Callable[[StateBlock, int, int, bool], bool]

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_ALT_OF_CONTAINERS = ["paragraph", "reference", "blockquote", "list"]


def parser() -> MarkdownIt:
    """A parser whose time is linear in its input; one may be shared."""
    # The library drops what is nested deeper than `maxNesting`, so our own limits come first.
    options = {"html": False, "maxNesting": MAX_CONTAINERS + 4}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    # `safe_href` alone judges addresses: a refused link must become its text, not its source.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    rules = markdown.block.ruler
    rules.at("blockquote", _shallow_quote, {"alt": _ALT_OF_CONTAINERS})
    rules.at("list", _shallow_list, {"alt": _ALT_OF_CONTAINERS[:3]})
    rules.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    markdown.inline.ruler.before("autolink", "line_break", _line_break)
    return markdown


def _shallow_list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return state.level < MAX_CONTAINERS and list_block(state, start, end, silent)


def _shallow_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    depth = state.env.get("quotes", 0)
    if state.level >= MAX_CONTAINERS or depth >= MAX_QUOTES:
        return False
    state.env["quotes"] = depth + 1
    try:
        return blockquote(state, start, end, silent)
    finally:
        state.env["quotes"] = depth


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table whose surplus cells join the last one: they would be dropped, with their text."""
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
            surplus = _cells(getLine(state, row))[width:]
            # A row ends: inline, td_close, tr_close.
            last = added[position - 2]
            last.content = " | ".join([last.content, *surplus]) if surplus else last.content
    return True


def _cells(line: str) -> list[str]:
    cells = escapedSplit(line.strip())
    if cells and cells[0] == "":
        cells.pop(0)
    if cells and cells[-1] == "":
        cells.pop()
    return [cell.strip() for cell in cells]


def _line_break(state: StateInline, silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True
