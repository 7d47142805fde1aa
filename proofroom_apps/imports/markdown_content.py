"""Reads Markdown of documentation sites: CommonMark with tables, HTML and other programs' extensions.

Unknown syntax stays in the text and is counted by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from proofroom.core.json import JsonObject
from proofroom.definitions.richtext.markdown_reader import parser
from proofroom_apps.imports.html_reader import (
    KNOWN_TAGS,
    EmbeddedFrame,
    blocks_of_html,
    count_dropped_html,
    count_simplified_html,
)
from proofroom_apps.imports.items import Remark, content_remarks
from proofroom_apps.imports.markdown_dialects import DialectReader, MarkdownSource

_TAG: Final = re.compile(r"</?([A-Za-z][\w.:-]*)")


@dataclass
class MarkdownContent:
    """The blocks of a text, counters of its unknown, simplified and left out parts, and its labels."""

    blocks: list[JsonObject | EmbeddedFrame] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    simpler: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    labels: list[str] = field(default_factory=list)

    def add(self, other: MarkdownContent) -> None:
        """Append another text."""
        self.blocks += other.blocks
        self.unknown += other.unknown
        self.simpler += other.simpler
        self.left_out += other.left_out
        self.labels += other.labels

    def remarks(self, place: str) -> list[Remark]:
        """Return the remarks on the text for the report."""
        counts = {"unknown": self.unknown, "left_out": self.left_out, "simpler": self.simpler}
        return list(content_remarks(place, **counts))

    def add_html(self, html: str, *, has_bare_lines: bool = False) -> None:
        """Append the blocks of HTML."""
        self.left_out += count_dropped_html(html)
        self.simpler += count_simplified_html(html)
        self.blocks += blocks_of_html(html, has_bare_lines=has_bare_lines)


def read_markdown(text: str, source: MarkdownSource | None = None) -> MarkdownContent:
    """Return the blocks of a Markdown text."""
    content = MarkdownContent()
    reader = DialectReader(
        source or MarkdownSource(),
        content.unknown,
        content.simpler,
        content.left_out,
        content.labels,
    )
    text = reader.read(text.replace("\r\n", "\n").replace("\r", "\n"))
    env: dict[str, object] = {"unknown": content.unknown}
    html = _renderer().render(text, env)
    content.add_html(html)
    return content


@cache
def _renderer() -> MarkdownIt:
    markdown = parser()
    markdown.options["html"] = True
    markdown.enable(["html_block", "html_inline"])
    markdown.add_render_rule("html_block", _render_html)
    markdown.add_render_rule("html_inline", _render_html)
    return markdown


def _render_html(
    renderer: object, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType
) -> str:
    """Render HTML unchanged, except unknown tags: they are text, such as `<your name>`."""
    html = tokens[number].content
    if html.startswith(("<!--", "<?", "<![CDATA[")):
        return html if html.startswith("<!--") else escape(html)
    unknown = env.get("unknown")

    def judge(found: re.Match[str]) -> str:
        tag = found[1].lower()
        if tag in ("svg", "math"):
            env["drawing"] = not found[0].startswith("</")
        # Elements in drawings and formulas are no HTML tags, but the HTML reader keeps their words.
        if env.get("drawing"):
            return found[0]
        if tag in KNOWN_TAGS:
            if (
                tag in ("iframe", "form", "video")
                and isinstance(unknown, Counter)
                and not found[0].startswith("</")
            ):
                unknown[f"element <{tag}>"] += 1
            return found[0]
        if isinstance(unknown, Counter) and not found[0].startswith("</"):
            unknown[f"element <{found[1]}>"] += 1
        return "&lt;" + found[0][1:]

    return _TAG.sub(judge, html)
