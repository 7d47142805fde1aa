"""Page locks: only the holder changes a post, until the lock ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.find_replace.runs import start_replacement
from content.find_replace.services import find_and_replace
from content.inbox.decisions import Marked, decide_for_post
from content.layers import open_layers, stage
from content.layers.approve import approve
from content.layers.reject import reject
from content.layers.schedule import schedule_approval
from content.models import Layer, Post, Status
from content.posts.edit import edit_post
from content.posts.page_lock import lock_page, unlock_page
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, restore_post
from content.posts.variations import create_variation, promote_variation
from content.store.digest import digest_of
from content.store.page_locks import find_page_lock
from content.store.traffic import change_variation
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict
from proofroom.core.models import Event
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def later() -> datetime:
    return timezone.now() + timedelta(hours=2)


def soon(**by: int) -> str:
    return (timezone.now() + timedelta(**by)).isoformat()


def locked_post(holder: str = "editor", **fields: Any) -> Post:
    post = make.post(**fields)
    lock_page(post_id=post.pk, until=later(), actor=make.actor(holder))
    return post


def write(post: Post, actor: Actor) -> dict[str, Callable[[], object]]:
    """Return a call for each way to change a post."""
    at = timezone.now() + timedelta(days=1)
    review = open_layers(Post.objects.get(pk=post.pk)).review.changes
    digest = digest_of(review)

    def put() -> object:
        return edit_post(
            post_id=post.pk, actor=actor, edit=lambda one: one.with_fields({"excerpt": "New"})
        )

    return {
        "edit": put,
        "stage": lambda: stage(
            post_id=post.pk,
            layer=Layer.REVIEW,
            actor=actor,
            edit=lambda one: one.with_fields({"excerpt": "Staged"}),
        ),
        "approve": lambda: approve(post_id=post.pk, actor=actor, digest=digest),
        "reject": lambda: reject(post_id=post.pk, layer=Layer.REVIEW, actor=actor),
        "schedule": lambda: schedule_approval(post_id=post.pk, actor=actor, digest=digest, at=at),
        "status": lambda: set_status(post_id=post.pk, status="draft", actor=actor),
        "trash": lambda: delete_post(post_id=post.pk, actor=actor),
        "replace": lambda: find_and_replace(
            actor=actor, find="filter", replace="drip", tables=["posts"]
        ),
    }


def test_only_the_holder_writes() -> None:
    post = locked_post()
    make.staged(post, {"metaTitle": "Staged"}, layer=Layer.REVIEW)
    before = Post.objects.get(pk=post.pk).version
    for name, call in write(post, make.actor("admin")).items():
        with pytest.raises(Conflict, match="locked by editor") as caught:
            call()
        assert caught.value.code == "locked_by", name
        assert caught.value.details["lockedBy"] == ["editor"], name
    assert Post.objects.get(pk=post.pk).version == before
    seen = {"post.metaTitle": Marked(1, "any", "accept")}
    decided = decide_for_post(
        post=post, layer=Layer.REVIEW, marks=seen, actor=make.actor("admin"), note=""
    )
    assert decided.refused == ("post.metaTitle",)
    assert "locked by editor" in decided.why

    write(post, make.actor())["edit"]()
    assert Post.objects.get(pk=post.pk).excerpt == "New"


@pytest.mark.parametrize("to_review", [False, True])
def test_a_replacement_passes_over_locked_posts_and_says_so(to_review: bool) -> None:
    locked = locked_post(title="Locked filter", slug="locked")
    free = make.post(title="Free filter", slug="free")
    admin = make.actor("admin")

    run = start_replacement(
        actor=admin,
        find="filter",
        replace="drip",
        tables=["posts"],
        to_review=to_review,
        chosen=(),
        left_out=(),
    )

    assert (run.state, run.total, run.missed) == ("done", 1, 1)
    assert "“Locked filter” is locked by editor" in run.why
    layers = [open_layers(Post.objects.get(pk=post.pk)) for post in (locked, free)]
    found = [one.review.document if to_review else one.live for one in layers]
    assert [one.fields["title"] for one in found] == ["Locked filter", "Free drip"]


def test_a_lock_holds_in_the_trash_and_for_a_variation_by_itself() -> None:
    post, admin = make.post(status="draft"), make.actor("admin")
    made = create_variation(post_id=post.pk, variation="b", actor=admin)
    lock_page(post_id=made.pk, until=later(), actor=make.actor("editor"))
    both = {"post_id": post.pk, "variation_id": made.pk}
    gone = locked_post(slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("editor"))
    calls: list[Callable[[], object]] = [
        lambda: change_variation(**both, actor=admin, weight=40),
        lambda: promote_variation(**both, actor=admin),
        lambda: restore_post(post_id=gone.pk, actor=admin),
    ]
    for call in calls:
        with pytest.raises(Conflict, match="locked by editor"):
            call()

    assert restore_post(post_id=gone.pk, actor=make.actor("editor")).deleted_at is None


def test_agents_wait_and_arranged_work_goes_on() -> None:
    post = locked_post(status="draft")
    with pytest.raises(Conflict, match="locked by editor"):
        make.staged(post, {"excerpt": "From an agent"})
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))

    assert run_due_dates(make.actor("admin", via="system")) == 1

    assert Post.objects.get(pk=post.pk).status == Status.PUBLISHED
    assert find_page_lock(Post.objects.get(pk=post.pk)) is not None


@pytest.mark.parametrize(
    "end",
    [
        lambda post: Post.objects.update(locked_until=timezone.now()),
        lambda post: User.objects.filter(username="editor").update(is_active=False),
        lambda post: User.objects.filter(username="editor").delete(),
        lambda post: unlock_page(post_id=post.pk, actor=make.actor("admin")),
        lambda post: unlock_page(post_id=post.pk, actor=make.actor("editor")),
    ],
    ids=["expired", "deactivated", "deleted", "broken", "released"],
)
def test_a_lock_ends(end: Callable[[Post], object]) -> None:
    post = locked_post()
    end(post)

    write(post, make.actor("admin"))["edit"]()

    assert Post.objects.get(pk=post.pk).excerpt == "New"


def test_the_lock_over_http() -> None:
    post = make.post(status="draft")
    path = f"/api/posts/{post.pk}/lock"
    editor, admin = ApiClient("editor"), ApiClient("admin")
    version = editor.read(f"/api/posts/{post.pk}")["version"]
    for until in (soon(hours=-1), "2030-01-31T08:00:00", "soon", soon(days=31)):
        refused("POST", path, {"until": until}, 422, "invalid", "until")

    state = editor.write("POST", path, {"until": soon(hours=1)})

    read = admin.read(f"/api/posts/{post.pk}")
    assert read["lock"] == {"by": state["by"], "until": state["until"]}
    assert state["by"]["username"] == "editor"
    assert read["version"] == version
    keys = ("lockedBy", "until")
    put = ("PUT", f"/api/posts/{post.pk}", {"title": "Other"})
    assert "editor" in refused(*put, 409, "locked_by", *keys, role="admin")["error"]
    # Somebody else's lock is neither taken over nor ended without the permission.
    wanted = {"until": soon(hours=1)}
    refused("POST", path, wanted, 409, "locked_by", *keys, role="admin")
    refused("DELETE", path, None, 409, "locked_by", *keys, role="translator")
    # What was read can be sent back.
    editor.write("PUT", f"/api/posts/{post.pk}", {"title": "Mine", "lock": read["lock"]})

    assert admin.write("DELETE", path) == {"postId": str(post.pk), "by": None, "until": None}
    assert admin.write("DELETE", path)["by"] is None
    events = Event.objects.filter(post_id=post.pk, name__contains="lock").order_by("pk")
    assert [(one.name, one.payload.get("isBroken")) for one in events] == [
        ("post.locked", None),
        ("post.unlocked", True),
    ]


def test_a_lock_costs_no_query_of_readers() -> None:
    post = make.post()
    admin = ApiClient("admin")
    admin.read(f"/api/posts/{post.pk}")
    without = count_queries(admin.read, f"/api/posts/{post.pk}")
    lock_page(
        post_id=post.pk, until=timezone.now() + timedelta(hours=1), actor=make.actor("editor")
    )

    assert count_queries(admin.read, f"/api/posts/{post.pk}") == without
