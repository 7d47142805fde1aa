"""The calendar: what it lists, for whom, and within which bounds."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Post
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.calendar.scenes import due_step, full_month, on
from tests.steps.taking import set_steps

pytestmark = pytest.mark.django_db

MONTH = "from=2099-01-01&to=2099-01-31"


def entries(query: str = MONTH, *, by: str = "editor") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ApiClient(by).read(f"/api/calendar?{query}")["data"]
    return rows


def kinds(query: str = MONTH, *, by: str = "editor") -> list[tuple[str, str]]:
    return [(row["kind"], row["title"]) for row in entries(query, by=by)]


ALL = [
    ("publication", "Planned"),
    ("expiry", "Ending"),
    ("publication", "Changed"),
    ("release", "Launch"),
    ("due", "Changed"),
    ("due", "cup.png"),
]


def test_all_kinds_are_listed_in_order_of_time() -> None:
    scene = full_month()

    assert kinds() == ALL
    rows = entries()
    assert [row["at"][:10] for row in rows] == [f"2099-01-0{day}" for day in range(2, 8)]
    assert rows[0]["id"] == rows[0]["postId"] == str(scene["planned"].pk)
    assert rows[2]["postId"] == str(scene["changed"].pk) != rows[2]["id"]
    assert (rows[3]["id"], rows[3]["postId"]) == (str(scene["release"].pk), None)


def test_past_publications_are_listed() -> None:
    post = make.post("Published", slug="published")
    Post.objects.filter(pk=post.pk).update(published_at="2001-01-05T09:00:00Z")

    assert kinds("from=2001-01-01&to=2001-01-31") == [("publication", "Published")]


def test_the_end_is_not_part_of_the_period_but_its_day_is() -> None:
    full_month()

    assert kinds("from=2099-01-02&to=2099-01-02") == ALL[:1]
    assert kinds("from=2099-01-02T09:00:00Z&to=2099-01-03T09:00:00Z") == ALL[:1]
    assert kinds("from=2099-01-02T09:00:01Z&to=2099-01-03T09:00:00Z") == []


def test_it_is_narrowed_by_type_language_and_person() -> None:
    full_month()
    page = make.post("Page", slug="page", type="page", status="draft")
    Post.objects.filter(pk=page.pk).update(publish_at=on(8))

    assert kinds(f"{MONTH}&type=page") == [("publication", "Page")]
    # A release is listed with the type of its posts, a file has none.
    assert kinds(f"{MONTH}&type=blog") == ALL[:5]
    assert kinds(f"{MONTH}&locale=de") == []
    admin = make.user("admin").pk
    assert kinds(f"{MONTH}&person={make.user('editor').pk}") == [
        ("publication", "Changed"),
        ("release", "Launch"),
    ]
    assert ("due", "Changed") in kinds(f"{MONTH}&person={admin}")
    assert ("release", "Launch") not in kinds(f"{MONTH}&person={admin}")


def test_who_may_not_manage_releases_does_not_see_them() -> None:
    full_month()

    assert kinds(by="translator") == [row for row in ALL if row[0] != "release"]


def test_posts_outside_of_the_readers_part_are_left_out() -> None:
    full_month()
    german = make.post("Deutsch", slug="deutsch", locale="de", status="draft")
    Post.objects.filter(pk=german.pk).update(publish_at=on(9))
    make.site_role("limited", "posts.view", scope=ContentScope(locales=frozenset({"de"})))

    assert kinds(by="limited") == [("publication", "Deutsch")]


def test_deleted_posts_and_resolved_threads_are_left_out() -> None:
    scene = full_month()
    Post.objects.filter(pk=scene["planned"].pk).update(deleted_at=on(1))
    for row in entries():
        if row["kind"] == "due":
            ApiClient("editor").write("PATCH", f"/api/comments/{row['id']}", {"status": "resolved"})

    assert kinds() == ALL[1:4]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("form=2099-01-01", "form"),
        ("from=soon", "from"),
        ("to=9999-99-99", "to"),
        ("from=2099-01-01&to=2099-12-31", "to"),
        ("from=9999-12-31T23:00:00Z", "from"),
        (f"{MONTH}&type=poem", "type"),
        (f"{MONTH}&locale=xx", "locale"),
        (f"{MONTH}&person=me", "person"),
        (f"{MONTH}&person=9999999999999999999999", "person"),
    ],
)
def test_a_wrong_query_is_refused(query: str, field: str) -> None:
    refused("GET", f"/api/calendar?{query}", None, 422, "invalid", field)


def test_a_period_with_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.calendar.entries.MAX_ENTRIES", 3)
    full_month()

    refused("GET", f"/api/calendar?{MONTH}", None, 422, "too_many", "to")


def test_the_month_page_shows_links_by_day_in_the_readers_zone() -> None:
    scene = full_month()
    client = Client()
    client.force_login(make.user("editor"))
    client.cookies["admin_time_zone"] = "Pacific/Auckland"

    shown = client.get("/admin/calendar/?month=2099-01").content.decode()

    assert "January 2099" in shown
    assert "Times in Pacific/Auckland<" in shown
    assert f"/admin/proofroom_releases/release/{scene['release'].pk}/change/" in shown
    # Nine in the morning in UTC is late in the evening there.
    day = shown[shown.index('datetime="2099-01-02"') : shown.index('datetime="2099-01-03"')]
    assert "Planned" in day
    assert "10 p.m." in day


def test_due_steps_are_listed_for_readers_of_the_post_and_the_people_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full_month()
    post = due_step(monkeypatch, at=on(8))

    [row] = [row for row in entries() if row["title"] == "Terms of use"]
    assert (row["kind"], row["id"], row["postId"]) == ("due", str(post.pk), str(post.pk))
    # It asks translators, and the person of a thread is the one it is assigned to.
    translator, admin = (make.user(name).pk for name in ("translator", "admin"))
    assert kinds(f"{MONTH}&person={translator}") == [("due", "Terms of use")]
    assert ("due", "Terms of use") not in kinds(f"{MONTH}&person={admin}")
    assert kinds(f"{MONTH}&person=999999") == []
    make.site_role("limited", "posts.view", scope=ContentScope(types=frozenset({"blog"})))
    assert ("due", "Terms of use") not in kinds(by="limited")
    # Nobody is asked by a step that the type no longer has.
    set_steps(monkeypatch, type_="page")
    assert kinds() == ALL


def open_calendar(query: str = "", *, by: str = "editor", zone: str = "UTC") -> str:
    client = Client()
    client.force_login(make.user(by))
    client.cookies["admin_time_zone"] = zone
    response = client.get(f"/admin/calendar/?{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_week_page_shows_hours_and_keeps_the_filters() -> None:
    full_month()
    # It begins on Sunday in English. An entry at 22:00 adds hours to all days.
    week = open_calendar("week=2099-01-06&type=blog", zone="Pacific/Auckland")

    assert "Jan. 4, 2099 – Jan. 10, 2099" in week
    slot = week[week.index('data-day="2099-01-04" data-hour="22"') :]
    assert slot.index("Changed") < slot.index("</section>")
    assert week.count('data-hour="22"') == 7
    assert 'data-hour="23"' not in week
    for query in (
        "week=2098-12-28&amp;type=blog",
        "week=2099-01-11&amp;type=blog",
        "month=2099-01&amp;type=blog",
    ):
        assert f'href="?{query}"' in week
    month = open_calendar("month=2099-01&locale=de")
    assert 'href="?week=2098-12-28&amp;locale=de"' in month
    assert "No entries match these filters." in month
    assert "Nothing is planned in this week." in open_calendar("week=2099-03-02")


@pytest.mark.parametrize(
    "query",
    [
        *("month=", "month=soon", "month=0001-01", "month=9999-12", "month=2099-13"),
        *("week=", "week=soon", "week=0001-01-01", "week=9999-12-31", "week=2099-02-30"),
    ],
)
def test_a_wrong_period_shows_the_current_one(query: str) -> None:
    shown = open_calendar(query, by="translator")

    assert 'aria-current="date"' in shown


def test_the_page_takes_as_many_queries_for_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    full_month()
    due_step(monkeypatch, at=on(8))
    rights = ("posts.view", "posts.edit", "posts.publish", "comments.view", "comments.write")
    scope = ContentScope(locales=frozenset({"en"}))
    make.site_role("limited", *rights, "media.view", scope=scope)
    query = "month=2099-01"
    open_calendar(query, by="limited")
    with CaptureQueriesContext(connection) as few:
        open_calendar(query, by="limited")
    posts = [make.post("More", slug=f"more-{n}", status="draft") for n in range(20)]
    Post.objects.filter(pk__in=[post.pk for post in posts]).update(publish_at=on(20))

    with CaptureQueriesContext(connection) as many:
        assert open_calendar(query, by="limited").count("data-entry=") == 24

    assert len(many) == len(few)


def test_it_takes_as_many_queries_for_many_entries() -> None:
    full_month()
    client = ApiClient("editor")
    client.read(f"/api/calendar?{MONTH}")
    with CaptureQueriesContext(connection) as few:
        client.read(f"/api/calendar?{MONTH}")
    posts = [make.post("More", slug=f"more-{n}", status="draft") for n in range(20)]
    Post.objects.filter(pk__in=[post.pk for post in posts]).update(publish_at=on(20))

    with CaptureQueriesContext(connection) as many:
        assert len(client.read(f"/api/calendar?{MONTH}")["data"]) == len(ALL) + 20

    assert len(many) == len(few)
