"""The pages that show a global module, a menu or a term, and their preview of unsaved input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import ModuleInstance
from content.modules.global_modules import create_global
from proofroom.core.json import Json
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.admin.pages import fields
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
CHANGE = {
    ModuleInstance: "/admin/content/moduleinstance/{}/change/",
    Menu: "/admin/proofroom_menus/menu/{}/change/",
    Term: "/admin/proofroom_taxonomies/term/{}/change/",
}
KINDS = {ModuleInstance: "global-module", Menu: "menu", Term: "term"}


def shared(row: ModuleInstance | Menu | Term, page: str) -> str:
    return f"/admin/content/shared/{KINDS[type(row)]}/{row.pk}/{page}/"


def form_of(client: Client, row: ModuleInstance | Menu | Term) -> Any:
    return fields(client.get(CHANGE[type(row)].format(row.pk)))


def menu(locale: str = "en", slug: str = "main") -> Menu:
    items: list[Json] = [{"id": "a", "label": "Coffee", "url": "/coffee", "children": []}]
    return create_menu(actor=make.actor(), name="Main", slug=slug, locale=locale, items=items)


def test_each_kind_is_previewed_on_a_page_and_nothing_is_stored(signed_in: SignedIn) -> None:
    module = create_global(
        actor=make.actor(), slug="letter", type="callout", props={"title": "Subscribe"}
    )
    term, site_menu = make.term("Coffee"), menu()
    post = make.post(taxonomyTermIds=[str(term.pk)])
    make.placed(post, module)
    client, before = signed_in(), make.live_hash()
    typed: list[tuple[Any, dict[str, str], str]] = [
        (module, {"props.title": "Write to us"}, "Write to us"),
        (site_menu, {"label-a": "Filter coffee"}, "Filter coffee"),
        (term, {"name": "Hot drinks"}, "Hot drinks"),
    ]

    for row, change, words in typed:
        sent = {**form_of(client, row), **change}
        answer: Any = client.post(f"{shared(row, 'preview')}?post={post.pk}", sent)
        page = answer.content.decode()
        assert answer.status_code == 200, page
        assert words in page
        assert words not in Client().get(post.path).content.decode()
        assert "no-store" in answer["Cache-Control"]
        assert answer["X-Robots-Tag"] == "noindex, nofollow"
        assert answer["X-Frame-Options"] == "SAMEORIGIN"
        assert "unsafe-inline" not in answer["Content-Security-Policy"]

    assert make.live_hash() == before


def test_a_refused_form_and_a_page_without_it_are_not_previewed(signed_in: SignedIn) -> None:
    module = create_global(actor=make.actor(), slug="letter", type="callout")
    post, other = make.post(), make.post("Elsewhere", slug="elsewhere")
    make.placed(post, module)
    client = signed_in()
    sent = {**form_of(client, module), "props.ctaUrl": "javascript:alert(1)"}
    address = shared(module, "preview")

    refused = client.post(f"{address}?post={post.pk}", sent)

    assert refused.status_code == 422
    assert "Enter a path that starts with" in refused.json()["message"]
    for query in (f"?post={other.pk}", "?post=x", ""):
        assert client.post(address + query, sent).status_code == 404
    assert client.get(f"{address}?post={post.pk}").status_code == 404
    assert signed_in("translator").post(f"{address}?post={post.pk}", sent).status_code == 403
    assert signed_in("translator").get(shared(module, "pages")).status_code == 403


def test_the_pages_of_each_kind_are_listed(signed_in: SignedIn) -> None:
    module = create_global(actor=make.actor(), slug="letter", type="callout")
    term = make.term("Coffee")
    with_both = make.post("Both", slug="both", taxonomyTermIds=[str(term.pk)])
    make.placed(with_both, module)
    make.post("Neither", slug="neither")
    make.post("German", slug="german", locale="de")
    client = signed_in()

    def titles(row: ModuleInstance | Menu | Term) -> set[str]:
        page = client.get(shared(row, "pages")).content.decode()
        return {title for title in ("Both", "Neither", "German") if f">{title}</a>" in page}

    assert titles(module) == titles(term) == {"Both"}
    only_menu = menu()
    assert titles(only_menu) == {"Both", "Neither", "German"}
    german = menu("de")
    assert titles(only_menu) == {"Both", "Neither"}
    assert titles(german) == {"German"}
    edit = client.get(CHANGE[Menu].format(only_menu.pk)).content.decode()
    assert "A change is visible on 2 published pages." in edit
    assert "Header of every page in this language." in edit
    # No template asks for this one.
    Menu.objects.filter(pk=german.pk).update(slug="social")
    unused = client.get(CHANGE[Menu].format(german.pk)).content.decode()
    assert titles(german) == set()
    assert "No page of this site shows this menu." in unused
    assert "Header: set the slug to “main” and save." in unused
    assert "/api/menus/by-slug/social?locale=de" in unused


@pytest.mark.parametrize("number", [1, 60])
def test_the_pages_are_listed_in_the_same_number_of_queries(
    signed_in: SignedIn, number: int
) -> None:
    row = menu()
    for at in range(number):
        make.post(f"Post {at}", slug=f"post-{at}")
    client = signed_in()

    assert page_queries(client, shared(row, "pages")) == 6
