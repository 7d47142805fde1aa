"""Scheduled publication: set, changed, removed, and executed by the scheduler."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from cms_project.celery import app
from content.models import Layer, Post
from content.posts import publish, schedule
from content.posts.publish import move_status
from content.posts.variations import create_variation
from proofroom.core.errors import RuleViolation
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox import events
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
FAILED = schedule.SCHEDULE_FAILED

FUTURE = "2099-01-01T08:00:00.000Z"


def put(post: Post, expect: int = 200, **body: Any) -> Any:
    return ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", body, expect=expect)


def overdue(post: Post, minutes: int = 1) -> None:
    """Make the scheduled time pass."""
    due = timezone.now() - timedelta(minutes=minutes)
    Post.objects.filter(pk=post.pk).update(publish_at=due)


def tick() -> int:
    make.user("admin")
    app.loader.import_default_modules()  # as a worker does
    entry = settings.CELERY_BEAT_SCHEDULE["content.tasks.publish_due_posts"]
    assert entry["schedule"] <= 60
    return int(app.tasks[entry["task"]].apply().get())


def status(post: Post) -> str:
    return Post.objects.get(pk=post.pk).status


def test_a_date_is_set_changed_and_taken_back() -> None:
    post = make.post(status="draft")

    assert put(post, publishAt=FUTURE)["publishAt"] == FUTURE
    assert (
        put(post, publishAt="2098-01-01T09:00:00+01:00")["publishAt"] == "2098-01-01T08:00:00.000Z"
    )
    assert put(post, publishAt=None)["publishAt"] is None
    assert tick() == 0


def test_only_who_may_publish_sets_a_date() -> None:
    make.site_role("desk", "posts.view", "posts.edit")
    post = make.post(status="draft")
    path = f"/api/posts/{post.pk}"

    refused("PUT", path, {"publishAt": FUTURE}, 403, "not_allowed", "permission", role="desk")

    put(post, publishAt=FUTURE)
    taken_back = ApiClient("desk").write("PUT", path, {"publishAt": None})
    assert taken_back["publishAt"] is None


@pytest.mark.parametrize(
    "when",
    ["2001-01-01T00:00:00Z", "tomorrow", "2099-01-01", "2099-01-01T00:00:00", 1, True, [], ""],
)
def test_a_date_that_is_past_or_none_is_refused(when: Any) -> None:
    post = make.post(status="draft")

    refused("PUT", f"/api/posts/{post.pk}", {"publishAt": when}, 422, "invalid", "publishAt")


@pytest.mark.parametrize("now", ["published", "archived"])
def test_only_a_draft_waits(now: str) -> None:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(status=now)
    path = f"/api/posts/{post.pk}"

    refused("PUT", path, {"publishAt": FUTURE}, 422, "not_a_draft", "publishAt")
    refused("PUT", f"{path}/review", {"publishAt": FUTURE}, 422, "not_a_draft", "publishAt")
    # The change back to a draft may set the date as well.
    assert put(post, status="draft", publishAt=FUTURE)["publishAt"] == FUTURE
    assert status(post) == "draft"


def test_now_and_later_at_once_is_refused() -> None:
    post = make.post(status="draft")
    body = {"status": "published", "publishAt": FUTURE}

    refused("PUT", f"/api/posts/{post.pk}", body, 422, "not_a_draft", "publishAt")
    new = {"type": "blog", "title": "New", **body}
    refused("POST", "/api/posts", new, 422, "not_a_draft", "publishAt")


def test_publishing_by_hand_takes_the_date_back() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE)

    answer = put(post, **{**put(post), "status": "published"})

    assert (answer["status"], answer["publishAt"]) == ("published", None)


def test_the_scheduler_publishes_what_is_due_once() -> None:
    post, later = make.post(status="draft"), make.post("Later", slug="later", status="draft")
    overdue(post)
    put(later, publishAt=FUTURE)
    Event.objects.all().delete()

    assert tick() == 1
    assert tick() == 0

    assert (status(post), status(later)) == ("published", "draft")
    assert Post.objects.get(pk=post.pk).publish_at is None
    names = list(Event.objects.order_by("id").values_list("name", "post_id"))
    assert names == [("post.published", post.pk), ("post.publish", post.pk)]


@pytest.mark.parametrize("why", ["archived", "deleted", "placeholder"])
def test_what_is_no_plain_draft_is_not_published(why: str) -> None:
    post = make.post(status="draft")
    overdue(post)
    column = {
        "archived": {"status": "archived"},
        "deleted": {"deleted_at": timezone.now()},
        "placeholder": {"is_placeholder": True},
    }[why]
    Post.objects.filter(pk=post.pk).update(**column)

    assert tick() == 0
    assert Post.objects.get(pk=post.pk).published_at is None


def test_archiving_takes_the_date_back() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE)

    assert put(post, status="archived")["publishAt"] is None


def test_one_that_cannot_be_published_stalls_no_other_and_is_said(
    caplog: Any, monkeypatch: Any
) -> None:
    first, second = make.post(status="draft"), make.post("Second", slug="second", status="draft")
    overdue(first, minutes=2)
    overdue(second)
    original = move_status

    def failing(*, post: Post, **wanted: Any) -> None:
        if post.pk == first.pk:
            raise RuleViolation("It is broken.")
        original(post=post, **wanted)

    monkeypatch.setattr(schedule, "move_status", failing)
    # Starting a worker configures logging again, which removes pytest's handler from the root.
    monkeypatch.setattr(schedule.logger, "handlers", [caplog.handler])

    assert tick() == 1

    assert (status(first), status(second)) == ("draft", "published")
    assert f"cannot publish post {first.pk} on schedule: It is broken." in caplog.text


def test_a_failure_that_cannot_be_recorded_stalls_no_other_post(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = make.post(status="draft"), make.post("Second", slug="second", status="draft")
    overdue(first, minutes=2)
    overdue(second)
    payload_of = vars(publish)["event_payload"]

    def failing(post: Post, **named: Any) -> JsonObject:
        if post.pk == first.pk:
            raise ZeroDivisionError
        found: JsonObject = payload_of(post, **named)
        return found

    # For a post broken like this neither publication nor failure can be recorded.
    for module in (publish, schedule):
        monkeypatch.setattr(module, "event_payload", failing)

    with pytest.raises(StepsFailed, match=str(first.pk)):
        tick()

    assert (status(first), status(second)) == ("draft", "published")


def test_a_date_that_waits_in_review_and_passed_is_not_approved_past_the_rules() -> None:
    post = make.post(status="draft")
    make.staged(post, {"publishAt": FUTURE}, layer=Layer.REVIEW)
    put(post, status="published")
    editor = ApiClient("editor")
    digest = editor.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]

    path = f"/api/posts/{post.pk}/review/approve"
    refused("POST", path, {"digest": digest}, 422, "not_a_draft", "publishAt")


def test_a_revision_with_a_date_brings_a_published_post_back_without_it() -> None:
    post = make.post(status="draft")
    put(post, publishAt=FUTURE, title="With a date")
    put(post, status="published", title="Published")
    editor = ApiClient("editor")
    rows = editor.read(f"/api/posts/{post.pk}/revisions")["data"]
    dated = next(row for row in rows if "post.publishAt" in row["changedPaths"])

    answer = editor.write("POST", f"/api/posts/{post.pk}/revisions/{dated['id']}/revert", {})

    assert (answer["title"], answer["status"], answer["publishAt"]) == (
        "With a date",
        "published",
        None,
    )


def test_a_schedule_that_fails_is_recorded_once_for_its_date() -> None:
    original = make.post("Coffee")
    variation = create_variation(post_id=original.pk, variation="B", actor=make.actor())
    overdue(variation)

    tick()
    tick()

    [event] = Event.objects.filter(name="post.schedule-failed")
    assert event.post_id == variation.pk
    assert "Variations are not published" in str(event.payload["reason"])
    overdue(variation, minutes=-1)
    overdue(variation, minutes=0)
    tick()
    assert Event.objects.filter(name="post.schedule-failed").count() == 2


@pytest.mark.parametrize("error", [RuntimeError("broken"), OperationalError("locked")])
def test_whatever_keeps_a_post_from_being_published_keeps_no_other(error: Exception) -> None:
    first, second = make.post(status="draft"), make.post("Next", slug="next", status="draft")
    overdue(first, minutes=2)
    overdue(second)

    def fail(event: Event) -> None:
        if event.post_id == first.pk:
            raise error

    with events._inside["post.published"].registered_temporarily(fail):
        assert tick() == 1
        assert tick() == 0

    assert (status(first), status(second)) == ("draft", "published")
    reasons = [event.payload["reason"] for event in Event.objects.filter(name=FAILED)]
    is_known = isinstance(error, OperationalError)
    assert reasons == ([] if is_known else ["Something went wrong; the log says what."])
    assert tick() == 1
    assert status(first) == "published"


def test_a_post_of_a_language_that_was_removed_is_not_published(settings: Any) -> None:
    german = make.post("Kaffee", locale="de", slug="kaffee", status="draft")
    english = make.post("Coffee", slug="coffee", status="draft")
    for post in (german, english):
        overdue(post)
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"locales": ("en",)})

    assert (tick(), tick()) == (1, 0)

    assert (status(german), status(english)) == ("draft", "published")
    (failed,) = Event.objects.filter(name=FAILED)
    assert failed.payload["reason"] == "The site no longer has the language de."
