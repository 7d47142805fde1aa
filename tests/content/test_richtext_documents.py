"""Real documentation survives import, export and import."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import to_text
from proofroom.definitions.richtext.schema import validate

ROOT = Path(__file__).parents[3] / "shared" / "data" / "markdown"
"""The documents are not part of the project; they are next to the checkout."""
DOCUMENTS = sorted(path for path in ROOT.rglob("*") if path.is_file())
pytestmark = pytest.mark.skipif(
    not DOCUMENTS, reason="The documents that these tests read are not in ../shared/data here."
)


class Page(HTMLParser):
    """The executable parts and the visible text for a browser."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self.tags: Counter[str] = Counter()
        self.shown: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in {"a", "strong", "em", "s", "code"}:
            self.shown.append(" ")
        self.shown.append(dict(attrs).get("alt") or "")
        if tag in {"script", "style", "iframe", "object", "embed", "svg", "form", "base", "meta"}:
            self.active.append(tag)
        for name, value in attrs:
            scheme = re.sub(r"[\s\x00-\x1f]", "", value or "").lower().partition(":")[0]
            unsafe = name in {"href", "src"} and scheme in {"javascript", "data", "vbscript"}
            if name.startswith("on") or name in {"style", "srcdoc"} or unsafe:
                self.active.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def words_of_tokens(tokens: list[Token]) -> list[str]:
    """Return the text found by another reader: the parser's own tokens in its default configuration."""
    parts: list[str] = []
    for token in tokens:
        if token.type == "inline":
            parts += [" ", *inline_text(token.children or []), " "]
        elif token.type in {"fence", "code_block"}:
            parts += [" ", token.content, " "]
    return "".join(parts).split()


def inline_text(tokens: list[Token]) -> list[str]:
    parts: list[str] = []
    for token in tokens:
        if token.type == "image":
            parts += inline_text(token.children or [])
        else:
            parts.append(" " if token.type in {"softbreak", "hardbreak"} else token.content)
    return parts


def independent_words(text: str) -> list[str]:
    plain = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return words_of_tokens(plain.parse(text))


def test_all_documents_are_here() -> None:
    assert len(DOCUMENTS) == 86


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_loses_no_text_and_gains_no_active_content(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    expected = independent_words(source.replace("<br>", " ").replace("<br/>", " "))
    assert len(expected) > 5

    document = from_markdown(source)
    back = to_markdown(document)
    page = Page(to_html(document, heading_ids=set()))

    assert validate(document) == []
    assert to_text(document).split() == expected
    assert from_markdown(back) == document
    assert page.active == []
    assert "".join(page.shown).split() == expected


def test_raw_html_of_a_document_stays_as_text() -> None:
    source = (ROOT / "monitoring-docs" / "api.md").read_text(encoding="utf-8")

    page = Page(to_html(from_markdown(source)))

    assert page.tags["select"] == 0
    assert '<select onchange="document.location = this.value">' in "".join(page.shown)
