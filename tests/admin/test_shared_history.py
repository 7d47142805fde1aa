"""Histories of global modules, menus and terms: stored, shown, compared and restored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from content.models import ModuleInstance, Post
from content.modules.global_modules import create_global, delete_global, edit_global
from proofroom.core.errors import CmsError, Conflict, NotFound, RuleViolation
from proofroom.core.json import Json
from proofroom.shared_content import revisions
from proofroom.shared_content.models import SharedRevision
from proofroom.shared_content.revisions import list_revisions, restore_revision
from proofroom.shared_content.shared_types import GLOBAL_MODULE, MENU, TERM, find_kind, shared_kinds
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term, create_term, delete_term, move_term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu, delete_menu
from tests import make
from tests.api_client import ApiClient
from tests.queries import page_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ITEMS: list[Json] = [{"id": "a", "label": "Coffee", "url": "/coffee", "children": []}]


def story(kind: str, row: Menu | Term | ModuleInstance) -> list[tuple[int, str, str]]:
    """Return version, reason and author of each revision, newest first."""
    rows = list_revisions(kind, row.pk)
    return [(row.version, row.reason, row.by_name) for row in rows]


def menu(**values: Any) -> Menu:
    given = {"name": "Main", "slug": "main", "locale": "en", "items": ITEMS, **values}
    return create_menu(actor=make.actor(), **given)


def shared_module(**props: Json) -> ModuleInstance:
    given = {"title": "Subscribe", **props}
    return create_global(
        actor=make.actor(), slug="letter", type="callout", label="Letter", props=given
    )


def topic(name: str = "Coffee") -> Term:
    return create_term(actor=make.actor(), taxonomy="topics", name=name)


def page(kind: str, row: Menu | Term | ModuleInstance, rest: str = "history/") -> str:
    return f"/admin/content/shared/{kind}/{row.pk}/{rest}"


def text(response: Any) -> str:
    return " ".join(str(response.content.decode()).split())


def test_every_save_of_a_menu_stores_who_made_it() -> None:
    one = menu()

    change_menu(menu_id=one.pk, actor=make.actor("admin"), name="Top")
    ApiClient("editor").write("PUT", f"/api/menus/{one.pk}", {"items": []})

    assert story(MENU, one) == [
        (3, "edited", "editor"),
        (2, "edited", "admin"),
        (1, "created", "editor"),
    ]
    newest, middle, _first = list_revisions(MENU, one.pk)
    assert (middle.document["name"], newest.document["items"]) == ("Top", [])
    assert middle.document["items"][0]["label"] == "Coffee"


def test_a_change_of_a_term_is_stored_and_its_order_alone_is_none() -> None:
    drinks, coffee = topic("Drinks"), topic("Coffee")
    client = ApiClient("editor")

    client.write("PATCH", f"/api/taxonomy-terms/{coffee.pk}", {"orderIndex": 4})
    client.write("PATCH", f"/api/taxonomy-terms/{coffee.pk}", {"name": "Filter coffee"})
    move_term(term_id=coffee.pk, actor=make.actor(), parent_id=drinks.pk)
    move_term(term_id=drinks.pk, actor=make.actor(), parent_id=None)

    assert [row[:2] for row in story(TERM, coffee)] == [
        (3, "moved"),
        (2, "edited"),
        (1, "created"),
    ]
    assert list_revisions(TERM, coffee.pk)[0].document == {
        "name": "Filter coffee",
        "slug": "coffee",
        "description": "",
        "parentId": str(drinks.pk),
    }
    assert len(story(TERM, drinks)) == 1


def test_what_was_there_before_revisions_is_stored_with_the_first_change() -> None:
    old_menu = Menu.objects.create(name="Old", slug="old", locale="en", items=[])
    old_term = make.term("Tea")
    SharedRevision.objects.all().delete()

    change_menu(menu_id=old_menu.pk, actor=make.actor(), name="New")
    change_term(term_id=old_term.pk, actor=make.actor(), name="Teas")

    assert story(MENU, old_menu) == [(2, "edited", "editor"), (1, "before", "")]
    assert list_revisions(TERM, old_term.pk).last().document["name"] == "Tea"


def test_the_oldest_revisions_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MAX_REVISIONS", 3)
    one, other = menu(), menu(slug="footer")

    for number in range(5):
        change_menu(menu_id=one.pk, actor=make.actor(), name=f"Main {number}")

    assert [row[0] for row in story(MENU, one)] == [6, 5, 4]
    assert [row[0] for row in story(MENU, other)] == [1]


def test_revisions_go_with_their_row() -> None:
    one, term, module = menu(), topic(), shared_module()
    kept = topic("Tea")

    delete_menu(menu_id=one.pk, actor=make.actor())
    delete_term(term_id=term.pk, actor=make.actor())
    delete_global(actor=make.actor(), slug="letter")

    assert {row.row_id for row in SharedRevision.objects.all()} == {kept.pk}
    assert not list_revisions(GLOBAL_MODULE, module.pk).exists()


def test_find_and_replace_stores_revisions_of_menus_and_terms() -> None:
    one, term, other = menu(), topic(), topic("Tea")
    body = {
        "find": "Coffee",
        "replace": "Cocoa",
        "tables": ["menus", "taxonomies"],
        "dryRun": False,
    }

    ApiClient("admin").write("POST", "/api/database/find-replace", body)

    assert story(MENU, one)[0] == (2, "find-replace", "admin")
    assert story(TERM, term)[0] == (2, "find-replace", "admin")
    assert len(story(TERM, other)) == 1
    term.refresh_from_db()
    assert (term.name, term.version) == ("Cocoa", 2)


def test_a_revision_from_before_descriptions_leaves_the_description() -> None:
    term = topic()
    old = list_revisions(TERM, term.pk)[0]
    SharedRevision.objects.filter(row_id=term.pk).update(
        document={"name": "Coffee", "slug": "coffee", "parentId": None}
    )
    change_term(term_id=term.pk, actor=make.actor(), name="Tea", description="Leaves")

    kind = find_kind(TERM)
    restore_revision(kind=kind, row_id=term.pk, revision_id=old.pk, actor=make.actor())

    term.refresh_from_db()
    assert (term.name, term.description) == ("Coffee", "Leaves")


def test_every_kind_is_restored_through_its_history(signed_in: SignedIn) -> None:
    one, term, module = menu(), topic(), shared_module()
    change_menu(menu_id=one.pk, actor=make.actor(), name="Top", items=[])
    change_term(term_id=term.pk, actor=make.actor(), name="Cocoa", slug="cocoa")
    edit_global(actor=make.actor(), slug="letter", label="News", props={"title": "Write"})
    client = signed_in("admin")

    for kind, row in ((MENU, one), (TERM, term), (GLOBAL_MODULE, module)):
        first = list_revisions(kind, row.pk).get(version=1)
        address = page(kind, row, f"restore/{first.pk}/")
        assert "Restore version 1" in text(client.get(address))
        assert client.post(address, {"version": "2"})["Location"] == page(kind, row)
        row.refresh_from_db()
        assert story(kind, row)[0] == (3, "reverted", "admin")

    assert (one.name, one.items[0]["label"], one.version) == ("Main", "Coffee", 3)
    assert (term.name, term.slug) == ("Coffee", "coffee")
    assert (module.label, module.props["title"]) == ("Letter", "Subscribe")


def test_a_stale_restore_changes_nothing(signed_in: SignedIn) -> None:
    one = menu()
    first = list_revisions(MENU, one.pk).get()
    change_menu(menu_id=one.pk, actor=make.actor(), name="Top")
    address = page(MENU, one, f"restore/{first.pk}/")

    for sent in ("1", "", "x", "-1"):
        answered = signed_in().post(address, {"version": sent}, follow=True)
        assert "This menu has changed since you opened it." in text(answered)

    one.refresh_from_db()
    assert (one.name, one.version) == ("Top", 2)


def test_a_revision_of_another_row_is_not_found(signed_in: SignedIn) -> None:
    one, other = menu(), menu(slug="footer")
    foreign = list_revisions(MENU, other.pk).get()
    client = signed_in()

    assert client.get(page(MENU, one, f"restore/{foreign.pk}/")).status_code == 404
    assert client.get(page(MENU, one, f"compare/?from={foreign.pk}&to=x")).status_code == 404
    assert client.get(f"/admin/content/shared/{MENU}/{uuid4()}/history/").status_code == 404
    assert client.get(f"/admin/content/shared/nothing/{one.pk}/history/").status_code == 404
    with pytest.raises(NotFound):
        restore_revision(
            kind=find_kind(MENU), row_id=one.pk, revision_id=foreign.pk, actor=make.actor()
        )


@pytest.mark.parametrize("who", ["translator", "agent", "mcp"])
def test_only_people_who_may_edit_restore(who: str) -> None:
    rows = {MENU: menu(), TERM: topic(), GLOBAL_MODULE: shared_module()}
    before = SharedRevision.objects.count()
    actor = {
        "translator": lambda: make.actor("translator"),
        "agent": make.agent_actor,
        "mcp": lambda: make.mcp_actor("admin"),
    }[who]()

    for kind in shared_kinds:
        row = rows[kind.name]
        revision = list_revisions(kind.name, row.pk).get()
        with pytest.raises(CmsError) as refused:
            restore_revision(kind=kind, row_id=row.pk, revision_id=revision.pk, actor=actor)
        assert refused.value.status == 403
    assert SharedRevision.objects.count() == before


def test_a_menu_comes_back_with_an_item_for_a_page_that_is_gone() -> None:
    post = make.post()
    items: list[Json] = [{"type": "post", "postId": str(post.pk)}, *ITEMS]
    one = menu(items=items)
    change_menu(menu_id=one.pk, actor=make.actor(), items=ITEMS)
    Post.objects.filter(pk=post.pk).delete()
    first = list_revisions(MENU, one.pk).get(version=1)

    restore_revision(kind=find_kind(MENU), row_id=one.pk, revision_id=first.pk, actor=make.actor())

    one.refresh_from_db()
    assert [item["type"] for item in one.items] == ["post", "custom"]
    with pytest.raises(RuleViolation):
        change_menu(menu_id=menu(slug="other").pk, actor=make.actor(), items=items)


def test_a_term_comes_back_where_its_parent_is_gone() -> None:
    drinks = topic("Drinks")
    coffee = create_term(
        actor=make.actor(), taxonomy="topics", name="Coffee", parent_id=str(drinks.pk)
    )
    change_term(term_id=coffee.pk, actor=make.actor(), name="Cocoa")
    delete_term(term_id=drinks.pk, actor=make.actor())
    first = list_revisions(TERM, coffee.pk).get(version=1)

    restore_revision(
        kind=find_kind(TERM), row_id=coffee.pk, revision_id=first.pk, actor=make.actor()
    )

    coffee.refresh_from_db()
    assert (coffee.name, coffee.parent_id) == ("Coffee", None)


def test_a_stale_form_of_a_term_is_refused(signed_in: SignedIn) -> None:
    term = topic()
    address = f"/admin/proofroom_taxonomies/term/{term.pk}/change/"
    sent = {"name": "Tea", "slug": "tea", "parentId": "", "orderIndex": "0", "version": "1"}
    change_term(term_id=term.pk, actor=make.actor(), name="Cocoa")

    refused = signed_in().post(address, sent)

    assert "This term has changed since you opened it." in text(refused)
    term.refresh_from_db()
    assert term.name == "Cocoa"
    assert signed_in().post(address, {**sent, "version": "2"}).status_code == 302
    with pytest.raises(Conflict):
        change_term(term_id=term.pk, actor=make.actor(), name="X", expected_version=1)


def test_the_history_names_what_changed_and_compares_it(signed_in: SignedIn) -> None:
    post = make.post(title="Green tea")
    one, term, module = menu(), topic(), shared_module()
    items: list[Json] = [{"type": "post", "postId": str(post.pk)}]
    change_menu(menu_id=one.pk, actor=make.actor(), name="<i>Top</i>", items=[*ITEMS, *items])
    change_term(term_id=term.pk, actor=make.actor(), slug="cocoa", parent_id=topic("Drinks").pk)
    edit_global(actor=make.actor(), slug="letter", props={"title": "Write to us"})
    client = signed_in()

    listed = {
        kind: text(client.get(page(kind, row)))
        for kind, row in ((MENU, one), (TERM, term), (GLOBAL_MODULE, module))
    }
    compared = {
        kind: text(client.get(page(kind, row, compare_query(kind, row))))
        for kind, row in ((MENU, one), (TERM, term), (GLOBAL_MODULE, module))
    }

    assert "Edited: Name, Items" in listed[MENU]
    assert "Edited: Slug, Parent term" in listed[TERM]
    assert "Edited: Title" in listed[GLOBAL_MODULE]
    assert "Green tea" in compared[MENU]
    assert "<i>Top" not in compared[MENU]
    assert "Drinks" in compared[TERM]
    assert "Write to us" in compared[GLOBAL_MODULE]


def compare_query(kind: str, row: Menu | Term | ModuleInstance) -> str:
    newest, oldest = list_revisions(kind, row.pk)[:2]
    return f"compare/?from={oldest.pk}&to={newest.pk}"


@pytest.mark.parametrize("number", [2, 20])
def test_the_history_takes_the_same_number_of_queries(signed_in: SignedIn, number: int) -> None:
    one = menu()
    for at in range(number):
        change_menu(menu_id=one.pk, actor=make.actor(), name=f"Main {at}")
    client = signed_in()

    assert page_queries(client, page(MENU, one)) == 6


def test_what_was_never_changed_has_an_empty_history(signed_in: SignedIn) -> None:
    module = make.global_module()
    SharedRevision.objects.all().delete()

    page = signed_in("admin").get(f"/admin/content/shared/global-module/{module.pk}/history/")

    assert "No revisions yet." in page.content.decode()


def test_the_state_before_the_first_change_has_its_own_time_and_no_author(
    signed_in: SignedIn,
) -> None:
    module = shared_module()
    SharedRevision.objects.all().delete()  # made before revisions were stored
    made = timezone.now() - timedelta(days=40)
    ModuleInstance.objects.filter(pk=module.pk).update(updated_at=made)
    edit_global(actor=make.actor("admin"), slug="letter", label="Newsletter")

    first = list_revisions(GLOBAL_MODULE, module.pk).get(version=1)

    assert (first.reason, first.created_at, first.by_name) == ("before", made, "")
    assert "Unknown" in text(signed_in("admin").get(page(GLOBAL_MODULE, module)))


def test_a_time_that_nobody_knows_is_said_to_be_unknown(signed_in: SignedIn) -> None:
    term = topic()
    SharedRevision.objects.all().delete()
    change_term(actor=make.actor("admin"), term_id=term.pk, name="Kaffee")

    assert list_revisions(TERM, term.pk).get(version=1).created_at is None
    assert signed_in("admin").get(page(TERM, term)).status_code == 200
