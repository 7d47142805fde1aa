"""Hostile text stays text: links, HTML, tracking images, and slow input."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from proofroom.definitions.richtext.html import to_html
from proofroom.definitions.richtext.links import safe_href, safe_src
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.nodes import to_text
from proofroom.definitions.richtext.schema import validate
from tests.content.test_richtext_documents import Page

REFUSED = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "\u00a0javascript:alert(1)",
    "java\u200bscript:alert(1)",
    "java script:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,AAAA",
    "file:///etc/passwd",
    "blob:https://example.org/1",
    "feed:javascript:alert(1)",
    "//evil.example",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "&sol;&sol;evil.example",
    "jav&Tab;ascript:alert(1)",
    "///evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https://",
    "http:\\\\evil.example",
    "mailto:",
    "x:y",
    ":x",
    "",
    " ",
    "a\u202eb",
    "a\ud800b",
    "/" + "a" * 3000,
    None,
    7,
]

ALLOWED = [
    ("https://example.org/a?b=c:d#e", "https://example.org/a?b=c:d#e"),
    ("HTTP://example.org", "HTTP://example.org"),
    (" /path ", "/path"),
    ("page", "page"),
    ("../up", "../up"),
    ("?q=javascript:x", "?q=javascript:x"),
    ("/a:b", "/a:b"),
    ("#part", "#part"),
    ("mailto:a@example.org", "mailto:a@example.org"),
    ("tel:+4912345", "tel:+4912345"),
    ("/my file.pdf", "/my%20file.pdf"),
    ('/a"onclick="x', "/a%22onclick=%22x"),
    ("/\u00fcber", "/\u00fcber"),
]


def linked(href: object) -> dict[str, Any]:
    mark = {"type": "link", "attrs": {"href": href}}
    text = {"type": "text", "text": "words", "marks": [mark]}
    return {"type": "doc", "content": [{"type": "paragraph", "content": [text]}]}


def pictured(src: object) -> dict[str, Any]:
    image = {"type": "image", "attrs": {"src": src, "alt": "words"}}
    return {"type": "doc", "content": [{"type": "paragraph", "content": [image]}]}


@pytest.mark.parametrize("href", REFUSED)
def test_threat_29_a_refused_address_is_never_a_link_or_an_image(href: object) -> None:
    assert safe_href(href) is None
    assert safe_src(href) is None
    assert len(validate(linked(href))) == 1
    assert len(validate(pictured(href))) == 1
    assert to_html(linked(href)) == to_html(pictured(href)) == "<p>words</p>"
    assert to_markdown(linked(href)) == to_markdown(pictured(href)) == "words\n"


@pytest.mark.parametrize(("href", "expected"), ALLOWED)
def test_an_allowed_url_is_stored(href: str, expected: str) -> None:
    assert safe_href(href) == expected
    assert safe_href(expected) == expected
    assert validate(linked(href)) == []


@pytest.mark.parametrize("src", ["mailto:a@example.org", "tel:1", "#a"])
def test_an_image_needs_a_place_that_can_hold_one(src: str) -> None:
    assert safe_src(src) is None
    assert len(validate(pictured(src))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "[words](javascript:alert(1))",
        "[words](JAVASCRIPT:alert(1))",
        "[words](<java\tscript:alert(1)>)",
        "[words](&#106;avascript:alert(1))",
        "[words](javascript&colon;alert(1))",
        "[words](&#x1;javascript:alert(1))",
        "[words](data:text/html;base64,AAAA)",
        "[words](//evil.example)",
        "[words](/\\\\evil.example)",
        "[words][x]\n\n[x]: javascript:alert(1)",
        "![words](javascript:alert(1))",
        "![words](data:image/svg+xml;base64,AAAA)",
        "[![words](data:x)](javascript:alert(1))",
    ],
)
def test_threat_29_an_unsafe_markdown_link_becomes_its_text(source: str) -> None:
    document = from_markdown(source)

    assert to_text(document) == "words"
    assert to_html(document) == "<p>words</p>"


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<a href='javascript:alert(1)'>x</a>",
        "<!-- --><script>alert(1)</script>",
        "--><script>alert(1)</script>",
        "</code></pre><script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "' onfocus='alert(1)' autofocus='",
        "<br onclick=alert(1)>",
        "<BR/><style>*{background:url(//evil.example)}</style>",
        "<javascript:alert(1)>",
        "]]><script>alert(1)</script>",
    ],
)
def test_threats_27_28_33_markup_in_any_place_is_shown_and_never_run(attack: str) -> None:
    text = {"type": "text", "text": attack}
    attrs = {"src": "/a.png", "alt": attack, "title": attack}
    mark = {"type": "link", "attrs": {"href": "/" + attack, "title": attack, "class": attack}}
    cell = {"type": "tableCell", "attrs": {"align": attack, "colspan": attack}, "content": [text]}
    built = {
        "type": "doc",
        "content": [
            {"type": "heading", "attrs": {"level": attack}, "content": [text]},
            {"type": "codeBlock", "attrs": {"language": attack}, "content": [text]},
            {"type": "paragraph", "content": [{"type": "image", "attrs": attrs}]},
            {"type": "paragraph", "content": [{**text, "marks": [mark]}]},
            {"type": "orderedList", "attrs": {"start": attack, "type": attack}, "content": []},
            {"type": "table", "content": [{"type": "tableRow", "content": [cell]}]},
            {"type": attack, "content": [text]},
            text,
        ],
    }

    for document in (built, from_markdown(attack), from_markdown(f"# {attack}\n\n    {attack}")):
        page = Page(to_html(document, heading_ids=set()))
        assert page.active == []
    shown = "".join(Page(to_html(built)).shown)
    assert shown.count(attack) >= 6
    assert set(Page(to_html(from_markdown(attack))).tags) <= {"p", "br"}


def test_threat_36_an_unapproved_text_loads_nothing_from_another_host() -> None:
    document = from_markdown("![secret](https://evil.example/?q=1) ![here](/media/a.png)")

    html = to_html(document, remote_images=False)

    assert "evil.example" not in html
    assert 'src="/media/a.png"' in html
    assert "secret" in html


@pytest.mark.parametrize(
    "value",
    [None, 1, "x", [], {}, {"type": "doc", "content": "x"}, {"content": [1, None, "x"]}]
    + [
        {"type": "doc", "content": [{"type": name, "attrs": 3, "content": 3, "marks": 3}]}
        for name in ["paragraph", "heading", "table", "bulletList", "image", "text", "codeBlock", 5]
    ],
)
def test_a_broken_document_renders_without_an_error(value: Any) -> None:
    assert Page(to_html(value)).active == []
    assert to_text(value).strip() == ""
    assert to_markdown(value).strip("-_#`| \n") == ""
    assert validate(value) != [] or value == {"type": "doc", "content": []}


def test_text_below_the_depth_limit_is_still_shown() -> None:
    node: dict[str, Any] = {"type": "paragraph", "content": [{"type": "text", "text": "deep"}]}
    for _ in range(5000):
        node = {"type": "blockquote", "content": [node]}
    document = {"type": "doc", "content": [node]}

    assert "deep" in to_html(document)
    assert to_text(document) == "deep"
    assert "deep" in to_markdown(document)
    assert validate(document) != []


SLOW = {
    "brackets": "[",
    "images": "![",
    "links": "[a](",
    "references": "[a][",
    "quotes": "> ",
    "lists": "- ",
    "emphasis": "*a_ ",
    "openers": "**a ",
    "ticks": "`a``b",
    "pipes": "|",
    "table": "a|b\n-|-\n",
    "entities": "&#",
    "angles": "<a",
    "backslashes": "\\",
    "definitions": "[a]: <b\n",
    "tildes": "~~a~",
    "breaks": "<br>",
}


def calls(source: str) -> int:
    """Return the number of Python and C calls to read, check and write a text."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    sys.setprofile(seen)
    try:
        document = from_markdown(source)
        validate(document)
        to_html(document)
        to_markdown(document)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("case", SLOW)
def test_threat_26_hostile_markdown_takes_linear_work(case: str) -> None:
    unit = SLOW[case]
    small, large = (unit * (size // len(unit)) for size in (1_000, 4_000))

    # Four times the input: a quadratic step would make sixteen times the calls.
    assert calls(large) < 6 * calls(small)


def test_threat_26_lazy_lines_below_many_quotes_take_linear_work() -> None:
    assert calls(">" * 50 + "a\n" * 2_000) < 6 * calls(">" * 50 + "a\n" * 500)
