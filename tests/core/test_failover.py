"""A database that lost its last transactions: they are not served, whatever ids its successor assigns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from django.conf import settings as product
from django.db import connection, connections
from django.utils.http import http_date

from content.models import Post
from content.posts.publish import set_status
from proofroom.core.caching import shared_answers as shared
from proofroom.core.caching.content_version import content_version, live_state
from proofroom.core.caching.content_version_cache import lease
from proofroom.core.caching.shared_answers import shared_answers
from tests import make
from tests.front import Front

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no standby"),
]
_END_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname LIKE %s AND pid <> pg_backend_pid()"
)


def use_database(name: str) -> None:
    connections.close_all()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL has one
    connection.settings_dict["NAME"] = name


class Standby:
    """A copy of the database at one moment, which replaces it."""

    def __init__(self) -> None:
        self.primary = str(connection.settings_dict["NAME"])
        self.name = f"{self.primary}_standby"
        self._run(f'CREATE DATABASE "{self.name}" TEMPLATE "{self.primary}"')

    def promote(self) -> None:
        use_database(self.name)
        lease.end()  # as after the second that it lasts

    def drop(self) -> None:
        use_database(self.primary)
        self._run(f'DROP DATABASE "{self.name}"')

    @staticmethod
    def _run(sql: str) -> None:
        name = str(connection.settings_dict["NAME"])
        use_database(name)
        with connection._nodb_cursor() as cursor:
            cursor.execute(_END_SESSIONS, [f"{name}%"])
            cursor.execute(sql)


@pytest.fixture
def standby() -> Iterator[Callable[[], Standby]]:
    made: list[Standby] = []

    def make_standby() -> Standby:
        made.append(Standby())
        return made[-1]

    yield make_standby
    for one in made:
        one.drop()


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_nothing_lost_or_withdrawn_is_served_after_a_failover(
    standby: Callable[[], Standby], ahead: int
) -> None:
    """`ahead`: at the process's first query the new primary has assigned the same number of ids again,
    or one more.
    """
    first, second = make.post("First", slug="first"), make.post("Second", slug="second")
    third = make.post("Third", slug="third")
    front = Front()
    pages = ("/blog/first", "/blog/second", "/blog/third", "/blog", "/blog/feed.xml")
    copy = standby()

    make.edited(first, {"title": "Lost"})
    make.edited(second, {"title": "Lost too"})
    at = content_version()
    doors = (*pages, *(f"/api/public/posts/{post.pk}" for post in (first, second, third)))
    for door in (*doors, "/api/public/posts"):
        front.get(door)
        assert front.get(door).is_kept
    copy.promote()
    front.get("/blog/third") if ahead == 3 else None
    set_status(post_id=second.pk, status="archived", actor=make.actor("admin"))
    for number in range(ahead - 1):
        make.edited(third, {"title": f"Third {number}"})
    assert content_version() == at + ahead - 2

    for door in (*doors, "/api/public/posts"):
        for answer in (front.get(door), front.get(door)):
            gone = door == "/blog/second" or door.endswith(str(second.pk))
            assert answer.status == (404 if gone else 200), door
            assert "Lost" not in answer.text, door
            assert "Second" not in answer.text, door


def test_a_database_that_is_set_back_is_served_at_once(standby: Callable[[], Standby]) -> None:
    """Without a single write, and also for clients that compare dates only."""
    post, front = make.post("First", slug="first"), Front()
    copy = standby()
    make.edited(post, {"title": "Lost"})
    door = f"/api/public/posts/{post.pk}"
    front.get(door)
    lost = live_state().moved_at

    copy.promote()

    assert Post.objects.get(pk=post.pk).title == "First"
    assert "First" in front.get(door).text
    assert lost is not None
    since = {"HTTP_IF_MODIFIED_SINCE": http_date(lost.timestamp())}
    answers = [front.get(door, **since) for _ in range(2)]
    assert [(answer.status, "First" in answer.text) for answer in answers] == [(200, True)] * 2


@pytest.mark.skipif(not product.CMS_ENV.redis_url, reason="processes share nothing")
def test_processes_share_nothing_of_what_was_lost(
    standby: Callable[[], Standby], monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofroom.core.caching.answer_cache import answers

    monkeypatch.setattr(shared_answers, "_paused_until", 0.0)
    monkeypatch.setattr(shared, "TIMEOUT_SECONDS", 30.0)
    shared._redis.cache_clear()
    first, other = make.post("First", slug="first"), make.post("Other", slug="other")
    front = Front()
    copy = standby()
    make.edited(first, {"title": "Lost"})
    assert "Lost" in front.get("/blog/first").text
    copy.promote()
    make.edited(other, {"title": "Another"})
    make.edited(other, {"title": "Yet another"})

    answers.clear()
    assert "Lost" not in front.get("/blog/first").text


def test_no_two_histories_have_the_same_moments(standby: Callable[[], Standby]) -> None:
    """Changes are at least a second apart, even if that is ahead of the clock."""
    post = make.post("First", slug="first")
    for number in range(3):
        make.edited(post, {"title": f"Title {number}"})
    copy = standby()

    def changed() -> list[object]:
        states = []
        for number in range(3):
            make.edited(post, {"title": f"Later {number}"})
            states.append(live_state())
        for earlier, later in pairwise(states):
            assert earlier.moved_at is not None
            assert later.moved_at is not None
            assert (later.moved_at - earlier.moved_at).total_seconds() >= 1
        return [*states]

    lost = changed()
    copy.promote()
    assert not set(lost) & set(changed())
