"""Releases: items that go live together or not at all, and their undo."""

from __future__ import annotations

from typing import Any

import pytest

from content.layers import reject, submit
from content.models import Layer, ModuleInstance, Post, Revision, Status
from content.modules.shared_kind import GlobalModuleKind
from content.posts.create import propose_post
from content.posts.trash import delete_post
from proofroom.core.models import Event
from proofroom.shared_content.approval import set_modes
from proofroom.shared_content.models import ProposalState, SharedProposal
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.shared_kind import TermKind
from proofroom_apps.menus.models import Menu
from proofroom_apps.releases.models import ReleaseItem
from seo.models import Redirect
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.releases.scenes import (
    add,
    add_changes,
    changed_post,
    create,
    digest_of,
    items,
    menu,
    offered,
    proposed,
    publish,
    read,
    undo,
)

pytestmark = pytest.mark.django_db


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def test_all_kinds_of_items_go_live_together_and_are_undone_as_one() -> None:
    changed, draft, main = changed_post(), make.post("Draft", slug="draft", status="draft"), menu()
    module, term = make.global_module(), make.term("News")
    offered(GlobalModuleKind(), module, label="Newsletter, new")
    offered(TermKind(), term, name="News, new")
    redirect = make.redirect("/old", "/new", active=False)
    proposed(main)
    release = create()
    add_changes(release, changed)
    add(release, "post", draft.pk)
    add(release, "menu", main.pk)
    add(release, "redirect", redirect.pk)
    add(release, "global", module.pk)
    add(release, "term", term.pk)
    before = make.live_hash()
    Event.objects.all().delete()

    shown = publish(release)

    assert (shown["state"], shown["itemCount"], shown["publishedBy"]) == ("published", 6, "editor")
    assert (now(changed).title, now(draft).status) == ("New title", Status.PUBLISHED)
    assert Menu.objects.get(pk=main.pk).name == "Main, new"
    assert Redirect.objects.get(pk=redirect.pk).is_active
    assert ModuleInstance.objects.get(pk=module.pk).label == "Newsletter, new"
    assert Term.objects.get(pk=term.pk).name == "News, new"
    states = SharedProposal.objects.values_list("state", flat=True)
    assert [*states] == [ProposalState.APPROVED] * 3
    causes = Event.objects.filter(name__in=["post.approve", "post.published"])
    assert {event.payload["cause"] for event in causes} == {"release"}
    assert Event.objects.filter(name="release.published").count() == 1
    assert make.live_hash() != before

    assert undo(release)["state"] == "undone"

    assert (now(changed).title, now(draft).status) == (changed.title, Status.DRAFT)
    assert now(draft).published_at is None
    assert Menu.objects.get(pk=main.pk).name == "Main"
    assert not Redirect.objects.get(pk=redirect.pk).is_active
    assert Event.objects.filter(name="release.undone").count() == 1
    assert ModuleInstance.objects.get(pk=module.pk).label == module.label
    assert Term.objects.get(pk=term.pk).name == "News"


def test_one_item_that_cannot_go_live_stops_all_of_them() -> None:
    first, second = changed_post(), changed_post("Second, new", "second")
    release = create()
    add_changes(release, first)
    add_changes(release, second)
    make.edited(second, {"title": "Typed over"})
    before, revisions = make.live_hash(), Revision.objects.count()

    path = f"items.changes.{second.pk}"
    answer = refused("POST", f"{release}/publish", {}, 409, "release_conflict", path)

    assert make.live_hash() == before
    assert Revision.objects.count() == revisions
    assert "Second, new" in str(answer["details"][path])
    assert read(release)["state"] == "open"


def test_an_item_that_fails_when_it_is_written_rolls_back_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from proofroom.core.errors import RuleViolation
    from proofroom_apps.releases.kinds import KINDS, RedirectKind

    post, redirect = changed_post(), make.redirect("/old", "/new", active=False)
    release = create()
    add_changes(release, post)
    add(release, "redirect", redirect.pk)

    def fail(*args: Any) -> Any:
        raise RuleViolation("The road is closed.")

    monkeypatch.setattr(RedirectKind, "apply", fail)
    assert isinstance(KINDS["redirect"], RedirectKind)
    path = f"items.redirect.{redirect.pk}"
    before = make.live_hash()
    answer = ApiClient("editor").write("POST", f"{release}/publish", expect=409)

    assert (answer["code"], [*answer["details"]]) == ("release_conflict", [path])
    assert make.live_hash() == before
    assert now(post).title == post.title
    [event] = Event.objects.filter(name="release.failed")
    assert event.actor_id == make.user("editor").pk
    assert (read(release)["state"], items(release)[0]["conflict"]) == ("failed", None)
    assert items(release)[1]["conflict"] == {"message": "The road is closed."}
    monkeypatch.undo()
    assert publish(release)["state"] == "published"
    assert now(post).title == "New title"


