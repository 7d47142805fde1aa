"""Terms, menus, URL patterns and redirects in the admin: plain forms over the services."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Menu, Term, UrlPattern
from content.services.menus import create_menu
from content.services.url_patterns import create_pattern
from seo.models import Redirect
from tests import make
from tests.admin.pages import fields

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ATTACK = '"><script>alert(1)</script>'


def text(response: Any) -> str:
    return str(response.content.decode())


def test_a_term_is_added_moved_and_deleted(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/content/term/"
    sent = fields(client.get(f"{list_}add/"), "taxonomy")

    for name in ("Drinks", "Coffee"):
        added = client.post(f"{list_}add/", {**sent, "taxonomy": "topics", "name": name})
        assert added.status_code == 302
    drinks, coffee = Term.objects.get(slug="drinks"), Term.objects.get(slug="coffee")
    page = f"{list_}{coffee.pk}/change/"
    form = fields(client.get(page), "parentId")
    refused: Any = client.post(page, {**form, "parentId": "coffee"})
    unknown: Any = client.post(page, {**form, "parentId": "tea"})
    moved = client.post(page, {**form, "parentId": "drinks"})

    assert (refused.status_code, unknown.status_code, moved.status_code) == (422, 422, 302)
    assert "A term cannot stand below itself." in text(refused)
    assert "No term of topics has the slug &#x27;tea&#x27; in this language." in text(unknown)
    assert fields(client.get(page), "parentId")["parentId"] == ["drinks"]
    coffee.refresh_from_db()
    assert coffee.parent_id == drinks.pk
    make.post(taxonomyTermIds=[str(drinks.pk)])
    gone = f"{list_}{drinks.pk}/delete/"
    assert client.get(gone).status_code == 200
    assert "1 post carries or proposes" in text(client.post(gone))
    assert Term.objects.count() == 2
    assert client.post(gone, {"force": "on"}).status_code == 302
    assert list(Term.objects.filter(parent=None).values_list("slug", flat=True)) == ["coffee"]
    assert Term.objects.count() == 1


def test_a_menu_is_made_changed_and_deleted(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/content/menu/"
    sent = {**fields(client.get(f"{list_}add/"), "items"), "name": "Main", "slug": "main"}

    wrong: Any = client.post(f"{list_}add/", {**sent, "items": '[{"label": ""}]'})
    no_json = client.post(f"{list_}add/", {**sent, "items": "[" * 100_000})
    made = client.post(f"{list_}add/", sent)

    assert (wrong.status_code, no_json.status_code, made.status_code) == (422, 422, 302)
    assert "0.label: label must not be empty." in text(wrong)
    menu = Menu.objects.get()
    assert [item["label"] for item in menu.items] == ["Home"]
    page = f"{list_}{menu.pk}/change/"
    assert ">Version:<" not in text(client.get(page))
    form = fields(client.get(page), "items")
    items = json.dumps([*menu.items, {"label": "Blog", "url": "/blog"}])
    assert client.post(page, {**form, "items": items}).status_code == 302
    stale = client.post(page, {**form, "items": "[]"})
    assert stale.status_code == 422
    assert "changed since you read it" in text(stale)
    menu.refresh_from_db()
    assert [item["label"] for item in menu.items] == ["Home", "Blog"]
    assert client.post(f"{list_}{menu.pk}/delete/").status_code == 302
    assert Menu.objects.count() == 0


def test_a_pattern_is_used_changed_and_deleted(signed_in: SignedIn) -> None:
    post = make.post(slug="tea")
    client, list_ = signed_in(), "/admin/content/urlpattern/"
    sent = {**fields(client.get(f"{list_}add/"), "pattern"), "type": "blog", "locale": "en"}

    wrong = client.post(f"{list_}add/", {**sent, "pattern": "/x/{title}"})
    made = client.post(f"{list_}add/", {**sent, "pattern": "/news/{slug}"})

    assert (wrong.status_code, made.status_code) == (422, 302)
    assert "There is no variable {title}" in text(wrong)
    row = UrlPattern.objects.get()
    page = f"{list_}{row.pk}/change/"
    form = fields(client.get(page), "pattern")
    assert client.post(page, {**form, "pattern": "/n/{slug}"}).status_code == 302
    assert client.post(page, {**form, "pattern": "/o/{slug}"}).status_code == 422
    post.refresh_from_db()
    assert post.path == "/n/tea"
    assert "/n/{slug}" in text(client.get(list_))
    assert client.post(f"{list_}{row.pk}/delete/").status_code == 302
    post.refresh_from_db()
    assert post.path == "/blog/tea"


def test_a_redirect_is_added_changed_and_deleted(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/seo/redirect/"
    sent = {**fields(client.get(f"{list_}add/"), "fromPath"), "fromPath": "/a", "toPath": "/b"}

    wrong = client.post(f"{list_}add/", {**sent, "toPath": "//evil.example"})
    made = client.post(f"{list_}add/", sent)

    assert (wrong.status_code, made.status_code) == (422, 302)
    row = Redirect.objects.get()
    assert (row.to_path, row.type, row.is_active) == ("/b", 301, True)
    page = f"{list_}{row.pk}/change/"
    form = fields(client.get(page), "fromPath")
    form.pop("active")
    assert client.post(page, {**form, "type": "302"}).status_code == 302
    row.refresh_from_db()
    assert (row.type, row.is_active) == (302, False)
    assert client.post(f"{list_}{row.pk}/delete/").status_code == 302
    assert Redirect.objects.count() == 0


@pytest.mark.parametrize("role", ["translator", "ai_agent", None])
def test_threat_10_none_of_these_pages_opens_or_writes_without_the_right(
    signed_in: SignedIn, role: str | None
) -> None:
    rows = {
        "content/term": make.term("Coffee"),
        "content/menu": create_menu(actor=make.actor(), name="Main", slug="main", locale="en"),
        "content/urlpattern": create_pattern(
            actor=make.actor(), type="blog", locale="en", pattern="/n/{slug}"
        ),
        "seo/redirect": make.redirect("/a", "/b"),
    }
    client = signed_in(role) if role else Client()

    for part, row in rows.items():
        for page in ("", "add/", f"{row.pk}/change/", f"{row.pk}/delete/"):
            assert client.get(f"/admin/{part}/{page}").status_code in (302, 403)
            answer = client.post(f"/admin/{part}/{page}", {"force": "on"})
            assert answer.status_code in (302, 403)
        assert type(row)._default_manager.filter(pk=row.pk).exists()


def test_what_is_not_there_is_404(signed_in: SignedIn) -> None:
    client = signed_in()
    for part in ("content/term", "content/menu", "content/urlpattern", "seo/redirect"):
        for id_ in ("1", "00000000-0000-4000-8000-000000000000"):
            for page in ("change", "delete"):
                assert client.get(f"/admin/{part}/{id_}/{page}/").status_code == 404


def test_threat_31_names_are_words_on_every_page(signed_in: SignedIn) -> None:
    term = Term.objects.create(taxonomy="topics", slug="x", name=ATTACK)
    menu = create_menu(
        actor=make.actor(), name=ATTACK, slug="x", locale="en", items=[{"label": ATTACK}]
    )
    client = signed_in()

    for page in (
        "/admin/content/term/",
        f"/admin/content/term/{term.pk}/change/",
        f"/admin/content/term/{term.pk}/delete/",
        "/admin/content/menu/",
        f"/admin/content/menu/{menu.pk}/change/",
    ):
        assert "<script>alert" not in text(client.get(page)), page
    assert "<script>alert" not in text(
        client.post(f"/admin/content/term/{term.pk}/delete/", follow=True)
    )
