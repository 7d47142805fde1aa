"""Notifications: recipients, once, about existing objects, limited to visible content."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents_app.models import AgentRun, RunStatus
from agents_app.runs.run_log import record_run_end
from content.layers.approve import approve
from content.layers.reject import reject
from content.models import Layer, Post, Status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post
from content.store.digest import digest_of
from proofroom.accounts.models import SiteRole, User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotFound
from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Notice,
    NotificationKind,
    NotificationText,
    notification_kinds,
)
from proofroom.notifications.queries import count_unread, describe, visible_notifications
from proofroom.notifications.services import (
    add_notifications,
    mark_all_read,
    mark_read,
    purge_notifications,
    register_kind,
)
from tests import make
from tests.core.listening import own_subscriptions

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def tell() -> None:
    """Send all recorded notifications, like the worker."""
    add_notifications(list(Event.objects.order_by("pk")))


def lines(actor: Actor) -> list[tuple[str, str]]:
    return [
        (line.text.text, line.text.detail)
        for line in describe(list(visible_notifications(actor)), actor)
    ]


def test_reviewers_hear_of_what_waits_in_one_line_for_a_layer() -> None:
    editor, admin, translator = map(make.actor, ("editor", "admin", "translator"))
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    assert lines(admin) == [("Changes to “Coffee” are waiting in Review", "")]
    make.staged(make.post("Tea"), {"excerpt": "New"}, layer=Layer.REVIEW)

    tell()
    tell()  # once more

    text = "Changes to “Tea” and 1 other post are waiting in Review"
    assert lines(admin) == [(text, "")]
    assert lines(editor) == []  # who sent it there
    assert lines(translator) == []  # who may not decide
    assert count_unread(admin) == 1


def test_what_happens_after_reading_is_a_line_of_its_own() -> None:
    admin = make.actor("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    mark_all_read(actor=admin)
    assert count_unread(admin) == 0
    tell()
    assert Notification.objects.count() == 1

    make.staged(make.post("Tea"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()

    assert [text for text, _detail in lines(admin)] == [
        "Changes to “Tea” are waiting in Review",
        "Changes to “Coffee” are waiting in Review",
    ]


def test_writers_hear_of_decisions_with_the_reason() -> None:
    translator, admin = make.actor("translator"), make.actor("admin")
    post = make.post("Coffee")
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW, by=make.actor("admin"))
    reject(post_id=post.pk, layer=Layer.REVIEW, actor=make.actor("editor"), note="Too long")
    make.staged(post, {"excerpt": "Newer"}, layer=Layer.REVIEW, by=admin)
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("editor"), digest=digest)
    Notification.objects.all().delete()

    tell()

    found = [line for line in lines(admin) if "your changes" in line[0]]
    assert found == [
        ("editor approved your changes to “Coffee”", ""),
        ("editor rejected your changes to “Coffee”", "Too long"),
    ]
    assert not [line for line in lines(make.actor("editor")) if "your changes" in line[0]]
    assert lines(translator) == []


def test_a_deleted_post_is_not_named() -> None:
    admin, post = make.actor("admin"), make.post("Secret plan")
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()

    delete_post(post_id=post.pk, actor=admin)

    [line] = describe(list(visible_notifications(admin)), admin)
    assert line.text.text == "Changes to “a deleted post” are waiting in Review"
    assert line.text.url == ""


def test_authors_hear_of_what_was_published_on_schedule() -> None:
    post = make.post("Coffee", status=Status.DRAFT)
    author = make.actor("translator")
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now(), author=author.user.pk)

    run_due_dates(Actor(user=make.user("admin"), via="system"))
    tell()

    assert lines(author) == [("“Coffee” was published on schedule", "")]


def test_authors_hear_of_a_schedule_that_failed() -> None:
    author, other = make.actor("translator"), make.post("Tea")
    post = make.post("Coffee", status=Status.DRAFT)
    due, path = timezone.now() - timedelta(minutes=1), Post.objects.get(pk=post.pk).path
    rows = Post.objects.filter(pk=post.pk)
    rows.update(publish_at=due, author=author.user.pk, path="/somewhere")
    Post.objects.filter(pk=other.pk).update(path=path)  # taken since

    run_due_dates(Actor(user=make.user("admin"), via="system"))
    tell()

    [(said, reason)] = lines(author)
    assert said == "“Coffee” could not be published on schedule"
    # The author may not be allowed to see the other post, as who scheduled this was.
    assert (path in reason, "Tea" in reason) == (True, False)
    assert rows.get().status == Status.DRAFT


def test_a_maker_without_the_post_does_not_keep_a_failure_from_the_others() -> None:
    german = ContentScope(locales=frozenset({"de"}))
    make.site_role("german", "posts.view", "posts.edit", "posts.publish", scope=german)
    editor, maker = make.actor("editor"), Actor(make.user("editor", "maker"), "admin")
    post = make.post("Coffee")
    make.edited(post, {"unpublishAt": "2098-01-01T00:00:00Z"}, by=maker)
    User.objects.filter(pk=maker.user.pk).update(role="german")
    past = timezone.now() - timedelta(minutes=1)
    Post.objects.filter(pk=post.pk).update(unpublish_at=past, author=None)

    run_due_dates(make.actor("admin", via="system"))
    tell()

    assert [said for said, _reason in lines(editor)] == [
        "“Coffee” could not be unpublished on schedule"
    ]
    assert not Notification.objects.filter(user=maker.user.pk).exists()


def test_the_starter_is_notified_of_a_runs_end() -> None:
    editor = make.actor("editor")
    run = AgentRun.objects.create(
        agent_id="seo-specialist",
        scope="post.field",
        by_id=editor.user.pk,
        by_name="editor",
        via="admin",
        status=RunStatus.FAILED,
        error="No answer.",
    )

    record_run_end(run)
    tell()

    assert lines(editor) == [("The run of SEO specialist failed", "No answer.")]
    assert lines(make.actor("admin")) == []


def test_a_webhook_that_was_switched_off_is_for_who_manages_them() -> None:
    webhook = make.webhook()
    outbox.record(
        "webhook.disabled",
        actor=make.actor("translator"),
        payload={"id": str(webhook.pk), "name": webhook.name},
    )

    tell()

    [(text, _detail)] = lines(make.actor("admin"))
    assert text == "The webhook “Search” was turned off because its calls failed"
    assert lines(make.actor("editor")) == []


def test_who_lost_the_permission_sees_it_no_more() -> None:
    admin = make.actor("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()

    make.user("admin").__class__.objects.filter(pk=admin.user.pk).update(role="translator")
    demoted = Actor(user=make.user("admin"), via="admin")

    assert (lines(demoted), count_unread(demoted)) == ([], 0)


def test_users_who_may_see_no_posts_receive_none() -> None:
    role = make.site_role("chief", "posts.view", "posts.review.approve", "webhooks.manage")
    SiteRole.objects.filter(pk=role.pk).update(permissions=["posts.review.approve"])
    chief = make.actor("chief")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()

    assert Notification.objects.filter(user_id=chief.user.pk).exists()
    assert (lines(chief), count_unread(chief)) == ([], 0)


def test_a_notification_is_marked_read_by_its_person_only() -> None:
    admin = make.actor("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    row = visible_notifications(admin).get()

    with pytest.raises(NotFound):
        mark_read(notification_id=row.pk, actor=make.actor("translator"))

    row.refresh_from_db()
    assert row.read_at is None


def test_old_notifications_are_deleted() -> None:
    make.user("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    Notification.objects.update(updated_at=timezone.now() - timedelta(days=91))

    assert purge_notifications(days=0) == 0
    assert purge_notifications(days=90) == 1


def test_the_pages_show_open_and_mark(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    post = make.post("Coffee")
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    row = Notification.objects.get()
    assert client.get("/admin/notifications/count/").json() == {
        "count": "1",
        "label": "1 new notification",
    }
    assert "Coffee" in client.get("/admin/notifications/?panel=1").content.decode()
    assert "Coffee" in client.get("/admin/notifications/?show=unread").content.decode()

    opened = client.post(f"/admin/notifications/{row.pk}/open/")

    assert opened["Location"] == f"/admin/content/post/{post.pk}/review/?layer=review"
    assert client.get("/admin/notifications/count/").json()["count"] == ""
    assert "Coffee" not in client.get("/admin/notifications/?show=unread").content.decode()
    assert signed_in("editor").post(f"/admin/notifications/{row.pk}/open/").status_code == 404


def test_the_page_asks_as_much_for_many_as_for_one(
    signed_in: SignedIn, django_assert_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    client = signed_in("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    mark_all_read(actor=make.actor("admin"))
    client.get("/admin/notifications/?panel=1")
    with django_assert_num_queries(4):  # session, account, rows, posts
        client.get("/admin/notifications/?panel=1")
    for number in range(3):
        make.staged(make.post(f"Tea {number}"), {"excerpt": "New"}, layer=Layer.REVIEW)
        tell()
        mark_all_read(actor=make.actor("admin"))

    with django_assert_num_queries(4):
        client.get("/admin/notifications/?panel=1")


def test_the_bell_counts_unseen_notifications(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    seen = re.search(
        r'data-notifications-seen="([^"]+)"', client.get("/admin/notifications/").content.decode()
    )
    assert seen

    assert client.post("/admin/notifications/seen/", {"until": seen[1]}).status_code == 204

    assert client.get("/admin/notifications/count/").json()["count"] == ""
    admin = make.actor("admin")
    assert count_unread(admin) == 1  # seen is not read
    # An equal notification is new again; times in the future are ignored.
    make.staged(make.post("Tea"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    assert client.get("/admin/notifications/count/").json()["count"] == "1"
    client.post("/admin/notifications/seen/", {"until": "2999-01-01T00:00:00+00:00"})
    make.staged(make.post("Milk"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()
    assert client.get("/admin/notifications/count/").json()["count"] == "1"


@pytest.mark.parametrize(
    "until", ["", "tomorrow", "2026-02-30T00:00:00+00:00", "2026-01-01T00:00:00"]
)
def test_what_is_no_moment_marks_nothing(signed_in: SignedIn, until: str) -> None:
    client = signed_in("admin")
    make.staged(make.post("Coffee"), {"excerpt": "New"}, layer=Layer.REVIEW)
    tell()

    assert client.post("/admin/notifications/seen/", {"until": until}).status_code == 422
    assert Notification.objects.filter(is_seen=True).count() == 0


def test_a_kind_that_fails_keeps_no_other_from_an_event() -> None:
    reader = make.user("admin")
    failures: list[Exception] = [ZeroDivisionError()]

    def kind(name: str, find: Callable[[Event], list[Notice]]) -> NotificationKind:
        return NotificationKind(
            name, name, "posts.view", ("post.exported",), find, lambda _rows: {}
        )

    def broken(event: Event) -> list[Notice]:
        if failures:
            raise failures[0]
        return other(event)

    def other(event: Event) -> list[Notice]:
        return [Notice([reader.pk], "group", str(event.pk))]

    with own_subscriptions(), notification_kinds.registered_temporarily(alone=True):
        register_kind(kind("tests.broken", broken))
        register_kind(kind("tests.other", other))
        event = outbox.record("post.exported", actor=make.actor("editor"), payload={})

        assert not outbox.dispatch(event.pk)
        kinds = Notification.objects.order_by("kind").values_list("kind", flat=True)
        assert list(kinds) == ["tests.other"]

        failures.clear()
        Event.objects.update(next_at=None)
        assert outbox.dispatch(event.pk)
        assert list(kinds.all()) == ["tests.broken", "tests.other"]


def test_a_kind_that_cannot_be_described_hides_no_other_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = make.actor("admin")

    def fail(_rows: Sequence[Notification]) -> dict[int, NotificationText]:
        raise ZeroDivisionError

    def describe_other(rows: Sequence[Notification]) -> dict[int, NotificationText]:
        return {row.pk: NotificationText("Other", "/", "star") for row in rows}

    for number, name in enumerate(("tests.broken", "tests.other"), 1):
        Notification.objects.create(
            user_id=reader.user.pk, kind=name, group="", subjects=["1"], event_id=number,
            created_at=timezone.now(), updated_at=timezone.now(),
        )  # fmt: skip
    kinds = [
        NotificationKind(name, name, "posts.view", ("post.exported",), lambda _event: [], describe_)
        for name, describe_ in (("tests.broken", fail), ("tests.other", describe_other))
    ]
    with notification_kinds.registered_temporarily(alone=True):
        for kind in kinds:
            notification_kinds.register(kind, name=kind.name)

        assert lines(reader) == [("Other", "")]

    assert "Notifications of the kind tests.broken cannot be shown." in caplog.text
