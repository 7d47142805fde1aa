"""The iCalendar feed: its secret address, whose rights count, and its text."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from icalendar import Calendar

from content.models import Post
from proofroom.accounts.models import Preferences
from proofroom.core.models import Event
from proofroom_apps.calendar.models import CalendarFeed
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def renew(by: str = "editor") -> str:
    url: str = ApiClient(by).write("POST", "/api/calendar/feed")["url"]
    return urlsplit(url).path


def planned(title: str = "Planned") -> Post:
    post = make.post(title, slug="planned", status="draft")
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() + timedelta(days=2))
    return post


def test_the_address_shows_what_its_user_sees_without_a_login() -> None:
    post = planned()
    assert ApiClient("editor").read("/api/calendar/feed") == {"url": None}
    address = renew()
    assert urlsplit(ApiClient("editor").read("/api/calendar/feed")["url"]).path == address

    answer = Client().get(address)

    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    assert answer["Cache-Control"] == "no-store"
    lines = answer.content.decode().split("\r\n")
    assert (lines[0], lines[-2:]) == ("BEGIN:VCALENDAR", ["END:VCALENDAR", ""])
    assert "SUMMARY:Publication: Planned" in lines
    text = answer.content.decode().replace("\r\n ", "")
    assert f"/admin/content/post/{post.pk}/change/" in text
    assert re.search(r"\nDTSTART:\d{8}T\d{6}Z\r\n", text)


def test_a_renewed_address_replaces_the_former_one() -> None:
    former, present = renew(), renew()

    assert [Client().get(each).status_code for each in (former, present)] == [404, 200]
    assert Event.objects.filter(name="calendar.feed-renewed").count() == 2


def test_a_copy_of_the_table_opens_no_feed() -> None:
    renew()
    nonce = CalendarFeed.objects.get().nonce

    for secret in (nonce, f"{nonce}{'0' * 64}", "x", "0" * 96, "ü" * 96):
        assert Client().get(f"/calendar/{secret}.ics").status_code == 404


@pytest.mark.parametrize("column", [{"is_active": False}, {"role": "nobody"}])
def test_the_feed_ends_with_the_rights_of_its_user(column: dict[str, object]) -> None:
    address, editor = renew(), make.user("editor")
    type(editor).objects.filter(pk=editor.pk).update(**column)

    assert Client().get(address).status_code == 404


def test_hostile_titles_add_no_lines_and_a_move_keeps_the_event() -> None:
    post = planned()
    # Services refuse line breaks. A row of an older version may have one.
    title = "Tea; coffee, \\ milk\r\nBEGIN:VEVENT\u2028 " + "ü" * 120
    Post.objects.filter(pk=post.pk).update(title=title)
    address = renew()
    content = Client().get(address).content

    assert all(len(line) <= 75 for line in content.split(b"\r\n"))
    [event] = Calendar.from_ical(content).walk("VEVENT")
    assert event["SUMMARY"] == "Publication: Tea; coffee, \\ milk BEGIN:VEVENT " + "ü" * 120
    assert "SUMMARY:Publication: Tea\\; coffee\\, \\\\ milk BEGIN:VEVENT" in content.decode()
    assert abs(event["DTSTAMP"].dt - timezone.now()) < timedelta(hours=1)

    moved = timezone.now().replace(microsecond=0) + timedelta(days=5)
    Post.objects.filter(pk=post.pk).update(publish_at=moved)
    [later] = Calendar.from_ical(Client().get(address).content).walk("VEVENT")
    assert (later["UID"], later["DTSTART"].dt) == (event["UID"], moved)
    assert later["URL"] == event["URL"]


def test_the_page_of_the_calendar_makes_the_address() -> None:
    client = Client()
    client.force_login(make.user("translator"))
    assert "Create address" in client.get("/admin/calendar/").content.decode()

    answer = client.post("/admin/calendar/", follow=True)

    found = re.search(r'id="feed-url" value="([^"]+)"', answer.content.decode())
    assert found is not None
    assert Client().get(urlsplit(found[1]).path).status_code == 200


def test_a_post_is_no_safe_request() -> None:
    assert Client().post(renew()).status_code == 405


def test_a_full_calendar_keeps_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.calendar.entries.MAX_ENTRIES", 2)
    for day in (-9, -8, -7, 1, 2, 3):
        post = make.post(f"Day {day}", slug=f"day{day}")
        moment = timezone.now() + timedelta(days=day)
        column = {"published_at": moment} if day < 0 else {"unpublish_at": moment}
        Post.objects.filter(pk=post.pk).update(**{"published_at": None, **column})

    answer = Client().get(renew())

    assert answer.status_code == 200
    titles = re.findall(r"SUMMARY:\w+: (.+)\r", answer.content.decode())
    assert titles == ["Day -9", "Day -8", "Day 1", "Day 2"]


def test_the_feed_has_the_language_of_its_user() -> None:
    planned()
    editor = make.user("editor")
    Preferences.objects.update_or_create(user=editor, defaults={"language": "de"})

    answer = Client().get(renew(), HTTP_ACCEPT_LANGUAGE="en")

    assert "SUMMARY:Veröffentlichung: Planned" in answer.content.decode()