@pytest.mark.parametrize("by", ["menu", "post", "redirect", "changes", "deleted"])
def test_a_conflict_is_named_while_the_release_waits(by: str) -> None:
    release, post, main = create(), changed_post(), menu()
    draft = make.post("Draft", slug="draft", status="draft")
    redirect = make.redirect("/old", "/new", active=False)
    proposed(main)
    add_changes(release, post)
    add(release, "post", draft.pk)
    add(release, "menu", main.pk)
    add(release, "redirect", redirect.pk)
    assert [row["conflict"] for row in items(release)] == [None] * 4
    if by == "menu":
        ApiClient("editor").write("PUT", f"/api/menus/{main.pk}", {"name": "Else"})
    elif by == "post":
        ApiClient("editor").write("PUT", f"/api/posts/{draft.pk}", {"status": "published"})
    elif by == "redirect":
        ApiClient("editor").write("PUT", f"/api/redirects/{redirect.pk}", {"active": True})
    elif by == "changes":
        reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("admin"))
    else:
        delete_post(post_id=draft.pk, actor=make.actor())

    found = [row["kind"] for row in items(release) if row["conflict"] is not None]

    assert found == ["post" if by == "deleted" else by]


def test_only_the_named_paths_go_live() -> None:
    post = changed_post(excerpt="New excerpt")
    release = create()
    added = add_changes(release, post, "post.title")
    assert (added["paths"], added["title"]) == (["post.title"], "New title")
    # What is staged at another path is no conflict.
    make.staged(post, {"excerpt": "Another"}, layer=Layer.REVIEW)
    assert items(release)[0]["conflict"] is None

    publish(release)

    assert (now(post).title, now(post).excerpt) == ("New title", "")


def test_a_post_goes_live_with_its_changes() -> None:
    draft = make.post("Draft", slug="draft", status="draft")
    make.staged(draft, {"title": "Final"}, layer=Layer.REVIEW)
    release = create()
    add(release, "post", draft.pk)
    add_changes(release, draft)

    publish(release)
    assert (now(draft).title, now(draft).status) == ("Final", Status.PUBLISHED)

    undo(release)
    assert (now(draft).title, now(draft).status) == ("Draft", Status.DRAFT)


def test_an_undo_keeps_all_if_one_item_was_changed_since() -> None:
    first, second = changed_post(), changed_post("Second, new", "second")
    release = create()
    add_changes(release, first)
    add_changes(release, second)
    publish(release)
    make.edited(first, {"excerpt": "Later"})
    before = make.live_hash()

    path = f"items.changes.{first.pk}"
    refused("POST", f"{release}/undo", {}, 409, "release_conflict", path)

    assert make.live_hash() == before
    assert read(release)["state"] == "published"


def test_a_release_goes_live_and_is_undone_once() -> None:
    release = create()
    add_changes(release, changed_post())
    refused("POST", f"{release}/undo", {}, 409, "not_published")
    publish(release)

    refused("POST", f"{release}/publish", {}, 409, "release_published")
    post = changed_post("Late", "late")
    body = {"kind": "changes", "id": str(post.pk), "digest": digest_of(post)}
    refused("POST", f"{release}/items", body, 409, "release_published")
    undo(release)
    refused("POST", f"{release}/undo", {}, 409, "not_published")


def test_an_item_that_was_added_again_has_what_was_now_seen() -> None:
    post = changed_post()
    release = create()
    add_changes(release, post)
    make.staged(post, {"title": "Newer"}, layer=Layer.REVIEW)
    assert items(release)[0]["conflict"] is not None

    body = {"kind": "changes", "id": str(post.pk), "digest": digest_of(post)}
    again = ApiClient("editor").write("POST", f"{release}/items", body)

    assert (again["conflict"], ReleaseItem.objects.count()) == (None, 1)
    publish(release)
    assert now(post).title == "Newer"


def test_a_change_is_in_one_release_only() -> None:
    post = changed_post(excerpt="New")
    first, second = create("First"), create("Second")
    add_changes(first, post, "post.title")
    body = {"kind": "changes", "id": str(post.pk), "digest": digest_of(post)}

    answer = refused("POST", f"{second}/items", body, 422, "in_other_release", "id")
    assert "First" in str(answer["details"]["id"])
    add_changes(second, post, "post.excerpt")

    address = f"{first}/items/changes/{post.pk}"
    assert ApiClient("editor").write("DELETE", address) == {"removed": True}
    assert items(first) == []
    ApiClient("editor").write("POST", f"{second}/items", body)


