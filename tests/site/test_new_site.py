"""A new site: visitors see a welcome page, the first two steps lead to a home page, and no 404 leads to another."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from content.models import Post, Status
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
NAME = "/admin/site-name/"


def setup_of(client: Client) -> str:
    page = client.get("/admin/").content.decode()
    return page.partition('class="card home-setup"')[2].partition("</section>")[0]


def test_a_new_site_is_named_and_gets_a_home_page(signed_in: SignedIn) -> None:
    editor = signed_in("editor")
    assert "0 of 2 steps done" in setup_of(editor)
    assert "Name your site first." in setup_of(editor)

    assert "Title is required." in editor.post(NAME, {"name": " "}, follow=True).content.decode()
    assert not Post.objects.exists()
    named = editor.post(NAME, {"name": "Kettle"}, follow=True).content.decode()
    assert "The site is called Kettle." in named
    home = Post.objects.get()
    assert (home.title, home.path, home.status, home.locale) == ("Kettle", "/", "draft", "en")

    steps = setup_of(editor)
    assert "1 of 2 steps done" in steps
    assert f'href="/admin/content/post/{home.pk}/change/"' in steps
    editor.post(NAME, {"name": "Kettle & Co"})
    home.refresh_from_db()
    assert home.title == "Kettle & Co"
    assert (home.status, Post.objects.count()) == ("draft", 1)

    # Who cannot publish the home page, or only in a part of the site, sees no steps and cannot do them.
    assert setup_of(signed_in("translator")) == ""
    assert signed_in("translator").post(NAME, {"name": "x"}).status_code == 403
    make.site_role(
        "desk",
        *("posts.view", "posts.create", "posts.edit", "posts.publish"),
        scope=ContentScope(types=frozenset({"blog"})),
    )
    desk = signed_in("desk")
    assert setup_of(desk) == ""
    desk.post(NAME, {"name": "x"})
    home.refresh_from_db()
    assert home.title == "Kettle & Co"

    Post.objects.filter(pk=home.pk).update(status=Status.PUBLISHED)
    assert setup_of(editor) == ""
    editor.post(NAME, {"name": "Renamed by accident"})
    home.refresh_from_db()
    assert home.title == "Kettle & Co"


def test_the_first_visitor_of_an_empty_site_is_welcome(signed_in: SignedIn) -> None:
    visitor, editor = Client(), signed_in("editor")
    for path in ("/", "/de/"):
        shown = visitor.get(path)
        assert shown.status_code == 200
        assert shown.headers["Cache-Control"] == "no-store"
        assert shown.headers["X-Robots-Tag"] == "noindex"
        html = shown.content.decode()
        assert '<meta name="robots" content="noindex">' in html
        assert 'href="/admin/login/"' in html
        assert "track.js" not in html
        assert 'class="button" href="/admin/"' in editor.get(path).content.decode()
    assert "This site is new" in visitor.get("/").content.decode()
    assert visitor.get("/missing").status_code == 404
    assert count_queries(visitor.get, "/") == 4

    # With a page, the site is no longer new; without a home page its address is missing.
    make.post()
    missing = visitor.get("/")
    assert missing.status_code == 404
    assert missing.headers["Cache-Control"] == "no-cache"


def test_a_404_leads_only_to_a_home_page_that_exists() -> None:
    def button(path: str) -> list[str]:
        html = Client().get(path).content.decode()
        return re.findall(r'<a class="button" href="([^"]+)"', html)

    make.post()
    assert button("/") == button("/missing") == button("/de/fehlt") == []
    home = make.post("Kettle", type="page", slug="home")
    assert home.path == "/"
    assert button("/missing") == button("/de/fehlt") == ["/"]
    make.post("Kessel", type="page", slug="home", locale="de")
    assert (button("/missing"), button("/de/fehlt")) == (["/"], ["/de/"])
    assert settings.CMS_ENV.default_locale == "en"
