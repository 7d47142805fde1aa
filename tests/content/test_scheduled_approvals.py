"""Changes in Review that are approved for a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.layers import approve, reject
from content.layers.schedule import move_approval
from content.models import Layer, Post, ScheduledApproval, Status
from content.posts.publish import set_status
from content.posts.schedule import SCHEDULE_FAILED, find_due, run_due_dates
from content.posts.trash import delete_post, restore_post
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.core.outbox import find_kind
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

FUTURE = "2099-01-01T08:00:00.000Z"


def address(post: Post, of: str = "") -> str:
    return f"/api/posts/{post.pk}/review/schedule{of}"


def digest_of(post: Post) -> str:
    answer = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")
    digest: str = answer["digest"]
    return digest


def staged(title: str = "New title", **more: Any) -> Post:
    """Create a published post with changes in Review."""
    post = make.post()
    make.staged(post, {"title": title, **more}, layer=Layer.REVIEW)
    return post


def schedule(post: Post, *paths: str, role: str = "editor") -> Any:
    body = {"digest": digest_of(post), "at": FUTURE, **({"paths": [*paths]} if paths else {})}
    return ApiClient(role).write("POST", address(post), body, expect=201)


def pass_time(post: Post, minutes: int = 1) -> None:
    at = timezone.now() - timedelta(minutes=minutes)
    ScheduledApproval.objects.filter(post=post).update(at=at)


def tick() -> int:
    return run_due_dates(make.actor("admin", via="system"))


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def test_changes_go_live_at_their_time_once() -> None:
    post = staged(excerpt="New excerpt")
    made = schedule(post, "post.title")
    assert (made["at"], made["paths"], made["state"]) == (FUTURE, ["post.title"], "waiting")
    assert made["conflict"] is None
    assert tick() == 0
    pass_time(post)
    Event.objects.all().delete()

    assert tick() == 1
    assert tick() == 0

    assert (now(post).title, now(post).excerpt) == ("New title", "")
    review = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")
    assert [change["path"] for change in review["changes"]] == ["post.excerpt"]
    names = list(Event.objects.order_by("pk").values_list("name", flat=True))
    assert names == ["post.updated", "post.approve", "post.review.approve"]
    event = Event.objects.get(name="post.updated")
    assert (event.via, event.actor_id) == ("system", make.user("editor").pk)
    effect = find_kind("post.updated").effect
    assert effect is not None
    told = effect(event.payload)
    assert told is not None
    assert (told.cause, told.paths) == ("schedule", (post.path,))
    assert not ScheduledApproval.objects.exists()
    revision = now(post).revisions.order_by("-version")[0]
    assert (revision.reason, revision.by_name) == ("approved", "editor")


def test_without_paths_what_was_seen_goes_live_and_nothing_that_came_later() -> None:
    post = staged()
    made = schedule(post)
    make.staged(post, {"excerpt": "Came later"}, layer=Layer.REVIEW)

    assert made["paths"] == ["post.title"]
    pass_time(post)
    assert tick() == 1

    assert (now(post).title, now(post).excerpt) == ("New title", "")


def test_what_changed_since_is_named_while_it_waits_and_does_not_go_live() -> None:
    post = staged()
    made = schedule(post)
    make.staged(post, {"title": "Another title"}, layer=Layer.REVIEW)
    editor = ApiClient("editor")

    shown = editor.read(address(post, f"/{made['id']}"))
    assert shown["state"] == "waiting"
    assert shown["conflict"]["message"] == "Changed or decided since it was scheduled: Title."
    pass_time(post)
    before = make.live_hash()
    assert (tick(), tick()) == (0, 0)

    assert make.live_hash() == before
    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert (event.payload["what"], event.actor_id) == ("changes", make.user("editor").pk)
    [row] = editor.read(address(post))["data"]
    assert row["state"] == "failed"
    assert row["conflict"]["message"] == event.payload["reason"]
    # The failed one is in nobody's way.
    assert schedule(post)["state"] == "waiting"


def test_a_change_of_live_content_at_the_same_place_stops_it() -> None:
    post = staged()
    schedule(post)
    make.edited(post, {"title": "Typed over"})
    pass_time(post)

    assert tick() == 0

    assert now(post).title == "Typed over"
    assert Event.objects.filter(name=SCHEDULE_FAILED).count() == 1


@pytest.mark.parametrize("column", [{"is_active": False}, {"role": "translator"}])
def test_it_needs_the_rights_that_its_maker_has_then(column: dict[str, Any]) -> None:
    post = staged()
    schedule(post)
    editor = make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(**column)
    pass_time(post)
    before = make.live_hash()

    assert tick() == 0

    assert make.live_hash() == before
    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert "posts.review.approve" in str(event.payload["reason"])


def test_the_schedule_of_a_deleted_account_fails() -> None:
    post = staged()
    schedule(post, role="admin")
    make.user("admin").delete()
    pass_time(post)

    assert run_due_dates(make.actor("editor", via="system")) == 0

    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert (event.actor_id, now(post).title) == (None, post.title)


def test_changes_that_were_decided_in_the_meantime_need_nothing_more() -> None:
    approved, rejected = staged(), make.post("Rejected", slug="rejected")
    make.staged(rejected, {"title": "No"}, layer=Layer.REVIEW)
    for post in (approved, rejected):
        schedule(post)
    approve(post_id=approved.pk, actor=make.actor("admin"), digest=digest_of(approved))
    reject(post_id=rejected.pk, layer=Layer.REVIEW, actor=make.actor("admin"))
    for post in (approved, rejected):
        pass_time(post)

    assert tick() == 0

    assert not ScheduledApproval.objects.exists()
    assert not Event.objects.filter(name=SCHEDULE_FAILED).exists()


def test_a_removed_schedule_does_nothing_and_its_changes_stay() -> None:
    post = staged()
    made = schedule(post)
    editor = ApiClient("editor")

    assert editor.write("DELETE", address(post, f"/{made['id']}"), {}) == {"removed": True}
    editor.write("DELETE", address(post, f"/{made['id']}"), {}, expect=404)

    assert editor.read(address(post))["data"] == []
    assert digest_of(post)
    assert tick() == 0
    names = Event.objects.filter(name__startswith="post.review.").order_by("pk")
    assert list(names.values_list("name", flat=True))[-2:] == [
        "post.review.schedule",
        "post.review.unschedule",
    ]


def test_another_time_is_an_approval_of_the_person_who_sets_it() -> None:
    post = staged()
    made = schedule(post)
    row, at = ScheduledApproval.objects.get(pk=made["id"]), timezone.now() + timedelta(days=9)
    moving = {"post_id": post.pk, "schedule_id": row.pk, "at": at}

    for actor in (make.actor("translator"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            move_approval(**moving, actor=actor)
    admin = make.actor("admin")
    with pytest.raises(Conflict):
        move_approval(**moving, actor=admin, expected_at=at)
    with pytest.raises(RuleViolation):
        move_approval(**{**moving, "at": timezone.now()}, actor=admin)
    move_approval(**moving, actor=admin, expected_at=row.at)

    row.refresh_from_db()
    assert (row.at, row.by, row.by_name) == (at, admin.user, "admin")
    assert Event.objects.filter(name="post.review.schedule").count() == 2
    make.staged(post, {"title": "Newer title"}, layer=Layer.REVIEW)
    with pytest.raises(Conflict) as caught:
        move_approval(**moving, actor=admin)
    assert caught.value.code == "stale_review"


def test_changes_wait_for_one_time_only() -> None:
    post = staged(excerpt="New excerpt")
    schedule(post, "post.title")
    body = {"digest": digest_of(post), "at": FUTURE}

    refused("POST", address(post), body, 422, "already_scheduled", "paths")

    assert schedule(post, "post.excerpt")["paths"] == ["post.excerpt"]


@pytest.mark.parametrize("at", ["2001-01-01T00:00:00Z", "tomorrow", "2099-01-01T00:00:00", None, 1])
def test_a_time_that_is_past_or_none_is_refused(at: Any) -> None:
    post = staged()

    refused("POST", address(post), {"digest": digest_of(post), "at": at}, 422, "invalid", "at")


def test_what_breaks_the_rules_is_refused_when_it_is_scheduled() -> None:
    post = staged()
    stale = digest_of(post)
    make.staged(post, {"title": "Another"}, layer=Layer.REVIEW)

    refused(
        "POST", address(post), {"digest": stale, "at": FUTURE}, 409, "stale_review", "post.title"
    )
    body = {"digest": digest_of(post), "at": FUTURE, "paths": ["post.slug"]}
    refused("POST", address(post), body, 422, "unknown_path", "paths")


def test_a_translator_sees_but_does_not_schedule() -> None:
    post = staged()
    body = {"digest": digest_of(post), "at": FUTURE}

    refused("POST", address(post), body, 403, "not_allowed", "permission", role="translator")
    assert ApiClient("translator").read(address(post))["data"] == []


def test_the_schedule_of_another_post_is_not_found() -> None:
    post, other = staged(), make.post("Other", slug="other")
    made = schedule(post)

    ApiClient("editor").read(address(other, f"/{made['id']}"), expect=404)


def test_after_an_outage_dates_take_effect_in_their_order() -> None:
    post = make.post(status="draft")
    make.staged(post, {"title": "Ready"}, layer=Layer.REVIEW)
    schedule(post)
    other = make.post("Over", slug="over")
    at: datetime = timezone.now() - timedelta(minutes=30)
    ScheduledApproval.objects.filter(post=post).update(at=at)
    Post.objects.filter(pk=post.pk).update(publish_at=at)
    Post.objects.filter(pk=other.pk).update(unpublish_at=at - timedelta(minutes=1))

    kinds = [due.kind for due in find_due(timezone.now())]
    assert kinds == ["expiry", "changes", "publication"]
    assert tick() == 3

    assert (now(post).title, now(post).status) == ("Ready", Status.PUBLISHED)
    assert now(other).status == Status.DRAFT
    published = Event.objects.filter(name="post.published", post_id=post.pk)
    assert published.count() == 1


def test_one_that_fails_stops_no_other() -> None:
    first, second = staged(), make.post("Second", slug="second")
    make.staged(second, {"title": "Second, new"}, layer=Layer.REVIEW)
    schedule(first)
    schedule(second)
    make.edited(first, {"title": "Typed over"})
    pass_time(first, minutes=2)
    pass_time(second)

    assert tick() == 1

    assert now(second).title == "Second, new"


def test_a_restored_post_does_not_change_for_a_time_that_passed_in_the_trash() -> None:
    post = staged()
    schedule(post)
    delete_post(post_id=post.pk, actor=make.actor())
    pass_time(post)
    assert tick() == 0

    restore_post(post_id=post.pk, actor=make.actor())

    assert tick() == 0
    assert not ScheduledApproval.objects.exists()
    assert now(post).title == post.title


def test_a_draft_is_changed_and_stays_a_draft() -> None:
    post = staged()
    set_status(post_id=post.pk, status=Status.DRAFT, actor=make.actor())
    schedule(post)
    pass_time(post)

    assert tick() == 1

    assert (now(post).title, now(post).status) == ("New title", Status.DRAFT)
