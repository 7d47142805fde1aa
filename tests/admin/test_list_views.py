"""Saved views of lists, and each user's columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from content.models import Post, Status
from forms.models import FormDefinition
from proofroom.accounts.models import User
from proofroom.core.admin.lists import ListAdmin
from proofroom.core.errors import CmsError, NotAllowed, NotFound, RuleViolation
from proofroom.core.list_views import (
    MAX_OWN,
    change_view,
    delete_view,
    list_views,
    save_view,
    set_columns,
    set_opening_view,
)
from proofroom.core.models import Event, ListView
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
POSTS = "/admin/content/post/"
LIST = "content.post"
DRAFTS = "status__exact=draft"


def titles(response: Any) -> list[str]:
    return [post.title for post in response.context["cl"].result_list]


def columns(response: Any) -> list[str]:
    return [str(name) for name in response.context["cl"].list_display if isinstance(name, str)][1:]


def text(response: Any) -> str:
    return unescape(response.content.decode())


def saved(role: str = "editor", **values: Any) -> ListView:
    given = {"list_name": LIST, "name": "Drafts", "query": DRAFTS, "columns": []}
    return save_view(actor=make.actor(role), **{**given, **values})


@pytest.fixture
def posts() -> list[Post]:
    return [make.post("Tea", status=Status.DRAFT), make.post("Coffee"), make.post("Milk")]


@pytest.mark.usefixtures("posts")
def test_a_view_keeps_filters_order_and_columns(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    client.post(
        f"{POSTS}?{DRAFTS}&o=-name",
        {"list_view": "columns", "order": ["name", "changed", "state"], "column": ["changed"]},
    )

    answer = client.post(f"{POSTS}?{DRAFTS}&o=-name", {"list_view": "save", "name": " Drafts "})

    view = ListView.objects.get(name="Drafts")
    assert (view.query, view.columns) == (f"o=-name&{DRAFTS}", ["name", "changed"])
    assert (view.is_shared, view.owner.username) == (False, "editor")
    assert answer["Location"] == f"{POSTS}?saved={view.pk}&o=-name&{DRAFTS}"
    page = client.get(answer["Location"])
    assert titles(page) == ["Tea"]
    assert columns(page) == ["name", "changed"]
    assert "Edited" not in text(page)
    assert "Edited" in text(client.get(f"{POSTS}?saved={view.pk}&status__exact=published"))
    # The short URL redirects to the current state of the view.
    assert client.get(f"{POSTS}?saved={view.pk}")["Location"] == answer["Location"]
    assert Event.objects.filter(name="list-view.changed").count() == 2


@pytest.mark.usefixtures("posts")
def test_links_name_columns_and_keep_the_view(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    view = saved()

    page = client.get(f"{POSTS}?saved={view.pk}&{DRAFTS}&o=-name.kind")

    links = re.findall(r'<a href="(\?[^"]*\bo=[^"]*)"', text(page))
    assert links
    assert all(f"saved={view.pk}" in link for link in links)
    assert not any(re.search(r"\bo=[^&]*\d", link) for link in links)
    # Without its filters it is the list itself.
    assert page.context["cl"].clear_all_filters_qs == f"?o=-name.kind&saved={view.pk}"
    plain = client.get(f"{POSTS}?saved={view.pk}&{DRAFTS}")
    assert plain.context["cl"].clear_all_filters_qs == "?saved=all"


@pytest.mark.usefixtures("posts")
def test_an_order_holds_by_a_column_that_is_hidden_and_in_old_bookmarks(
    signed_in: SignedIn,
) -> None:
    client = signed_in("admin")
    assert titles(client.get(f"{POSTS}?o=1")) == ["Coffee", "Milk", "Tea"]
    assert titles(client.get(f"{POSTS}?o=-1.2")) == ["Tea", "Milk", "Coffee"]
    set_columns(actor=make.actor("admin"), list_name=LIST, columns=["name", "kind"])

    assert titles(client.get(f"{POSTS}?o=state.-name")) == ["Tea", "Milk", "Coffee"]
    for odd in ("", "-", "nothing", "99", "-٣", "1" * 40, "name.name"):
        assert client.get(POSTS, {"o": odd}).status_code == 200, odd


@pytest.mark.usefixtures("posts")
def test_columns_are_chosen_moved_and_reset(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    names = ["name", "kind", "language", "created"]

    def send(**sent: Any) -> list[str]:
        client.post(POSTS, {"list_view": "columns", "order": names, **sent})
        return columns(client.get(POSTS))

    assert send(column=["created", "kind"]) == ["name", "kind", "created"]
    assert send(column=names, move="up:created") == ["name", "kind", "created", "language"]
    assert send(column=names, move="up:name") == names
    # The column with the link to the post cannot be hidden.
    assert send(column=["kind"]) == ["name", "kind"]
    assert send(reset="1") == [
        "name",
        "kind",
        "language",
        "state",
        "waiting",
        "author_name",
        "changed",
    ]
    # Columns are personal.
    send(column=["kind"])
    assert len(columns(signed_in("admin").get(POSTS))) == 7


@pytest.mark.parametrize(
    "sent",
    [
        {"list_view": "columns", "order": ["password"], "column": ["password"]},
        {"list_view": "columns", "order": ["__class__"], "column": ["__class__"]},
        {"list_view": "save", "name": ""},
        {"list_view": "save", "name": "x" * 61},
        {"list_view": "nothing"},
        {"list_view": "update"},
    ],
)
def test_what_is_odd_is_refused_and_stores_nothing(
    signed_in: SignedIn, sent: dict[str, Any]
) -> None:
    answer = signed_in("editor").post(POSTS, sent, follow=True)

    assert answer.status_code == 200
    assert "messagelist" in text(answer)
    assert not ListView.objects.exists()


@pytest.mark.parametrize("query", ["password__startswith=x", "author__password=x"])
def test_filters_that_the_list_has_not_are_not_saved(signed_in: SignedIn, query: str) -> None:
    client = signed_in("editor")
    client.raise_request_exception = False

    answer = client.post(f"{POSTS}?{query}", {"list_view": "save", "name": "Secrets"})

    assert answer.status_code in (302, 400)
    assert not ListView.objects.exists()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"query": "q=" + "x" * 2000}, "query"),
        ({"query": "&".join(f"a{n}=1" for n in range(40))}, "query"),
        ({"query": "q=%00"}, "query"),
        ({"columns": [f"c{n}" for n in range(41)]}, "columns"),
        ({"name": "a\nb"}, "name"),
    ],
)
def test_the_service_bounds_what_it_stores(values: dict[str, Any], field: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        saved(**values)

    assert field in refused.value.details
    assert not ListView.objects.exists()


def test_names_are_one_persons_own_and_views_are_bounded() -> None:
    saved()
    with pytest.raises(RuleViolation):
        saved()
    saved("admin")  # somebody else's name is free
    for number in range(MAX_OWN - 1):
        saved(name=f"View {number}")

    with pytest.raises(RuleViolation) as refused:
        saved(name="One more")

    assert refused.value.code == "too_many"


def test_private_views_are_nobody_elses(signed_in: SignedIn) -> None:
    view, admin = saved(), make.actor("admin")

    assert list_views(actor=admin, list_name=LIST) == []
    assert signed_in("admin").get(f"{POSTS}?saved={view.pk}").status_code == 404
    steps: list[Callable[[], object]] = [
        lambda: change_view(actor=admin, list_name=LIST, view_id=view.pk, name="Mine"),
        lambda: delete_view(actor=admin, list_name=LIST, view_id=view.pk),
        lambda: set_opening_view(actor=admin, list_name=LIST, view_id=view.pk),
        # Nor a view of another list.
        lambda: delete_view(actor=make.actor("editor"), list_name="media.asset", view_id=view.pk),
    ]
    for step in steps:
        with pytest.raises(NotFound):
            step()
    assert ListView.objects.get().name == "Drafts"


def test_shared_views_are_seen_by_all_and_changed_by_who_may_share(signed_in: SignedIn) -> None:
    view, translator = saved(is_shared=True), make.actor("translator")

    assert "Drafts" in text(signed_in("translator").get(POSTS + "?saved=all"))
    steps: list[Callable[[], object]] = [
        lambda: saved("translator", name="Other", is_shared=True),
        lambda: change_view(actor=translator, list_name=LIST, view_id=view.pk, columns=["name"]),
        lambda: delete_view(actor=translator, list_name=LIST, view_id=view.pk),
    ]
    for step in steps:
        with pytest.raises(NotAllowed):
            step()
    change_view(actor=make.actor("admin"), list_name=LIST, view_id=view.pk, name="All drafts")
    with pytest.raises(NotAllowed):  # only its owner takes it from the others
        change_view(actor=make.actor("admin"), list_name=LIST, view_id=view.pk, is_shared=False)
    assert ListView.objects.get().name == "All drafts"


def test_a_view_of_a_role_is_seen_by_its_members_only(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    form = text(client.get(f"{POSTS}?{DRAFTS}"))
    assert '<option value="role:translator">Role: Translator</option>' in form
    assert "role:ai_agent" not in form
    sent = {"list_view": "save", "name": "For translators", "shared": "role:translator"}
    client.post(f"{POSTS}?{DRAFTS}", sent)
    client.post(f"{POSTS}?{DRAFTS}", {**sent, "name": "For pirates", "shared": "role:pirate"})
    view = ListView.objects.get()

    assert (view.is_shared, view.role) == (True, "translator")
    address = f"{POSTS}?saved={view.pk}&{DRAFTS}"
    assert "For translators" in text(signed_in("translator").get(address))
    assert signed_in("editor").get(address).status_code == 404
    editor = make.actor("editor")
    steps: list[Callable[[], object]] = [
        lambda: change_view(actor=editor, list_name=LIST, view_id=view.pk, name="Mine"),
        lambda: set_opening_view(actor=editor, list_name=LIST, view_id=view.pk),
    ]
    for step in steps:
        with pytest.raises(NotFound):
            step()
    assert '<option value="role:translator" selected>' in text(client.get(address))
    # Deleted, restored, and shared with another role.
    page = client.post(address, {"list_view": "delete"}, follow=True)
    undo = re.search(r'name="undo" value="([^"]+)"', text(page))
    assert undo
    client.post("/admin/undo/", {"undo": undo[1]})
    again = ListView.objects.get()
    assert again.role == "translator"
    client.post(
        f"{POSTS}?saved={again.pk}&{DRAFTS}",
        {"list_view": "rename", "name": "For editors", "shared": "role:editor"},
    )
    assert "For editors" in text(signed_in("editor").get(POSTS))
    assert "For editors" not in text(signed_in("translator").get(POSTS))
    event = Event.objects.filter(name="list-view.changed").latest("pk")
    assert (event.payload["shared"], event.payload["role"]) == (True, "editor")


def test_a_view_of_a_role_whose_owner_left_is_cleaned_up_by_an_administrator() -> None:
    view = save_view(
        actor=make.actor("editor"),
        list_name=LIST,
        name="Drafts",
        query=DRAFTS,
        columns=[],
        is_shared=True,
        role="translator",
    )
    admin = make.actor("admin")
    assert list_views(actor=admin, list_name=LIST) == []

    make.user("editor").delete()

    assert list_views(actor=make.actor("editor"), list_name=LIST) == []
    delete_view(actor=admin, list_name=LIST, view_id=view.pk)


@pytest.mark.usefixtures("posts")
@pytest.mark.parametrize("kept", ["", f"{DRAFTS}&o=-name"])
@pytest.mark.parametrize(
    ("lost", "sentence"),
    [
        ("brand=x", "A filter of this view no longer exists: brand."),
        ("author__password=x", "A filter of this view no longer exists: author."),
        ("brand=x&shape=y", "Some filters of this view no longer exist: brand, shape."),
    ],
)
def test_a_view_opens_without_a_filter_that_no_longer_exists(
    kept: str, lost: str, sentence: str, signed_in: SignedIn
) -> None:
    client = signed_in("editor")
    view = saved(query=f"{kept}&{lost}")

    page = client.get(f"{POSTS}?saved={view.pk}", follow=True)

    assert titles(page) == (["Tea"] if kept else ["Milk", "Coffee", "Tea"])
    assert page.context["list_state"].view == view
    assert sentence in text(page)
    # "Update view" saves what is left.
    client.post(
        page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"], {"list_view": "update"}
    )
    view.refresh_from_db()
    assert view.query == "&".join(sorted(kept.split("&")))


def test_programs_save_nothing() -> None:
    token = replace(make.actor("editor"), token_id="1")
    for actor in (make.agent_actor(), make.mcp_actor("editor"), token):
        with pytest.raises(CmsError):
            save_view(actor=actor, list_name=LIST, name="X", query="", columns=[])


@pytest.mark.usefixtures("posts")
def test_a_list_opens_with_the_view_of_ones_choice(signed_in: SignedIn) -> None:
    client, view = signed_in("translator"), saved(is_shared=True)
    client.post(f"{POSTS}?saved={view.pk}", {"list_view": "opening"})

    assert client.get(POSTS)["Location"] == f"{POSTS}?saved={view.pk}&{DRAFTS}"
    assert titles(client.get(f"{POSTS}?saved=all")) == ["Milk", "Coffee", "Tea"]
    assert signed_in("editor").get(POSTS).status_code == 200
    delete_view(actor=make.actor("admin"), list_name=LIST, view_id=view.pk)
    assert client.get(POSTS).status_code == 200


@pytest.mark.usefixtures("posts")
def test_a_deleted_view_comes_back_by_undo(signed_in: SignedIn) -> None:
    client, view = signed_in("admin"), saved(is_shared=True)

    page = client.post(f"{POSTS}?saved={view.pk}&{DRAFTS}", {"list_view": "delete"}, follow=True)

    assert not ListView.objects.exists()
    undo = re.search(r'name="undo" value="([^"]+)"', text(page))
    assert undo
    client.post("/admin/undo/", {"undo": undo[1]})
    again = ListView.objects.get()
    assert (again.name, again.query, again.is_shared) == ("Drafts", DRAFTS, True)
    assert again.owner_id == view.owner_id


@pytest.mark.usefixtures("posts")
def test_shared_views_outlive_the_account_of_their_owner(signed_in: SignedIn) -> None:
    shared, client = saved(is_shared=True), signed_in("admin")
    saved(name="Mine")
    for role in ("editor", "admin"):
        set_opening_view(actor=make.actor(role), list_name=LIST, view_id=shared.pk)

    make.user("editor").delete()

    assert {view.name for view in ListView.objects.all()} == {"Drafts", ""}
    assert ListView.objects.get(name="Drafts").owner is None
    assert client.get(POSTS)["Location"] == f"{POSTS}?saved={shared.pk}&{DRAFTS}"
    page = client.post(f"{POSTS}?saved={shared.pk}&{DRAFTS}", {"list_view": "delete"}, follow=True)
    undo = re.search(r'name="undo" value="([^"]+)"', text(page))
    assert undo
    client.post("/admin/undo/", {"undo": undo[1]})
    assert ListView.objects.get(name="Drafts").owner is None


@pytest.mark.usefixtures("posts")
def test_a_view_comes_back_where_its_owner_was_deleted_meanwhile(signed_in: SignedIn) -> None:
    client, view = signed_in("admin"), saved(is_shared=True)
    page = client.post(f"{POSTS}?saved={view.pk}&{DRAFTS}", {"list_view": "delete"}, follow=True)
    undo = re.search(r'name="undo" value="([^"]+)"', text(page))
    assert undo
    make.user("editor").delete()

    client.post("/admin/undo/", {"undo": undo[1]})

    connection.check_constraints()
    assert ListView.objects.get().owner is None


@pytest.mark.parametrize("chosen", [["no-key"], [str(UUID(int=1)), "1"]])
def test_a_selection_of_no_rows_is_refused(chosen: list[str], signed_in: SignedIn) -> None:
    sent = {"action": "publish", "_selected_action": chosen}
    page = signed_in("admin").post(POSTS, sent, follow=True)

    assert page.status_code == 200
    assert "The selection is not valid. Select the rows again." in text(page)


def test_select_all_covers_the_rows_that_the_page_counted(signed_in: SignedIn) -> None:
    first, _second = (make.post(f"Tea {n}", status=Status.DRAFT) for n in (1, 2))
    client, address = signed_in("editor"), f"{POSTS}?{DRAFTS}"
    shown = text(client.get(address))
    counted = re.search(r'name="across_count" value="(\d+)"', shown)
    assert counted
    sent = {
        "action": "publish",
        "confirmed": "1",
        "select_across": "1",
        "across_count": counted[1],
        "_selected_action": [str(first.pk)],
    }

    came = make.post("Milk", status=Status.DRAFT)
    more = text(client.post(address, sent, follow=True))
    first.delete()
    swapped = text(client.post(address, sent, follow=True))

    assert "The list changed since you opened it. Nothing was done." in more
    assert "The list changed since you opened it. Nothing was done." in swapped
    assert not Post.objects.filter(status=Status.PUBLISHED).exists()
    again = {**sent, "_selected_action": [str(came.pk)]}
    assert "2 posts are published." in text(client.post(address, again, follow=True))


@pytest.mark.parametrize("page", ["2", "999", "-1"])
def test_a_page_past_the_last_one_is_the_last_of_the_same_list(
    page: str, posts: list[Post], signed_in: SignedIn
) -> None:
    shown = signed_in("editor").get(f"{POSTS}?{DRAFTS}&p={page}", follow=True)

    assert titles(shown) == ["Tea"]
    assert DRAFTS in shown.request["QUERY_STRING"]


@pytest.mark.usefixtures("posts")
def test_views_take_one_statement_of_a_list(signed_in: SignedIn) -> None:
    client = signed_in("admin")

    def asked(address: str) -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(address)
        return sum("listview" in query["sql"] for query in found)

    assert asked(POSTS) == 1
    for number in range(5):
        saved("admin", name=f"View {number}")
    view = saved("admin", columns=["name", "author_name"])
    assert asked(f"{POSTS}?saved={view.pk}&{DRAFTS}") == 1
    assert asked("/admin/seo/redirect/") == 1
    assert asked(f"{POSTS}trash/") == 0


@pytest.mark.parametrize(
    "address",
    [
        "proofroom_feedback/feedback/", "proofroom_webhooks/delivery/", "proofroom_core/event/",
        "mcp_bridge/mcpcall/", "agents_app/agentbatch/", "agents_app/agentrun/",
        "forms/formsubmission/", "seo/redirect/", "proofroom_accounts/user/",
        "proofroom_menus/menu/", "content/urlpattern/",
    ],
)  # fmt: skip
def test_every_list_has_views_and_columns(signed_in: SignedIn, address: str) -> None:
    client = signed_in("admin")
    page = client.get(f"/admin/{address}")
    state = page.context["list_state"]
    names = [choice.name for choice in state.choices]
    assert len(names) > 1

    client.post(
        f"/admin/{address}", {"list_view": "columns", "order": names[::-1], "column": names}
    )
    client.post(f"/admin/{address}?q=tea", {"list_view": "save", "name": "Tea"})

    view = ListView.objects.get(name="Tea")
    shown = client.get(f"/admin/{address}?saved={view.pk}", follow=True)
    assert [choice.name for choice in shown.context["list_state"].choices] == names[::-1]
    # No parameter of the view becomes a filter of the list.
    assert "e=1" not in shown.request["QUERY_STRING"]


def test_lists_say_how_long_ago_something_was(signed_in: SignedIn) -> None:
    form = make.form()
    FormDefinition.objects.filter(pk=form.pk).update(
        updated_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    )
    client = signed_in("editor")

    for order in ("", "?o=updated_at"):
        page = client.get(f"/admin/forms/formdefinition/{order}").content.decode()
        found = re.search(
            r'field-updated_at[^>]*><time datetime="2026-03-01T09:30:00[^"]*" title="([^"]+)">([^<]+)<',
            page,
        )
        assert found is not None
        assert found[1] == "2026-03-01 09:30 (UTC)"
        assert found[2].endswith("ago")
        assert re.search(r"[?&;]o=[^\"]*updated_at", page)


def posted(page: HttpResponse) -> dict[str, Sequence[str]]:
    """Return the hidden fields of a page that asks before an action, as its form sends them."""
    found: dict[str, Sequence[str]] = {}
    for name, value in re.findall(
        r'<input type="hidden" name="(\w+)" value="([^"]*)">', text(page)
    ):
        found[name] = [*found.get(name, ()), value]
    return found


def test_bulk_buttons_say_how_many_and_end_with_an_ellipsis_if_they_ask_first(
    signed_in: SignedIn,
) -> None:
    """Walk all actions of all lists: what an action answers is a page that asks, or the list."""
    post, client = make.post("Tea", status=Status.DRAFT), signed_in("admin")
    seen = set()
    for model, model_admin in admin.site._registry.items():
        request = RequestFactory().get("/admin/")
        request.user = User.objects.get(username="admin")
        if not issubclass(type(model_admin), ListAdmin) or not model_admin.get_actions(request):
            continue
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for name, _label in model_admin.get_action_choices(request, []):
            label = str(model_admin.get_actions(request)[name][2])
            assert (model, label.count("{number}")) == (Post, 1), label
            button = re.search(
                rf'<button [^>]*value="{name}" data-counted="([^"]+)">([^<]+)<',
                text(client.get(address)),
            )
            assert button, label
            assert button[1] == label
            sent = {"action": name, "_selected_action": [str(post.pk)], "index": "0"}
            answer = client.post(address, sent)
            # A page that asks, also for a release where there is none yet.
            is_asked = answer.status_code == 200 or answer["Location"] != address
            assert label.endswith("…") == is_asked, label
            seen.add(button[2])
    post.refresh_from_db()

    assert (post.status, post.deleted_at) == (Status.DRAFT, None)
    assert seen == {
        *("Edit…", "Publish…", "Unpublish…", "Archive…", "Move to trash…"),
        *("Run an agent on…", "Add to a release…"),
    }


def test_editors_take_steps_with_several_posts(signed_in: SignedIn) -> None:
    draft, proposed = make.post("Tea", status=Status.DRAFT), make.post("Milk", status=Status.DRAFT)
    Post.objects.filter(pk=proposed.pk).update(is_placeholder=True)
    client = signed_in("editor")
    chosen = {"action": "publish", "_selected_action": [str(draft.pk), str(proposed.pk)]}

    asked = client.post(POSTS, chosen)
    draft.refresh_from_db()
    assert draft.status == Status.DRAFT
    assert ">Publish 2 posts?</h1>" in text(asked)
    assert "<li>Milk</li><li>Tea</li>" in text(asked)
    chosen = posted(asked)
    page = client.post(POSTS, chosen, follow=True)

    draft.refresh_from_db()
    assert draft.status == Status.PUBLISHED
    assert "1 post is published." in text(page)
    assert "Milk: This post was created by an agent." in text(page)
    chosen["action"] = "unpublish"
    assert "2 posts are unpublished." in text(client.post(POSTS, chosen, follow=True))
    draft.refresh_from_db()
    assert draft.status == Status.DRAFT
    client.post(
        POSTS, posted(client.post(POSTS, {"action": "delete", "_selected_action": [str(draft.pk)]}))
    )
    draft.refresh_from_db()
    assert draft.deleted_at is not None
    assert "Move to trash…" in text(client.get(POSTS))
    translators = text(signed_in("translator").get(POSTS))
    assert "Move to trash" not in translators
    assert "_selected_action" not in translators


@pytest.mark.parametrize(
    ("address", "words"),
    [(POSTS, "New post"), ("/admin/seo/redirect/", "New redirect")],
)
def test_the_button_of_a_list_says_what_the_page_it_opens_is_called(
    signed_in: SignedIn, address: str, words: str
) -> None:
    page = text(signed_in("admin").get(address))

    assert f'class="addlink">{words}</a>' in page
    assert page.count(words) >= 2  # also where the list is empty
