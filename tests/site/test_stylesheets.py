"""Stylesheets of a page: the site's, and its modules'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from content.document.document import PostDocument
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.definitions import modules
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.site.test_pages import BLOG, text

pytestmark = pytest.mark.django_db
BUDGET = 34_000


def sheets(html: str) -> list[str]:
    return re.findall(r'<link rel="stylesheet" href="/static/([^"]*)"', html)


def test_a_page_loads_the_stylesheets_of_its_modules_once_and_in_order(client):
    post = make.post()

    def fill(document: PostDocument) -> PostDocument:
        document, _ = document_edits.add_module(
            document, type="callout", props={"title": "One"}, index=1
        )
        document, _ = document_edits.add_module(document, type="callout", props={"title": "Two"})
        return document

    edit_post(post_id=post.pk, actor=make.actor(), edit=fill)
    expected = [
        "cms/site.css",
        "cms/modules/hero.css",
        "cms/modules/callout.css",
        "cms/modules/prose.css",
        "cms/modules/faq.css",
    ]

    assert sheets(text(client.get(BLOG))) == expected
    _, token = create_preview_link(post_id=post.pk, layer="source", actor=make.actor())
    assert sheets(text(client.get(f"/preview/{token}")))[:5] == expected


def test_a_page_without_modules_loads_none_of_theirs(client):
    assert sheets(text(client.get("/nothing"))) == ["cms/site.css"]


def test_every_module_brings_a_stylesheet_that_exists():
    without = {module.name for module in modules if not module.stylesheet}

    assert without <= {"breadcrumb"}
    for module in modules:
        if module.stylesheet:
            assert finders.find(module.stylesheet), module.name


def test_a_page_with_every_module_has_less_than_34_kb_of_css():
    names = {"cms/site.css", "cms/modules/facts.css"} | {
        module.stylesheet for module in modules if module.stylesheet
    }
    sizes = {name: len(Path(finders.find(name) or "").read_bytes()) for name in names}

    assert sum(sizes.values()) < BUDGET, sizes
    assert len(names) > 20


def test_no_stylesheet_names_a_side_by_left_or_right():
    for name in sorted(Path("static/cms/modules").glob("*.css")):
        css = name.read_text("utf-8")
        found = re.findall(
            r"(?:margin|padding|border|inset)-(?:left|right)|[\s;{](?:left|right)\s*:|"
            r"text-align:\s*(?:left|right)|float:",
            css,
        )
        assert found == [], name
        assert "@import" not in css
        assert "url(" not in css, name
