"""Mails of notifications: at once, as a digest, or none, with nothing that the reader may not see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db.models import F
from django.utils import timezone

from content.models import Layer, Post
from content.posts.trash import delete_post
from proofroom.accounts.models import Preferences, SiteRole, User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.models import Event
from proofroom.notifications import mail, services
from proofroom.notifications.mail import last_digest_time, mail_digests, mail_notifications
from proofroom.notifications.models import Channel, Notification, NotificationChoice
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
    notification_kinds,
)
from proofroom.notifications.services import (
    add_notifications,
    choose_channels,
    mark_all_read,
)
from tests import make
from tests.api_client import ApiClient
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
WAITING = "review.waiting"
MENTION = "tests.mention"


@pytest.fixture(autouse=True)
def mail_server(settings: Any) -> None:
    settings.HAS_EMAIL = True


@pytest.fixture
def mentions() -> Iterator[None]:
    """A kind of mentions: an exported post mentions the accounts of its payload."""

    def find(event: Event) -> list[Notice]:
        people = event.payload.get("mentioned") or []
        assert isinstance(people, list)
        return [Notice([int(str(pk)) for pk in people], str(event.pk), str(event.pk))]

    def describe(rows: Sequence[Notification]) -> dict[int, NotificationText]:
        return {
            row.pk: NotificationText("<b>Mira</b> mentioned you", "/admin/", "comment", "the words")
            for row in rows
        }

    kind = NotificationKind(
        MENTION,
        "Mentions",
        "posts.view",
        ("post.exported",),
        find,
        describe,
        can_be_mailed=True,
        category=Category.MENTION,
    )
    with notification_kinds.registered_temporarily(kind, name=MENTION):
        yield


def mention(*people: Actor, post: Post | None = None) -> Event:
    ids = [person.user.pk for person in people]
    event = outbox.record(
        "post.exported",
        actor=make.actor("editor"),
        payload={"mentioned": ids, "title": "Coffee"},
        post_id=post.pk if post else None,
    )
    add_notifications([event])
    return event


def stage(title: str, by: Actor | None = None) -> Post:
    """Stage changes that wait in Review, and notify."""
    post = make.post(title)
    make.staged(post, {"excerpt": "New"}, layer=Layer.REVIEW, by=by or make.actor("editor"))
    add_notifications(list(Event.objects.order_by("pk")))
    return post


def a_day_later() -> None:
    """Let all notifications wait since yesterday."""
    day = timedelta(hours=26)  # a day with a change of clocks has 25
    Notification.objects.update(waiting_since=F("waiting_since") - day)


def prefer(actor: Actor, **values: str) -> None:
    Preferences.objects.update_or_create(user_id=actor.user.pk, defaults=values)


def test_mentions_are_mailed_at_once_and_once(
    mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    admin = make.actor("admin")
    mention(admin)

    assert (mail_notifications(), mail_notifications(), mail_digests()) == (1, 0, 0)

    assert [message.to for message in mailoutbox] == [[admin.user.email]]


def test_other_kinds_wait_for_the_digest(mailoutbox: list[EmailMessage]) -> None:
    admin = make.actor("admin")
    stage("Coffee")
    assert (mail_notifications(), mail_digests()) == (0, 0)

    a_day_later()
    stage("Tea")

    assert (mail_digests(), mail_digests(), mail_notifications()) == (1, 0, 0)
    (message,) = mailoutbox
    assert message.to == [admin.user.email]
    assert message.subject == "Changes to “Tea” and 1 other post are waiting in Review"


def test_what_comes_after_a_digest_waits_for_the_next_day(mailoutbox: list[EmailMessage]) -> None:
    make.actor("admin")
    stage("Coffee")
    a_day_later()
    assert mail_digests() == 1

    stage("Tea")
    assert mail_digests() == 0

    a_day_later()
    assert mail_digests() == 1
    assert len(mailoutbox) == 2


def test_a_line_that_never_rests_is_in_the_digest() -> None:
    make.actor("admin")
    stage("Coffee")
    a_day_later()
    for number in range(3):
        stage(f"Tea {number}")

    assert mail_digests() == 1


def test_a_line_of_the_version_before_digests_is_in_the_digest_once_it_grows() -> None:
    make.actor("admin")
    stage("Coffee")
    Notification.objects.update(waiting_since=None)
    assert mail_digests() == 0

    stage("Tea")
    a_day_later()

    assert mail_digests() == 1


def test_a_digest_of_several_lines_says_how_many(mailoutbox: list[EmailMessage]) -> None:
    admin = make.actor("admin")
    stage("Coffee")
    make.staged(make.post("Tea"), {"excerpt": "New"})
    add_notifications(list(Event.objects.order_by("pk")))
    a_day_later()

    mail_digests()

    subjects = {message.to[0]: message.subject for message in mailoutbox}
    assert subjects[admin.user.email] == "Today: 2 notifications"


@pytest.mark.parametrize(
    ("channel", "at_once", "daily"),
    [(Channel.MAIL, 1, 0), (Channel.DIGEST, 0, 1), (Channel.ADMIN, 0, 0), (Channel.OFF, 0, 0)],
)
def test_each_kind_goes_where_its_person_wants_it(
    channel: Channel, at_once: int, daily: int
) -> None:
    admin, other = make.actor("admin"), make.actor("editor")
    for kind in (WAITING, "form.submitted"):
        choose_channels(actor=admin, channels={kind: channel})
    choose_channels(actor=other, channels={WAITING: Channel.ADMIN})
    stage("Coffee")
    a_day_later()

    assert (mail_notifications(), mail_digests()) == (at_once, daily)
    assert Notification.objects.filter(user=admin.user.pk).exists() == (channel != Channel.OFF)


def test_a_kind_that_cannot_be_mailed_offers_no_mail() -> None:
    kind = NotificationKind(
        "tests.secret", "Secret", "posts.view", (), lambda _event: [], lambda _rows: {}
    )
    assert kind.default_channel == Channel.ADMIN
    with notification_kinds.registered_temporarily(kind, name=kind.name):
        for channel in ("mail", "daily"):
            with pytest.raises(RuleViolation):
                choose_channels(actor=make.actor("admin"), channels={kind.name: channel})
    assert not NotificationChoice.objects.exists()


def test_a_mail_has_two_forms_and_its_texts_are_inert(
    mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    mention(make.actor("admin"))
    mail_notifications()

    (message,) = mailoutbox
    assert isinstance(message, EmailMultiAlternatives)
    ((html, kind),) = message.alternatives
    assert kind == "text/html"
    assert "&lt;b&gt;Mira&lt;/b&gt; mentioned you" in str(html)
    assert "<b>Mira" not in str(html)
    assert "<b>Mira</b> mentioned you" in message.body
    for text in (message.body, str(html)):
        assert "the words" not in text
        assert "/admin/notifications/choices/" in text
        assert "/admin/notifications/unsubscribe/" in text
    assert not re.search(r"<(img|script|link|style)|url\(", str(html))


def test_a_mail_is_in_the_language_of_its_reader(
    mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    admin = make.actor("admin")
    prefer(admin, language="de")
    mention(admin)

    mail_notifications()

    (message,) = mailoutbox
    assert isinstance(message, EmailMultiAlternatives)
    assert '<html lang="de">' in str(message.alternatives[0][0])


def test_a_mail_can_be_unsubscribed_with_one_click(
    mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    mention(make.actor("admin"))
    mail_notifications()

    headers = mailoutbox[0].message()
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert re.fullmatch(
        r"<https?://[^<>\s]+/admin/notifications/unsubscribe/[^/\s]+/>",
        "".join(str(headers["List-Unsubscribe"]).split()),
    )
    assert headers["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize("case", ["scope", "role", "trash"])
def test_a_mail_names_nothing_that_its_reader_may_not_see_any_more(
    case: str, mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    chief = make.actor("admin")
    post = stage("Secret plan")
    choose_channels(actor=chief, channels={WAITING: "mail"})
    Notification.objects.update(mailed_event_id=0)
    if case == "trash":
        delete_post(post_id=post.pk, actor=make.actor("editor"))
    elif case == "role":
        User.objects.filter(pk=chief.user.pk).update(role="translator")
    else:
        role = make.site_role("chief", "posts.view", "posts.review.approve")
        SiteRole.objects.filter(pk=role.pk).update(permissions=["posts.review.approve"])
        User.objects.filter(pk=chief.user.pk).update(role="chief")

    assert (mail_notifications(), mailoutbox) == (0, [])


def test_a_kind_can_hide_what_its_reader_may_not_see_any_more(
    mentions: None, mailoutbox: list[EmailMessage]
) -> None:
    admin, editor = make.actor("admin"), make.actor("editor")
    kind = notification_kinds.get(MENTION)
    assert kind is not None

    def find_visible(actor: Actor, rows: Sequence[Notification]) -> set[int]:
        return {row.pk for row in rows if actor.user.pk != admin.user.pk}

    hiding = replace(kind, find_visible=find_visible)
    with notification_kinds.registered_temporarily(hiding, name=MENTION):
        mention(admin, editor)
        page = ApiClient("admin").read("/api/notifications")
        mail_notifications()

    assert [message.to for message in mailoutbox] == [[editor.user.email]]
    assert page["data"] == []


def test_two_processes_mail_a_notification_once(
    mentions: None, mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    mention(make.actor("admin"))
    send = vars(mail)["_send"]

    def send_while_another_runs(*arguments: Any) -> bool:
        monkeypatch.setattr(mail, "_send", send)
        assert mail_notifications() == 0
        sent: bool = send(*arguments)
        return sent

    monkeypatch.setattr(mail, "_send", send_while_another_runs)

    assert mail_notifications() == 1
    assert len(mailoutbox) == 1


def test_a_digest_that_cannot_be_sent_is_sent_later(
    mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    make.actor("admin")
    stage("Coffee")
    a_day_later()

    def refuse(*_arguments: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(EmailMessage, "send", refuse)
        assert mail_digests() == 0

    assert mail_digests() == 1
    assert len(mailoutbox) == 1


def test_what_is_older_than_a_week_is_not_mailed() -> None:
    make.actor("admin")
    stage("Coffee")
    a_day_later()
    Notification.objects.update(updated_at=timezone.now() - timedelta(days=8))

    assert mail_digests() == 0


def test_what_was_read_is_not_in_the_digest() -> None:
    admin = make.actor("admin")
    stage("Coffee")
    a_day_later()
    mark_all_read(actor=admin)

    assert mail_digests() == 0


@pytest.mark.parametrize(
    ("now", "zone", "due"),
    [
        ("2026-03-10T12:00", "Europe/Berlin", "2026-03-10T07:00"),
        ("2026-03-10T05:59", "Europe/Berlin", "2026-03-09T07:00"),  # 6:59 there
        ("2026-03-10T06:00", "Europe/Berlin", "2026-03-10T07:00"),
        ("2026-03-29T04:00", "Europe/Berlin", "2026-03-28T07:00"),  # the clocks moved in the night
        ("2026-03-29T05:00", "Europe/Berlin", "2026-03-29T07:00"),
        ("2026-03-10T06:00", "Pacific/Auckland", "2026-03-10T07:00"),
    ],
)
def test_digests_are_due_at_seven_where_the_reader_is(
    now: str, zone: str, due: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: moment)

    found = last_digest_time(zone)

    assert found == datetime.fromisoformat(due).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize(
    ("case", "is_woken"), [("mention", True), ("digest", False), ("no server", False)]
)
def test_what_is_mailed_at_once_does_not_wait_for_the_sweep(
    case: str,
    is_woken: bool,
    mentions: None,
    settings: Any,
    run_on_commit: RunOnCommit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(services, "queue_task", queued.append)
    settings.HAS_EMAIL = case != "no server"
    admin = make.actor("admin")

    with run_on_commit():
        if case == "digest":
            stage("Coffee")
        else:
            mention(admin)
            mention(admin)

    mails = [name for name in queued if name == "notifications.tasks.mail"]
    assert mails == ["notifications.tasks.mail"] * is_woken
