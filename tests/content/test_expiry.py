"""Expiry: `unpublishAt` is set, changed, removed, and carried out by the scheduler."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.models import Post, Status
from content.posts.publish import set_status
from content.posts.schedule import SCHEDULE_FAILED, run_due_dates
from content.posts.trash import delete_post, restore_post
from content.posts.undo import undo_status
from content.posts.variations import create_variation
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom.core.outbox import find_kind
from proofroom.webhooks.delivery_channels import event_body
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

FUTURE = "2099-01-01T08:00:00.000Z"
LATER = "2099-06-01T08:00:00.000Z"


def put(post: Post, **body: Any) -> Any:
    return ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", body)


def tick() -> int:
    return run_due_dates(make.actor("admin", via="system"))


def ago(minutes: int) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


def move(post: Post, **columns: Any) -> None:
    """Make a time pass: set columns as no service would."""
    Post.objects.filter(pk=post.pk).update(**columns)


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def test_a_published_post_gets_an_expiry_that_is_changed_and_removed() -> None:
    post = make.post()

    assert put(post, unpublishAt=FUTURE)["unpublishAt"] == FUTURE
    assert put(post, unpublishAt="2098-01-01T09:00:00+01:00")["unpublishAt"] == (
        "2098-01-01T08:00:00.000Z"
    )
    assert put(post, unpublishAt=None)["unpublishAt"] is None
    assert tick() == 0


def test_visitors_do_not_learn_of_the_time() -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE)

    answer = ApiClient().read(f"/api/public/posts/{post.pk}")

    assert "unpublishAt" not in answer


def test_only_who_may_publish_sets_and_removes_an_expiry() -> None:
    make.site_role("desk", "posts.view", "posts.edit")
    post = make.post()
    path = f"/api/posts/{post.pk}"

    refused("PUT", path, {"unpublishAt": FUTURE}, 403, "not_allowed", "permission", role="desk")
    put(post, unpublishAt=FUTURE)

    # Without it, the post would stay on the site for longer.
    refused("PUT", path, {"unpublishAt": None}, 403, "not_allowed", "permission", role="desk")


@pytest.mark.parametrize("when", ["2001-01-01T00:00:00Z", "tomorrow", "2099-01-01T00:00:00", 1])
def test_a_time_that_is_past_or_none_is_refused(when: Any) -> None:
    path = f"/api/posts/{make.post().pk}"

    refused("PUT", path, {"unpublishAt": when}, 422, "invalid", "unpublishAt")


@pytest.mark.parametrize("ends", [FUTURE, "2098-12-31T08:00:00Z"])
def test_an_expiry_before_the_publication_is_refused(ends: str) -> None:
    post = make.post(status="draft")
    path = f"/api/posts/{post.pk}"
    both = {"publishAt": FUTURE, "unpublishAt": ends}

    refused("PUT", path, both, 422, "before_publication", "unpublishAt")
    put(post, publishAt=FUTURE)
    refused("PUT", path, {"unpublishAt": ends}, 422, "before_publication", "unpublishAt")
    put(post, unpublishAt=LATER)
    refused("PUT", path, {"publishAt": LATER}, 422, "before_publication", "unpublishAt")


def test_an_archived_post_and_a_variation_do_not_expire() -> None:
    post, original = make.post(), make.post("Original", slug="original")
    variation = create_variation(post_id=original.pk, variation="B", actor=make.actor())
    move(post, status="archived")
    body = {"unpublishAt": FUTURE}

    refused("PUT", f"/api/posts/{post.pk}", body, 422, "archived", "unpublishAt")
    refused("PUT", f"/api/posts/{variation.pk}", body, 422, "is_variation", "unpublishAt")


def test_a_post_leaves_the_site_at_its_time_once() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    put(post, unpublishAt=FUTURE)
    put(other, unpublishAt=FUTURE)
    move(post, unpublish_at=ago(1))
    first_published = now(post).published_at
    Event.objects.all().delete()

    assert tick() == 1
    assert tick() == 0

    assert (now(post).status, now(other).status) == (Status.DRAFT, Status.PUBLISHED)
    assert now(post).unpublish_at is None
    assert now(post).published_at == first_published
    [event] = Event.objects.all()
    assert (event.name, event.post_id) == ("post.updated", post.pk)
    assert event.payload["cause"] == "expiry"
    # Webhooks get the post only; `content.changed` names the cause.
    assert event_body(event)["data"] == {
        name: value for name, value in event.payload.items() if name != "cause"
    }
    effect = find_kind("post.updated").effect
    assert effect is not None
    told = effect(event.payload)
    assert told is not None
    assert (told.cause, told.gone, told.paths) == ("expiry", (post.path,), ())
    assert ApiClient().get(f"/api/public/posts/{post.pk}").status_code == 404


def test_a_publication_on_schedule_names_its_cause() -> None:
    post = make.post(status="draft")
    move(post, publish_at=ago(1))
    Event.objects.all().delete()

    tick()

    event = Event.objects.get(name="post.published")
    effect = find_kind("post.published").effect
    assert effect is not None
    told = effect(event.payload)
    assert told is not None
    assert told.cause == "schedule"


def test_a_draft_keeps_its_expiry_when_it_is_published() -> None:
    by_hand, by_date = make.post(status="draft"), make.post("Dated", slug="dated", status="draft")
    put(by_hand, unpublishAt=FUTURE)
    put(by_date, publishAt=FUTURE, unpublishAt=LATER)
    move(by_date, publish_at=ago(1))

    put(by_hand, status="published")
    tick()

    assert [now(post).status for post in (by_hand, by_date)] == [Status.PUBLISHED] * 2
    assert None not in [now(post).unpublish_at for post in (by_hand, by_date)]


def test_a_time_that_passed_while_it_was_a_draft_does_not_unpublish_it() -> None:
    post = make.post(status="draft")
    move(post, unpublish_at=ago(1))

    put(post, status="published")

    assert now(post).unpublish_at is None
    assert tick() == 0


@pytest.mark.parametrize("status", [Status.DRAFT, Status.ARCHIVED])
def test_unpublishing_by_hand_removes_the_expiry_and_undo_restores_it(status: Status) -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE)
    expiry = now(post).unpublish_at

    changed = set_status(post_id=post.pk, status=status, actor=make.actor())
    assert changed.unpublish_at is None
    undo_status(
        post_id=post.pk,
        version=changed.version,
        status=Status.PUBLISHED,
        publish_at=None,
        unpublish_at=expiry,
        actor=make.actor(),
    )

    assert (now(post).status, now(post).unpublish_at) == (Status.PUBLISHED, expiry)


def test_a_post_whose_whole_time_passed_in_an_outage_is_not_published() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE, unpublishAt=LATER)
    move(post, publish_at=ago(60), unpublish_at=ago(30))
    Event.objects.all().delete()

    assert tick() == 0
    assert tick() == 0

    found = now(post)
    assert (found.status, found.publish_at, found.unpublish_at) == (Status.DRAFT, None, None)
    assert found.published_at is None
    names = list(Event.objects.order_by("pk").values_list("name", flat=True))
    assert names == ["post.updated", SCHEDULE_FAILED]
    updated = find_kind("post.updated").effect
    assert updated is not None
    assert updated(Event.objects.get(name="post.updated").payload) is None


def test_an_expiry_needs_the_rights_of_who_set_it() -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE)
    move(post, unpublish_at=ago(1))
    editor = make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(is_active=False)

    assert tick() == 0
    assert tick() == 0

    assert now(post).status == Status.PUBLISHED
    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert (event.payload["what"], event.actor_id) == ("expiry", editor.pk)
    # Somebody else sets it again.
    client = ApiClient("admin")
    client.write("PUT", f"/api/posts/{post.pk}", {"unpublishAt": LATER})
    move(post, unpublish_at=ago(0))
    assert tick() == 1


def test_a_publication_needs_the_rights_of_who_set_it() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE)
    move(post, publish_at=ago(1))
    editor = make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(role="translator")

    assert tick() == 0

    assert now(post).status == Status.DRAFT
    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert "posts.publish" in str(event.payload["reason"])


def test_the_date_of_a_deleted_account_is_not_met() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE)
    move(post, publish_at=ago(1))
    make.user("editor").delete()

    assert tick() == 0

    [event] = Event.objects.filter(name=SCHEDULE_FAILED)
    assert (event.actor_id, now(post).status) == (None, Status.DRAFT)


def test_a_post_in_the_trash_does_not_come_back_for_longer_than_its_time() -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE)
    delete_post(post_id=post.pk, actor=make.actor())
    move(post, unpublish_at=ago(1))

    assert tick() == 0
    restore_post(post_id=post.pk, actor=make.actor())

    assert tick() == 1
    assert now(post).status == Status.DRAFT


def test_a_revision_with_an_expiry_that_passed_is_restored_without_it() -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE, title="With a time")
    put(post, unpublishAt=None, title="Without")
    editor = ApiClient("editor")
    rows = editor.read(f"/api/posts/{post.pk}/revisions")["data"]
    newest = max(rows, key=lambda row: row["version"])
    dated = next(row for row in rows if "post.unpublishAt" in row["changedPaths"] and row != newest)
    revision = post.revisions.get(pk=dated["id"])
    revision.document["post"]["unpublishAt"] = "2020-01-01T00:00:00.000Z"
    revision.save()

    answer = editor.write("POST", f"/api/posts/{post.pk}/revisions/{dated['id']}/revert", {})

    assert (answer["title"], answer["unpublishAt"]) == ("With a time", None)


def test_a_copy_a_translation_and_an_import_do_not_expire() -> None:
    post = make.post()
    put(post, unpublishAt=FUTURE)
    editor = ApiClient("editor")

    copied = editor.write(
        "POST", f"/api/posts/{post.pk}/translations", {"locale": "de"}, expect=201
    )
    document = editor.read(f"/api/posts/{post.pk}/export")
    made = editor.write(
        "POST", "/api/posts/import", {"document": document, "slug": "again"}, expect=201
    )

    assert copied["unpublishAt"] is None
    assert made["unpublishAt"] is None


def test_an_agent_does_not_propose_an_expiry() -> None:
    post = make.post()

    with pytest.raises(CmsError) as error:
        make.staged(post, {"unpublishAt": FUTURE})

    assert "unpublishAt" in f"{error.value.message} {error.value.details}"
