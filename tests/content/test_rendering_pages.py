"""The pages around the modules."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from proofroom_apps.website.rendering import render_modules
from tests.content.test_definitions import UUID_, paragraph
from tests.content.test_rendering import Page, module


def test_the_page_around_the_modules():
    html = render_to_string(
        "site/post.html",
        {
            "locale": "de",
            "site": {"name": "Röstwerk", "home_url": "/de/"},
            "page_title": "Kaffee & Wasser",
            "post": {"id": UUID_, "type": "blog", "title": "Kaffee & Wasser", "excerpt": "Kurz"},
            "content": render_modules([module("prose", {"content": paragraph("Text")})], {}),
            "has_heading": False,
            "menu": [
                {"label": "Blog", "url": "/de/blog", "current": True, "children": []},
                {"label": "Mehr", "url": "", "children": [{"label": "Über", "url": "/de/über"}]},
            ],
            "languages": [
                {"locale": "de", "label": "Deutsch", "url": "/de/x", "current": True},
                {"locale": "en", "label": "English", "url": "/x"},
            ],
            "breadcrumb": [{"label": "Start", "url": "/de/"}, {"label": "Kaffee", "url": "/de/x"}],
            "seo": {
                "title": "Kaffee", "description": 'Ein "Satz"', "robots": "noindex",
                "canonical": "https://example.com/de/x",
                "alternates": [{"locale": "en", "url": "https://example.com/x"}],
                "json_ld": [{"name": "</script><script>alert(1)</script>"}],
            },
        },
    )  # fmt: skip

    page = Page(html)
    assert page.first("html")["lang"] == "de"
    assert "<h1>Kaffee &amp; Wasser</h1>" in html
    assert page.count("h1") == 1
    assert page.count("main") == 1
    assert page.first("script")["type"] == "application/ld+json"
    assert html.count("<script") == 1 + html.count('<script type="module" src="/static/cms/')
    assert "</script><script>alert" not in html
    assert ("link", {"rel": "canonical", "href": "https://example.com/de/x"}) in page.elements
    assert ("meta", {"name": "description", "content": 'Ein "Satz"'}) in page.elements
    assert ("meta", {"name": "robots", "content": "noindex"}) in page.elements
    assert (
        "link", {"rel": "alternate", "hreflang": "en", "href": "https://example.com/x"},
    ) in page.elements  # fmt: skip
    assert ("a", {"href": "/de/blog", "aria-current": "page"}) in page.elements
    assert ("a", {"href": "/x", "lang": "en", "hreflang": "en"}) in page.elements
    assert "style" not in page.first("body")


@pytest.mark.parametrize("template", ["404.html", "500.html", "site/list.html", "site/post.html"])
def test_pages_stand_without_any_context(template):
    page = Page(render_to_string(template, request=RequestFactory().get("/")))

    assert page.count("h1") == 1
    assert page.open == []
