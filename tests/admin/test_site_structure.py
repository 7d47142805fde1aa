"""Terms, menus, URL patterns and redirects in the admin: plain forms over the services."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import UrlPattern
from content.paths.url_patterns import create_pattern
from proofroom.definitions import taxonomies
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu
from seo.models import Redirect
from tests import make
from tests.admin.pages import fields
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ATTACK = '"><script>alert(1)</script>'


def text(response: Any) -> str:
    return str(response.content.decode())


def queries_of(client: Client, address: str) -> int:
    """Return the page's number of queries without the session's, which may be cached."""
    return page_queries(client, address)


def test_the_terms_open_with_a_taxonomy_that_has_some(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/proofroom_taxonomies/term/"
    first = next(iter(taxonomies))
    other = next(found for found in taxonomies if found is not first)
    assert f'taxonomy={first.name}&amp;locale=en">New term' in text(client.get(list_))

    make.term("Coffee", other.name)

    assert f'taxonomy={other.name}&amp;locale=">New term' in text(client.get(list_))


def test_a_term_is_added_moved_and_deleted(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/proofroom_taxonomies/term/"
    sent = fields(client.get(f"{list_}add/"), "taxonomy")

    for name in ("Drinks", "Coffee"):
        added = client.post(f"{list_}add/", {**sent, "taxonomy": "topics", "name": name})
        assert added.status_code == 302
    drinks, coffee = Term.objects.get(slug="drinks"), Term.objects.get(slug="coffee")
    page = f"{list_}{coffee.pk}/change/"
    form = fields(client.get(page), "parentId")
    refused: Any = client.post(page, {**form, "parentId": str(coffee.pk)})
    unknown: Any = client.post(page, {**form, "parentId": "tea"})
    moved = client.post(page, {**form, "parentId": str(drinks.pk)})

    assert (refused.status_code, unknown.status_code, moved.status_code) == (422, 422, 302)
    assert "A term cannot be its own parent." in text(refused)
    assert "No term of topics has the ID &#x27;tea&#x27;." in text(unknown)
    assert fields(client.get(page), "parentId")["parentId"] == [str(drinks.pk)]
    coffee.refresh_from_db()
    assert coffee.parent_id == drinks.pk
    make.post(taxonomyTermIds=[str(drinks.pk)])
    gone = f"{list_}{drinks.pk}/delete/"
    assert client.get(gone).status_code == 200
    assert "1 post uses the term" in text(client.post(gone))
    assert Term.objects.count() == 2
    assert client.post(gone, {"force": "on"}).status_code == 302
    assert list(Term.objects.filter(parent=None).values_list("slug", flat=True)) == ["coffee"]
    assert Term.objects.count() == 1


def test_a_menu_is_made_changed_and_deleted(signed_in: SignedIn) -> None:
    client, list_ = signed_in(), "/admin/proofroom_menus/menu/"
    sent = {**fields(client.get(f"{list_}add/"), "copied"), "name": "Main", "slug": "main"}

    made = client.post(f"{list_}add/", sent)

    menu = Menu.objects.get()
    page = f"{list_}{menu.pk}/change/"
    assert (made.status_code, made["Location"]) == (302, page)
    form = fields(client.get(page), "version")
    wrong: Any = client.post(page, {**form, "items": '[{"label": ""}]'})
    no_json: Any = client.post(page, {**form, "items": "[" * 100_000})
    lone: Any = client.post(page, {**form, "do": "preview", "items": '[{"label": "\\ud800"}]'})
    assert (wrong.status_code, no_json.status_code, lone.status_code) == (422, 422, 200)
    assert "“Label” must not be empty." in text(wrong)
    create_menu(actor=make.actor(), name="X", slug="x", locale="en", items=[{"label": "Tea"}])
    other = f"{list_}{Menu.objects.get(slug='x').pk}/change/"
    unread: Any = client.post(
        other, {**fields(client.get(other)), "items": '[{"label": "\\u0000"}]'}
    )
    assert unread.status_code == 422
    assert "must not contain the character NUL.<" in text(unread)
    assert [row["label"] for row in Menu.objects.get(slug="x").items] == ["Tea"]
    assert "Tea" in text(unread)
    Menu.objects.filter(slug="x").delete()
    items = json.dumps([{"label": "Home", "url": "/"}, {"label": "Blog", "url": "/blog"}])
    assert client.post(page, {**form, "items": items}).status_code == 302
    stale = client.post(page, {**form, "items": "[]"})
    assert stale.status_code == 422
    assert "changed since you opened it" in text(stale)
    menu.refresh_from_db()
    assert [item["label"] for item in menu.items] == ["Home", "Blog"]
    copy = {**sent, "locale": "de", "copied": str(menu.pk)}
    assert client.post(f"{list_}add/", copy).status_code == 302
    assert len(Menu.objects.get(locale="de").items) == 2
    assert client.post(f"{list_}{menu.pk}/delete/").status_code == 302
    assert Menu.objects.count() == 1


def test_the_rows_of_a_menu_move_by_their_buttons_and_nothing_is_written(
    signed_in: SignedIn,
) -> None:
    labels = ["a", "b", "c"]
    menu = create_menu(
        actor=make.actor(),
        name="Main",
        slug="main",
        locale="en",
        items=[{"id": name, "label": name, "children": []} for name in labels],
    )
    client, page = signed_in(), f"/admin/proofroom_menus/menu/{menu.pk}/change/"
    sent: Any = fields(client.get(page))

    def after(*buttons: str) -> list[tuple[str, str]]:
        rows: Any = sent
        for button in buttons:
            rows = fields(client.post(page, {**rows, "do": button}))
        return [(id_, rows[f"depth-{id_}"][0]) for id_ in rows.get("row", [])]

    assert after("up:b") == [("b", "0"), ("a", "0"), ("c", "0")]
    assert after("down:a") == [("b", "0"), ("a", "0"), ("c", "0")]
    assert after("in:b", "in:c") == [("a", "0"), ("b", "1"), ("c", "1")]
    assert after("in:b", "in:c", "up:c") == [("a", "0"), ("c", "1"), ("b", "1")]
    assert after("in:b", "in:c", "out:b") == [("a", "0"), ("c", "1"), ("b", "0")]
    assert after("in:b", "down:a") == [("c", "0"), ("a", "0"), ("b", "1")]
    assert after("in:b", "remove:a") == [("b", "0"), ("c", "0")]
    assert after("in:a", "out:a", "up:a", "down:c", "up:x", "nonsense", "add:post:x") == [
        (name, "0") for name in labels
    ]
    menu.refresh_from_db()
    assert (menu.version, [item["label"] for item in menu.items]) == (1, labels)


def test_what_a_menu_may_lead_to_is_found_and_added(signed_in: SignedIn) -> None:
    post, term = make.post(title="Green tea", slug="green"), make.term("Green things")
    menu = create_menu(actor=make.actor(), name="Main", slug="main", locale="en")
    client, page = signed_in(), f"/admin/proofroom_menus/menu/{menu.pk}/change/"
    sent: Any = fields(client.get(page))

    found = text(client.post(page, {**sent, "do": "search", "find": "green"}))
    rows: Any = fields(client.post(page, {**sent, "do": f"add:post:{post.pk}"}))
    rows = fields(client.post(page, {**rows, "do": f"add:term:blog:{term.pk}"}))
    rows = fields(client.post(page, {**rows, "do": "add:list:blog"}))
    assert f"add:post:{post.pk}" in found
    assert f"add:term:blog:{term.pk}" in found
    assert client.post(page, rows).status_code == 302

    menu.refresh_from_db()
    assert [(item["type"], item["label"], item["url"]) for item in menu.items] == [
        ("post", "", "/blog/green"),
        ("custom", "Green things", "/blog/topics/green-things"),
        ("custom", "Blog", "/blog"),
    ]


@pytest.mark.parametrize("number", [1, 40])
def test_a_menu_opens_in_the_same_number_of_queries(signed_in: SignedIn, number: int) -> None:
    posts = [make.post(title=f"Tea {at}", slug=f"tea-{at}") for at in range(number)]
    items: Any = [{"type": "post", "postId": str(post.pk)} for post in posts]
    menu = create_menu(actor=make.actor(), name="M", slug="main", locale="en", items=items)
    client = signed_in()

    assert queries_of(client, f"/admin/proofroom_menus/menu/{menu.pk}/change/") == 11


def tree(parent: Term | None = None) -> list[Any]:
    """Return names, each with its children."""
    return [(row.name, tree(row)) for row in Term.objects.filter(parent=parent)]


def test_terms_move_by_buttons_and_by_place_and_only_where_they_fit(signed_in: SignedIn) -> None:
    coffee, tea, cake = (make.term(name) for name in ("Coffee", "Tea", "Cake"))
    client, page = signed_in(), "/admin/proofroom_taxonomies/term/?taxonomy=topics&locale="

    def does(do: str, **values: object) -> int:
        answer = client.post(page, {"do": do, **values}, headers={"Accept": "application/json"})
        return answer.status_code

    assert [name for name, _ in tree()] == ["Cake", "Coffee", "Tea"]
    assert does(f"move:{tea.pk}", before_id=cake.pk) == 200
    assert [name for name, _ in tree()] == ["Tea", "Cake", "Coffee"]
    assert does(f"move:{coffee.pk}", parent_id=tea.pk) == 200
    assert does(f"move:{tea.pk}", parent_id=coffee.pk) == 422
    assert does(f"move:{cake.pk}", before_id=coffee.pk) == 409
    assert does("move:nothing") == 404
    assert does(f"rename:{tea.pk}", name="Teas") == 200
    assert does(f"rename:{tea.pk}", name=" ") == 422
    assert tree() == [("Teas", [("Coffee", [])]), ("Cake", [])]
    for do in (f"out:{coffee.pk}", f"up:{coffee.pk}", f"in:{tea.pk}", f"down:{tea.pk}"):
        assert client.post(page, {"do": do}).status_code == 302
    assert tree() == [("Coffee", [("Teas", [])]), ("Cake", [])]
    refused: Any = client.post(page, {"do": "up:nothing"}, follow=True)
    assert "Term not found." in text(refused)


@pytest.mark.parametrize("number", [1, 60])
def test_the_term_tree_takes_a_constant_number_of_queries(signed_in: SignedIn, number: int) -> None:
    for place in range(number):
        make.term(f"Topic {place}")
    client = signed_in()

    assert queries_of(client, "/admin/proofroom_taxonomies/term/?taxonomy=topics") == 4


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


def test_a_pattern_shows_what_it_would_do_and_does_nothing(signed_in: SignedIn) -> None:
    tea, other = make.post(slug="tea", title="Tea"), make.post(slug="cup", title="Cup")
    client, add = signed_in(), "/admin/content/urlpattern/add/"
    sent: Any = {"type": "blog", "locale": "en", "do": "preview"}

    def said(pattern: str, page: str = add) -> str:
        return text(client.post(page, {**sent, "pattern": pattern}))

    shown = said("/tea/{slug}")
    assert "<del>/blog/tea</del>" in shown
    assert "<ins>/tea/tea</ins>" in shown
    assert "The addresses of 2 posts change." in shown
    assert "2 redirects from the old addresses will be created" in shown
    assert "No addresses change." in said("/blog/{slug}")
    assert "There is no variable {title}" in said("/x/{title}")
    assert "Addresses below /api are reserved" in said("/api/{slug}")
    assert "A pattern must contain {slug} or {path}" in said("/{yyyy}")
    make.post(type="page", slug="cup", title="Other cup")
    assert "“Cup” and “Other cup” would have the same address /cup." in said("/{slug}")
    assert UrlPattern.objects.count() == 0
    row = create_pattern(actor=make.actor(), type="blog", locale="en", pattern="/n/{slug}")
    assert "<ins>/m/tea</ins>" in said("/m/{slug}", f"/admin/content/urlpattern/{row.pk}/change/")
    for post, path in ((tea, "/n/tea"), (other, "/n/cup")):
        post.refresh_from_db()
        assert post.path == path


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
        "proofroom_taxonomies/term": make.term("Coffee"),
        "proofroom_menus/menu": create_menu(
            actor=make.actor(), name="Main", slug="main", locale="en"
        ),
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
    for part in (
        "proofroom_taxonomies/term",
        "proofroom_menus/menu",
        "content/urlpattern",
        "seo/redirect",
    ):
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
        "/admin/proofroom_taxonomies/term/",
        f"/admin/proofroom_taxonomies/term/{term.pk}/change/",
        f"/admin/proofroom_taxonomies/term/{term.pk}/delete/",
        "/admin/proofroom_menus/menu/",
        f"/admin/proofroom_menus/menu/{menu.pk}/change/",
    ):
        assert "<script>alert" not in text(client.get(page)), page
    assert "<script>alert" not in text(
        client.post(f"/admin/proofroom_taxonomies/term/{term.pk}/delete/", follow=True)
    )


def test_a_new_term_and_a_new_redirect_say_that_they_were_made(client: Client) -> None:
    client.force_login(make.user("editor"))
    term = {"taxonomy": "topics", "locale": "en", "name": "Storage", "orderIndex": "0"}
    redirect = {"fromPath": "/old", "toPath": "/new", "type": "301", "isActive": "on"}

    made = [
        client.post("/admin/proofroom_taxonomies/term/add/", term, follow=True),
        client.post("/admin/seo/redirect/add/", redirect, follow=True),
    ]

    said = [[str(message) for message in page.context["messages"]] for page in made]
    assert said == [["Created “Storage”."], ["Created “/old”."]]


def test_filters_of_terms_say_names(signed_in: SignedIn) -> None:
    make.term("Coffee", "topics")
    Term.objects.create(taxonomy="topics", slug="tea", name="Tea", locale="en")

    shown = text(signed_in().get("/admin/proofroom_taxonomies/term/?q=coff"))

    assert ">Topics</a>" in shown
    assert ">All languages</a>" in shown
    assert ">English</a>" in shown
