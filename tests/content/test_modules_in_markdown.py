"""Modules as Markdown: the visible content, without text that becomes syntax."""

from __future__ import annotations

from proofroom.core.json import JsonObject
from proofroom.definitions import markdown_of
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown

PICTURE = "6f1c9ad0-6f0e-4c1e-9a51-5a0a3d1a0001"
MEDIA = {PICTURE: {"url": "/media/a.webp", "alt": "A *kettle*"}}


def test_headings_text_links_and_pictures_are_written_in_the_order_of_the_props():
    props = {
        "title": "Slow & good",
        "subtitle": "One line.\nAnother.\n\nA new paragraph.",
        "ctaLabel": "Read on",
        "ctaUrl": "/blog",
        "imageId": PICTURE,
    }

    assert markdown_of("hero", props, MEDIA) == (
        "## Slow & good\n\nOne line.\\\nAnother.\n\nA new paragraph.\n\n"
        "[Read on](/blog)\n\n![A \\*kettle\\*](/media/a.webp)\n"
    )


def test_items_stand_below_the_heading_of_their_module_or_at_its_level():
    items: list[JsonObject] = [
        {"question": "Why?", "answer": from_markdown("# So\n\nBecause of **this**.")}
    ]

    below = markdown_of("faq", {"heading": "Questions", "items": items})
    alone = markdown_of("faq", {"items": items}, level=1)

    assert below == "## Questions\n\n### Why?\n\n## So\n\nBecause of **this**.\n"
    assert alone == "# Why?\n\n## So\n\nBecause of **this**.\n"


def test_no_text_becomes_syntax_and_no_unsafe_address_a_link():
    hostile = "# [x](javascript:alert(1)) <script>"
    props = {
        "title": hostile,
        "body": from_markdown("a"),
        "ctaLabel": "b",
        "ctaUrl": "javascript:1",
    }

    written = markdown_of("callout", props)

    assert written == "## \\# \\[x\\](javascript:alert(1)) \\<script>\n\na\n"
    assert to_markdown(from_markdown(written)) == written


def test_what_shows_nothing_is_nothing():
    assert markdown_of("hero", {}) == ""
    assert markdown_of("hero", {"ctaUrl": "/x", "imageId": PICTURE}) == ""
    assert markdown_of("no-such-module", {"title": "x"}) == ""
    assert markdown_of("faq", {"items": ["x", None, 3], "heading": None}) == ""
