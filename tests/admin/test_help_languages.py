"""The help in the reader's language, and the links that lead to it from the pages that it explains."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern

from cms_project.help import views
from cms_project.help.pages import DOCS, help_anchors, pages
from cms_project.help.rendering import render
from cms_project.help.topics import TOPICS, topic_of
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
HOME = "/admin/help/"
GERMAN = {"Accept-Language": "de-AT,de;q=0.9"}
NOTICE = '<p class="notice">'


def article_of(page: str) -> str:
    return page.partition("<article")[2].partition("</article>")[0]


def test_a_german_reader_gets_a_page_for_editors_in_german(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}admin/review/", headers=GERMAN).content.decode()

    assert (
        '<article class="card prose" lang="de"><h1 id="help-the-review-screen">Die Prüfung<' in page
    )
    assert NOTICE not in page


def test_a_german_page_leads_to_german_pages_and_to_the_sections_of_both_languages(
    signed_in: SignedIn,
) -> None:
    client = signed_in()

    english = client.get(f"{HOME}admin/inbox/").content.decode()
    german = client.get(f"{HOME}admin/inbox/", headers=GERMAN).content.decode()

    links = re.findall(r'<a href="([^"]*)"', article_of(german))
    assert links == [
        "/admin/help/admin/steps/",
        "/admin/help/admin/safe-changes/#help-what-needs-a-closer-look",
        "/admin/help/admin/safe-changes/#help-what-safe-means",
        "/admin/help/admin/media-library/#help-proposed-alt-texts",
    ]
    assert links == re.findall(r'<a href="([^"]*)"', article_of(english))
    ids = r'<h\d id="([^"]*)"'
    assert re.findall(ids, article_of(german)) == re.findall(ids, article_of(english))


def test_every_link_of_every_german_page_leads_to_a_section_that_is_there() -> None:
    known = pages(DOCS, "de")
    own_pages = [page for page in known.values() if page.is_for_editors]
    bodies = {f"{HOME}{page.name}/": render(page, DOCS, known) for page in own_pages}
    checked = 0
    assert {page.language for page in own_pages} == {"de"}
    for own, body in bodies.items():
        assert not re.search(r"<a>|<img(?![^>]* src=)", body), own
        for address in re.findall(r'<a href="([^"]*)"', body):
            path, _, fragment = address.partition("#")
            name = (path or own).removeprefix(HOME).rstrip("/")
            anchors = [f"help-{anchor}" for anchor in help_anchors(known[name])]
            assert not fragment or fragment in anchors, (own, address)
            checked += 1
    assert checked > 30


def test_a_page_without_a_translation_is_shown_in_english_and_says_so(
    signed_in: SignedIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "admin/de").mkdir(parents=True)
    (tmp_path / "admin/index.md").write_text("# For editors\n\n[a](list.md#one)\n")
    (tmp_path / "admin/list.md").write_text("# Lists\n\n## One\n\n[b](index.md)\n")
    (tmp_path / "admin/de/list.md").write_text("# Listen\n\n## Eins\n\n[c](index.md) [d](#eins)\n")
    monkeypatch.setattr(views, "DOCS", tmp_path)
    client = signed_in()

    german = client.get(HOME, headers=GERMAN).content.decode()
    translated = client.get(f"{HOME}admin/list/", headers=GERMAN).content.decode()
    english = client.get(HOME).content.decode()

    assert NOTICE in german
    assert 'lang="en"><h1' in article_of(german)
    assert 'href="/admin/help/admin/list/#help-one"' in german
    assert re.search(r'aria-current="page" lang="en">For editors<', german)
    assert NOTICE not in translated
    assert 'href="/admin/help/admin/"' in article_of(translated)
    assert 'href="#help-one"' in article_of(translated)
    assert NOTICE not in english


def test_a_page_for_developers_is_english_for_everybody(signed_in: SignedIn) -> None:
    page = signed_in().get(f"{HOME}reference/agents/", headers=GERMAN).content.decode()

    assert NOTICE in page
    assert 'lang="en"><h1' in article_of(page)


@pytest.mark.parametrize(
    ("path", "topic"),
    [
        ("/admin/", "admin/inbox/#help-home"),
        ("/admin/inbox/", "admin/inbox/#help-inbox"),
        ("/admin/content/post/", "admin/lists/"),
        ("/admin/content/post/{post}/change/", "admin/editor/"),
        ("/admin/content/post/{post}/review/", "admin/review/"),
        ("/admin/content/post/{post}/revisions/", "admin/#help-revisions"),
        ("/admin/media/asset/", "admin/media-library/"),
        ("/admin/proofroom_taxonomies/term/", "admin/structure/#help-terms"),
        ("/admin/proofroom_webhooks/webhook/", "how-to/set-up-a-webhook/"),
        ("/admin/account/", "admin/your-account/"),
        ("/admin/help/admin/review/", ""),
        ("/admin/nothing/", ""),
    ],
)
def test_help_in_the_navigation_opens_the_part_about_the_page(
    signed_in: SignedIn, path: str, topic: str
) -> None:
    page = signed_in().get(path.format(post=make.post().pk)).content.decode()

    foot = page.partition('class="nav-foot"')[2].partition("</ul>")[0]
    assert re.findall(r'<a href="([^"]*)"', foot) == [HOME + topic]


def test_every_topic_is_a_section_of_a_page_and_belongs_to_an_admin_page() -> None:
    known = pages(DOCS)
    names = {
        url.name
        for url in admin.site.get_urls()
        for url in (url, *getattr(url, "url_patterns", ()))
        if isinstance(url, URLPattern) and url.name
    }

    for beginning, topic in TOPICS.items():
        page, _, anchor = topic.partition("#")
        assert page in known, topic
        assert not anchor or anchor in help_anchors(known[page]), topic
        assert any(topic_of(name) == topic for name in names if name.startswith(beginning)), topic


def test_every_admin_page_of_the_product_has_a_topic() -> None:
    without = {"language", "undo", "palette", "design", "login", "logout", "jsi18n", "app_list"}
    pattern = re.compile(
        "help|view_on_site|password_change|content_postjob|auth_group|webhooks_chat"
    )
    names = {
        url.name
        for url in admin.site.get_urls()
        for url in (url, *getattr(url, "url_patterns", ()))
        if isinstance(url, URLPattern) and url.name
    }

    assert len(names) > 150
    assert [
        name
        for name in sorted(names - without)
        if not pattern.match(name) and topic_of(name) is None
    ] == []
