"""Dates in the admin: the reader's time zone, expiry in the editor, and scheduled changes in the review."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Layer, Post, ScheduledApproval, Status
from content.posts.schedule import run_due_dates
from proofroom.accounts.models import Preferences
from proofroom.core.i18n.time_zones import TIME_ZONE_COOKIE, suggested_times
from proofroom.notifications.queries import describe, visible_notifications
from tests import make
from tests.admin.pages import fields, review, url
from tests.admin.test_notifications import tell

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def send(client: Client, post: Post, do: str, **typed: str) -> Any:
    return client.post(url(post), {**fields(client.get(url(post)), "was"), "do": do, **typed})


def choose(role: str, zone: str) -> None:
    Preferences.objects.update_or_create(user=make.user(role), defaults={"time_zone": zone})


def test_times_are_in_the_zone_of_the_browser_until_one_is_chosen(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post(status="draft")
    assert 'data-time-zone="UTC" data-zone-follows="reload"' in text(client, url(post))
    client.cookies[TIME_ZONE_COOKIE] = "Europe/Berlin"

    page = text(client, url(post))
    assert "Publish at (Europe/Berlin)" in page
    assert "Times in Europe/Berlin" in page
    send(client, post, "schedule", schedule_at="2031-05-03T09:00")
    post.refresh_from_db()
    assert post.publish_at == datetime(2031, 5, 3, 7, 0, tzinfo=UTC)

    choose("editor", "America/New_York")
    page = text(client, url(post))
    assert "Publish at (America/New York)" in page
    assert "data-zone-follows" not in page
    assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.parametrize("sent", ["", "Nowhere/City", "../../etc/passwd", "Etc/GMT+5", "x" * 5000])
def test_a_zone_that_is_none_changes_nothing(signed_in: SignedIn, sent: str) -> None:
    client, post = signed_in(), make.post(status="draft")
    client.cookies[TIME_ZONE_COOKIE] = sent

    assert "Publish at (UTC)" in text(client, url(post))
    send(client, post, "schedule", schedule_at="2031-05-03T09:00", time_zone=sent)

    post.refresh_from_db()
    assert post.publish_at == datetime(2031, 5, 3, 9, 0, tzinfo=UTC)


def test_a_form_is_read_in_the_zone_in_which_its_page_was_shown(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post(status="draft")
    client.cookies[TIME_ZONE_COOKIE] = "Europe/Berlin"
    sent = fields(client.get(url(post)), "was")
    client.cookies[TIME_ZONE_COOKIE] = "America/New_York"  # the browser travelled

    client.post(url(post), {**sent, "do": "schedule", "schedule_at": "2031-05-03T09:00"})

    post.refresh_from_db()
    assert post.publish_at == datetime(2031, 5, 3, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        (date(2026, 11, 30), [("Tomorrow", "2026-12-01T09:00"), ("Next", "2026-12-07T09:00")]),
        (date(2026, 12, 31), [("Tomorrow", "2027-01-01T09:00"), ("Next", "2027-01-04T09:00")]),
        (date(2026, 11, 29), [("Tomorrow", "2026-11-30T09:00")]),  # a Sunday
    ],
)
def test_dialogs_suggest_mornings(
    monkeypatch: pytest.MonkeyPatch, today: date, expected: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(timezone, "localdate", lambda: today)

    found = [(one.label.split()[0], one.value) for one in suggested_times()]

    assert found == expected


def test_an_expiry_is_set_changed_and_removed_in_its_dialog(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post()
    assert "Unpublish at a time…" in text(client, url(post))

    assert send(client, post, "expire", expiry_at="2031-05-03T09:00").status_code == 302
    post.refresh_from_db()
    assert (post.status, post.unpublish_at) == (
        Status.PUBLISHED,
        datetime(2031, 5, 3, 9, 0, tzinfo=UTC),
    )
    page = text(client, url(post))
    assert re.search(r"Published until <time [^>]*>2031-05-03 09:00</time>", page)
    assert "post.unpublishAt" not in fields(client.get(url(post)), "was")

    send(client, post, "save", **{"post.title": "Typed"})
    post.refresh_from_db()
    assert post.unpublish_at is not None
    send(client, post, "unexpire")
    now = Post.objects.get(pk=post.pk)
    assert (now.title, now.unpublish_at) == ("Typed", None)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2020-01-01T10:00", "Choose a time in the future."),
        ("", "Choose a date and a time."),
    ],
)
def test_an_expiry_that_cannot_be_set_is_refused_in_its_dialog(
    signed_in: SignedIn, typed: str, sentence: str
) -> None:
    client, post = signed_in(), make.post()

    answer = send(client, post, "expire", expiry_at=typed)

    page = answer.content.decode()
    dialog = page[page.index('id="expiry"') :].partition("</dialog>")[0]
    assert answer.status_code == 422
    assert " data-open>" in dialog
    assert f">{sentence}</p>" in dialog
    post.refresh_from_db()
    assert post.unpublish_at is None


def test_a_publication_after_the_expiry_is_refused_in_the_dialog_of_the_publication(
    signed_in: SignedIn,
) -> None:
    client, post = signed_in(), make.post(status="draft")
    send(client, post, "expire", expiry_at="2031-05-03T09:00")

    answer = send(client, post, "schedule", schedule_at="2031-05-04T09:00")

    page = answer.content.decode()
    dialog = page[page.index('id="schedule"') :].partition("</dialog>")[0]
    assert answer.status_code == 422
    assert "The post must be published before it is unpublished." in dialog


def test_undo_brings_an_expiry_back(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post()
    send(client, post, "expire", expiry_at="2031-05-03T09:00")
    page = client.post(
        url(post), {**fields(client.get(url(post)), "was"), "do": "unpublish"}, follow=True
    )
    post.refresh_from_db()
    assert post.status == Status.DRAFT
    assert post.unpublish_at is None

    offered = re.search(r'name="undo" value="([^"]+)"', page.content.decode())
    assert offered is not None
    client.post("/admin/undo/", {"undo": offered[1]})

    now = Post.objects.get(pk=post.pk)
    assert (now.status, now.unpublish_at) == (
        Status.PUBLISHED,
        datetime(2031, 5, 3, 9, 0, tzinfo=UTC),
    )


def staged() -> Post:
    post = make.post()
    make.staged(post, {"title": "New title", "excerpt": "New excerpt"}, layer=Layer.REVIEW)
    return post


def decide(client: Client, post: Post, **sent: str) -> Any:
    page = client.get(review(post, "review"))
    return client.post(review(post, "review"), {**fields(page, "digest"), **sent})


ACCEPT = {"post.title": "accept", "action": "schedule"}


def test_accepted_changes_are_scheduled_and_the_schedule_removed(signed_in: SignedIn) -> None:
    client, post = signed_in(), staged()
    client.cookies[TIME_ZONE_COOKIE] = "Europe/Berlin"
    assert "Go live at (Europe/Berlin)" in text(client, review(post, "review"))

    answer = decide(client, post, **ACCEPT, at="2031-05-03T09:00", time_zone="Europe/Berlin")

    assert answer.status_code == 302
    row = ScheduledApproval.objects.get()
    assert (row.paths, row.at) == (["post.title"], datetime(2031, 5, 3, 7, 0, tzinfo=UTC))
    page = text(client, review(post, "review"))
    assert "2031-05-03 09:00" in page
    assert "cannot be met" not in page
    decide(client, post, action=f"unschedule:{row.pk}")
    assert not ScheduledApproval.objects.exists()
    assert len(make.layers(post).review.changes) == 2


def test_a_schedule_that_cannot_be_met_is_said_before_its_time(signed_in: SignedIn) -> None:
    client, post = signed_in(), staged()
    decide(client, post, **ACCEPT, at="2031-05-03T09:00")
    make.staged(post, {"title": "Another"}, layer=Layer.REVIEW)

    page = text(client, review(post, "review"))

    assert "1 schedule of these changes cannot be met." in page
    assert "These changes will not go live:" in page


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({**ACCEPT, "at": ""}, "Choose a date and a time."),
        ({**ACCEPT, "at": "soon"}, "Choose a date and a time."),
        ({**ACCEPT, "at": "2020-01-01T09:00"}, "Choose a time in the future."),
        (
            {"action": "schedule", "at": "2031-05-03T09:00"},
            "Accept the changes that are to go live at this time.",
        ),
    ],
)
def test_what_cannot_be_scheduled_is_said_and_decisions_stay(
    signed_in: SignedIn, sent: dict[str, str], sentence: str
) -> None:
    client, post = signed_in(), staged()

    answer = decide(client, post, **sent)

    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    if "post.title" in sent:
        assert fields(answer, "digest")["post.title"] == ["accept"]
    assert not ScheduledApproval.objects.exists()


def test_a_translator_is_offered_no_schedule(signed_in: SignedIn) -> None:
    post = staged()
    client = signed_in("translator")

    assert 'id="schedule"' not in text(client, review(post, "review"))
    answer = decide(client, post, **ACCEPT, at="2031-05-03T09:00")

    assert answer.status_code == 403
    assert not ScheduledApproval.objects.exists()


def test_the_maker_of_a_schedule_hears_that_it_failed(signed_in: SignedIn) -> None:
    client, post = signed_in(), staged()
    decide(client, post, **ACCEPT, at="2031-05-03T09:00")
    Post.objects.filter(pk=post.pk).update(author=None)
    make.staged(post, {"title": "Another"}, layer=Layer.REVIEW)
    ScheduledApproval.objects.update(at=timezone.now() - timedelta(minutes=1))

    run_due_dates(make.actor("admin", via="system"))
    tell()

    def failures(role: str) -> list[str]:
        actor = make.actor(role)
        found = describe(list(visible_notifications(actor)), actor)
        return [line.text.text for line in found if "on schedule" in line.text.text]

    assert failures("editor") == [f"Changes to “{post.title}” could not go live on schedule"]
    assert failures("admin") == []


def test_all_who_may_publish_hear_of_a_date_whose_maker_is_gone(signed_in: SignedIn) -> None:
    client, post = signed_in(), make.post()
    send(client, post, "expire", expiry_at="2031-05-03T09:00")
    Post.objects.filter(pk=post.pk).update(
        author=None, unpublish_at=timezone.now() - timedelta(minutes=1)
    )
    admin, editor = make.actor("admin"), make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(is_active=False)

    run_due_dates(make.actor("admin", via="system"))
    tell()

    texts = [line.text.text for line in describe(list(visible_notifications(admin)), admin)]
    assert texts == [f"“{post.title}” could not be unpublished on schedule"]


def test_authors_and_makers_hear_of_dates_that_were_carried_out(signed_in: SignedIn) -> None:
    client, post, other = signed_in(), staged(), make.post("Tea")
    send(client, other, "expire", expiry_at="2031-05-03T09:00")
    decide(client, post, **ACCEPT, at="2031-05-03T09:00")
    author, past = make.actor("translator"), timezone.now() - timedelta(minutes=1)
    Post.objects.update(author=author.user.pk)
    Post.objects.filter(pk=other.pk).update(unpublish_at=past)
    ScheduledApproval.objects.update(at=past)
    make.edited(make.post("Milk"), {"excerpt": "New"})  # by hand: no date

    assert run_due_dates(make.actor("admin", via="system")) == 2
    tell()

    title = Post.objects.get(pk=post.pk).title
    changed = f"Changes to “{title}” were approved on schedule"
    both = {changed, "“Tea” was unpublished on schedule"}
    assert carried_out("translator") == both
    assert carried_out("editor") == both  # who set the dates
    assert carried_out("admin") == set()


def carried_out(role: str) -> set[str]:
    actor = make.actor(role)
    rows = list(visible_notifications(actor).filter(kind="post.published"))
    return {line.text.text for line in describe(rows, actor)}