def test_changes_that_are_scheduled_already_are_refused() -> None:
    post = changed_post()
    body = {"digest": digest_of(post), "at": "2099-01-01T08:00:00.000Z"}
    ApiClient("editor").write("POST", f"/api/posts/{post.pk}/review/schedule", body, expect=201)

    body = {"kind": "changes", "id": str(post.pk), "digest": digest_of(post)}
    refused("POST", f"{create()}/items", body, 422, "already_scheduled", "paths")


def test_the_approval_rule_of_menus_holds() -> None:
    set_modes(actor=make.actor("admin"), wanted={"menu": "editors"})
    main = menu()
    proposed(main)
    release = create()
    add(release, "menu", main.pk)

    path = f"items.menu.{main.pk}"
    refused("POST", f"{release}/publish", {}, 409, "release_conflict", path)
    assert Menu.objects.get(pk=main.pk).name == "Main"

    publish(release, by="admin")
    assert Menu.objects.get(pk=main.pk).name == "Main, new"


def test_nobody_approves_the_own_change_where_a_second_person_must() -> None:
    set_modes(actor=make.actor("admin"), wanted={"menu": "everyone"})
    main = menu()
    proposed(main, by="admin")
    release = create()
    add(release, "menu", main.pk)

    path = f"items.menu.{main.pk}"
    refused("POST", f"{release}/publish", {}, 409, "release_conflict", path, role="admin")
    assert Menu.objects.get(pk=main.pk).name == "Main"


def test_an_api_token_adds_but_does_not_publish() -> None:
    from dataclasses import replace

    from proofroom.core.errors import NotAllowed
    from proofroom_apps.releases.runs import publish_release
    from proofroom_apps.releases.services import add_item, create_release

    post = changed_post()
    program = replace(make.actor("editor"), token_id="1")
    release = create_release(name="By a program", actor=program)
    add_item(
        release_id=release.pk,
        kind="changes",
        object_id=post.pk,
        digest=digest_of(post),
        actor=program,
    )

    with pytest.raises(NotAllowed):
        publish_release(release_id=release.pk, actor=program)
    assert now(post).title == post.title


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"kind": "page", "id": "POST"}, 422, "invalid", "kind"),
        ({"kind": "post", "id": "no"}, 422, "invalid", "id"),
        ({"kind": "post", "id": "POST"}, 422, "not_a_draft", "id"),
        ({"kind": "post", "id": "POST", "paths": ["post.title"]}, 422, "invalid", "paths"),
        ({"kind": "changes", "id": "POST"}, 422, "invalid", "digest"),
        ({"kind": "menu", "id": "MENU"}, 422, "nothing_staged", "id"),
        ({"kind": "menu", "id": "POST"}, 404, "not_found", None),
        ({"kind": "redirect", "id": "POST"}, 404, "not_found", None),
    ],
)
def test_items_that_nothing_can_make_live_are_refused(
    body: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    post, main, release = changed_post(), menu(), create()
    names = {"POST": str(post.pk), "MENU": str(main.pk)}
    body = {**body, "id": names.get(body["id"], body["id"])}

    if field is None:
        refused("POST", f"{release}/items", body, status, code)
    else:
        refused("POST", f"{release}/items", body, status, code, field)

    assert not ReleaseItem.objects.exists()


def test_an_empty_release_is_not_published() -> None:
    refused("POST", f"{create()}/publish", {}, 422, "empty_release")


def test_a_deleted_release_leaves_its_changes() -> None:
    post, release = changed_post(), create()
    add_changes(release, post)

    ApiClient("editor").write("DELETE", release)

    ApiClient("editor").read(release, expect=404)
    assert digest_of(post)


def test_a_post_that_an_agent_proposed_is_published_with_its_content_only() -> None:
    proposed_post = propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": "Proposed"}
    ).post
    submit(post_id=proposed_post.pk, actor=make.actor())
    release = create()
    add(release, "post", proposed_post.pk)

    path = f"items.post.{proposed_post.pk}"
    refused("POST", f"{release}/publish", {}, 409, "release_conflict", path)

    add_changes(release, proposed_post)
    publish(release)
    published = now(proposed_post)
    assert (published.title, published.status) == ("Proposed", Status.PUBLISHED)
