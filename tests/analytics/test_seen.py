"""Data the server adds to reported events: language, version, experiment, goal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection
from django.db.models import F

from analytics.ingest.event_store import WRITE_LOCK, last_settled_id
from analytics.models import AnalyticsEvent
from analytics.services.track import Seen, record_events
from content.models import Post
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
TRACK = "/api/public/analytics/track"


def told(post: Post | None = None, event: str = "click", **metadata: Any) -> AnalyticsEvent:
    """Return the row of an event with that metadata."""
    id_ = None if post is None else str(post.pk)
    body = {"eventType": event, "postId": id_, "metadata": metadata}
    assert ApiClient().write("POST", TRACK, body) == {"accepted": 1}
    row = AnalyticsEvent.objects.latest("id")
    assert row.metadata == metadata
    return row


def running(post: Post, name: str = "B") -> Post:
    made = create_variation(post_id=post.pk, variation=name, actor=make.actor("admin"), weight=20)
    Post.objects.filter(pk=made.pk).update(variation_running=True)
    return made


def test_the_language_is_that_of_the_post_whatever_the_page_says() -> None:
    german = make.post("Kaffee", slug="kaffee", locale="de")

    assert told(german, locale="en").locale == "de"
    assert told(german).locale == "de"


@pytest.mark.parametrize(
    ("locale", "kept"),
    [("de", "de"), ("fr", ""), ("DE", ""), ("", ""), (7, ""), (["de"], ""), (None, "")],
    ids=str,
)
def test_elsewhere_it_is_one_of_the_site_s_languages(locale: Any, kept: str) -> None:
    assert told(None, locale=locale).locale == kept


@pytest.mark.parametrize(
    ("version", "kept"),
    [(250, 250), (249, 249), (150, 150), (149, 250), (251, 250), (0, 250), (-1, 250), (2**53, 250),
     (True, 250), (200.0, 250), ("200", 250), ([200], 250), (None, 250)],
    ids=str,
)  # fmt: skip
def test_the_version_is_the_page_s_where_it_can_be(version: Any, kept: int) -> None:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(version=250)

    assert told(post, version=version).version == kept


def test_a_young_post_has_no_version_before_its_first() -> None:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(version=3)

    assert [told(post, version=version).version for version in (0, 1, 3, 4)] == [3, 1, 3, 3]
    assert told(None, version=1).version is None


@pytest.mark.parametrize(
    ("goal", "kept"),
    [("newsletter", "newsletter"), ("a", "a"), ("7-days", "7-days"), ("a" * 40, "a" * 40),
     ("a" * 41, ""), ("form:contact", ""), ("-a", ""), ("A", ""), ("a b", ""), ("a\n", ""),
     ("ä", ""), ("", ""), (7, ""), (None, ""), (["a"], ""), ({"a": 1}, "")],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_a_goal_is_a_short_name_without_a_colon(goal: Any, kept: str) -> None:
    assert told(None, goal=goal).goal == kept


def test_a_view_reaches_no_goal() -> None:
    assert told(None, event="view", goal="newsletter").goal == ""


def test_events_of_a_test_name_the_original() -> None:
    original, other = make.post(), make.post("Other", slug="other")
    variation = running(original)

    named = [told(post).variation_of for post in (original, variation, other)]
    Post.objects.filter(pk=variation.pk).update(version=F("version") + 6)

    assert named == [original.pk, original.pk, None]
    row = told(variation, version=2)
    assert (row.post_id, row.locale, row.version) == (variation.pk, "en", 2)


def test_a_variation_that_is_not_shown_is_left_out_like_what_does_not_exist() -> None:
    original = make.post()
    stopped = running(original)
    Post.objects.filter(pk=stopped.pk).update(variation_running=False)
    gone = running(original, "C")
    delete_post(post_id=gone.pk, actor=make.actor())
    hidden = make.post("Hidden", slug="hidden")
    of_hidden = running(hidden)
    Post.objects.filter(pk=hidden.pk).update(status="draft")

    bodies = [{"eventType": "view", "postId": str(post.pk)} for post in (stopped, gone, of_hidden)]

    assert ApiClient().write("POST", TRACK, bodies) == {"accepted": 0}
    assert told(original).variation_of is None


@pytest.mark.parametrize("count", [1, 2, 5, 16, 17, 100])
def test_it_is_one_statement_however_many_events_and_posts(
    count: int, django_assert_num_queries: Any
) -> None:
    posts = [make.post("A", slug="a").pk, make.post("B", slug="b").pk]
    others = [uuid4() for _ in range(count)]
    seen = [Seen("click", id_, x=1.5, metadata={"n": 1}) for id_ in (posts + others)[:count]]

    with django_assert_num_queries(1):
        assert record_events(seen=seen) == min(2, count)
    with django_assert_num_queries(1):
        assert record_events(seen=[Seen("view")] * count) == count
    with django_assert_num_queries(1):
        assert record_events(seen=[Seen("view", uuid4()) for _ in range(count)]) == 0
    with django_assert_num_queries(0):
        assert record_events(seen=[]) == 0


def test_a_hundred_events_are_kept_in_their_order_with_all_that_they_say() -> None:
    post, module = make.post(), uuid4()
    seen = [
        Seen(
            "click",
            post.pk if number % 2 else None,
            x=number + 0.1,
            y=1e6 - number / 7,
            viewport_width=number + 1,
            metadata={
                "n": number,
                "deep": [{"ü": "„\\\"'😀"}, None, 2**53, -1.5e-9],
                "id": str(module),
            },
        )
        for number in range(100)
    ]

    assert record_events(seen=seen) == 100

    rows = list(AnalyticsEvent.objects.order_by("id"))
    assert [row.x for row in rows] == [one.x for one in seen]
    assert [row.y for row in rows] == [one.y for one in seen]
    assert [row.viewport_width for row in rows] == list(range(1, 101))
    assert [row.metadata for row in rows] == [one.metadata for one in seen]
    assert {row.post_id for row in rows} == {None, post.pk}
    assert len({row.created_at for row in rows}) == 1


@pytest.fixture
def other() -> Iterator[Any]:
    """Return a second connection to the same database, without a lock timeout."""
    given = connection.get_connection_params() | {"cursor_factory": None}
    with psycopg.connect(**given, autocommit=True) as found:
        found.execute("SET lock_timeout = '100ms'")
        yield found


@pytest.mark.services
def test_ids_are_given_only_while_nobody_asks_which_are_settled(other: Any) -> None:
    assert record_events(seen=[Seen("view")]) == 1  # in the transaction of this test

    with pytest.raises(psycopg.errors.LockNotAvailable):
        other.execute("SELECT pg_advisory_xact_lock(%s)", [WRITE_LOCK])
    other.execute("SELECT pg_advisory_xact_lock_shared(%s)", [WRITE_LOCK])
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("off",)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_what_others_wait_to_write_is_not_settled_and_takes_higher_ids(other: Any) -> None:
    record_events(seen=[Seen("view")])
    before = last_settled_id()
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)
    other.execute("SELECT pg_advisory_lock(%s)", [WRITE_LOCK])
    used = other.execute("SELECT last_value FROM analytics_analyticsevent_id_seq").fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
    try:
        with pytest.raises(Exception, match="lock timeout"):
            record_events(seen=[Seen("view")])
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")

    # The waiting one had no id yet.
    assert (
        other.execute("SELECT last_value FROM analytics_analyticsevent_id_seq").fetchone() == used
    )
    other.execute("SELECT pg_advisory_unlock(%s)", [WRITE_LOCK])
    record_events(seen=[Seen("view")])
    assert last_settled_id() == before + 1


def test_post_ids_may_come_in_any_form_that_is_an_id() -> None:
    post = make.post()
    body = {"eventType": "view", "postId": str(post.pk).upper()}

    assert ApiClient().write("POST", TRACK, body) == {"accepted": 1}
    assert AnalyticsEvent.objects.get().post_id == UUID(str(post.pk))
