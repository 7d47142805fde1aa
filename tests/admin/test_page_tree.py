"""The page tree: order, states, and loading of large trees."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.trash import delete_post
from content.translations.translate import create_translation
from proofroom_apps.editorial.posts import page_tree
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
URL = "/admin/content/post/tree/"


def page(title: str, parent: Post | None = None, **words: Any) -> Post:
    above = {"parentId": str(parent.pk)} if parent is not None else {}
    return make.post(title, type="page", slug=title.lower(), **above, **words)


def shown(query: str = "") -> str:
    client = Client()
    client.force_login(make.user("editor"))
    return client.get(URL + query).content.decode()


def test_pages_stand_below_their_parents_in_their_order() -> None:
    top = page("Products")
    page("Second", top, orderIndex=2)
    page("First", top, orderIndex=1, status="draft")

    html = shown()

    places = [
        html.index(f">{path}<") for path in ("/products", "/products/first", "/products/second")
    ]
    assert places == sorted(places)
    assert "2 pages below" in html
    assert "badge-draft" in html


def test_waiting_changes_are_counted() -> None:
    make.staged(page("Products"), {"title": "Our products", "excerpt": "All"})

    assert "AI Review 2<" in shown()


def test_a_translation_whose_parent_has_none_is_marked() -> None:
    child = page("Overview", page("Products"))
    create_translation(post_id=child.pk, locale="de", actor=make.actor())

    assert "Parent page has no translation" in shown("?locale=de")
    assert "Parent page has no translation" not in shown("?locale=en")


def test_a_page_below_one_in_the_trash_is_seen_at_the_top() -> None:
    top = page("Products")
    page("Overview", top)
    delete_post(post_id=top.pk, actor=make.actor())

    html = shown()

    assert "Parent page is in the trash" in html
    assert "/products/overview" in html


def test_a_large_tree_is_shown_a_level_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_tree, "MAX_WHOLE", 2)
    top = page("Products")
    middle = page("Overview", top)
    page("Details", middle)

    first, second = shown(), shown(f"?below={top.pk}")

    assert "/products/overview" not in first
    assert f"below={top.pk}" in first
    assert ">/products/overview<" in second
    assert "/products/overview/details" not in second
    assert shown("?below=nonsense&type=nonsense&locale=nonsense&page=x").count("/products<") == 1


def test_the_tree_asks_as_much_for_many_pages_as_for_one() -> None:
    client = Client()
    client.force_login(make.user("editor"))

    def statements() -> int:
        return count_queries(client.get, URL)

    top = page("Products")
    statements()
    one = statements()
    for number in range(5):
        page(f"Page{number}", top)

    assert statements() == one


def test_a_level_of_a_large_tree_takes_as_many_statements_as_a_small_one() -> None:
    client = Client()
    client.force_login(make.user("editor"))
    small, large = page("Small"), page("Large")
    page("Only", small)
    for number in range(6):
        page(f"Page{number}", large)

    def statements(below: Post) -> tuple[int, str]:
        with CaptureQueriesContext(connection) as found:
            html = client.get(f"{URL}?part=rows&below={below.pk}").content.decode()
        return len(found), html

    statements(small)
    few, rows = statements(small)
    many, more = statements(large)

    assert few == many
    assert (rows.count("data-page="), more.count("data-page=")) == (1, 6)


def test_the_tree_is_searched_by_title_and_address() -> None:
    top = page("Products")
    page("Overview", top)
    page("Services")

    assert "/products/overview" in shown("?q=products%2Fover")
    assert ">/services<" not in shown("?q=products")
    assert "No results" in shown("?q=nothing")


def test_a_move_answers_its_sentence_and_the_way_back() -> None:
    products, services = page("Products"), page("Services")
    first, second = page("First", products), page("Second", products)
    client = Client(headers={"Accept": "application/json"})
    client.force_login(make.user("editor"))
    sent = {"page": str(first.pk), "version": "1", "to": str(services.pk), "before": ""}

    answer = client.post(f"{URL}move/", sent)
    again = client.post(f"{URL}move/", sent)

    assert answer.json() == {
        "message": "“First” moved to /services/first.",
        "undo": {
            "page": str(first.pk),
            "to": str(products.pk),
            "before": str(second.pk),
            "version": 2,
        },
    }
    assert again.status_code == 409
    assert "Reload the page" in again.json()["message"]
    assert client.post(f"{URL}move/", {**sent, "page": "nonsense"}).status_code == 404
    assert client.post(f"{URL}move/", {**sent, "to": "nonsense"}).status_code == 404
    assert client.post(f"{URL}move/", {**sent, "version": "2", "to": str(first.pk)}).json() == {
        "message": "A post cannot be its own parent."
    }


def test_a_refused_move_shows_the_form_again() -> None:
    products, services = page("Products"), page("Services")
    page("Overview", services)
    overview = make.post("Overview", type="page", slug="overview", parentId=str(products.pk))
    client = Client()
    client.force_login(make.user("editor"))
    sent = {"page": str(overview.pk), "version": "1", "to": str(services.pk)}

    answer = client.post(f"{URL}move/", sent)

    assert answer.status_code == 422
    assert "already uses the slug" in answer.content.decode()
    client.force_login(make.user("translator"))
    assert client.post(f"{URL}move/", sent).status_code == 403
    assert Post.objects.get(pk=overview.pk).path == "/products/overview"


def test_a_page_is_created_below_another() -> None:
    top = page("Oben", locale="de")
    client = Client()
    client.force_login(make.user("editor"))
    url = f"/admin/content/post/add/?parent={top.pk}"

    form = client.get(url).content.decode()
    client.post(url, {"title": "Unten", "parent": str(top.pk), "type": "page", "locale": "de"})

    assert "/de/oben" in form
    assert Post.objects.get(title="Unten").path == "/de/oben/unten"
    assert client.get("/admin/content/post/add/?parent=nonsense").status_code == 404
