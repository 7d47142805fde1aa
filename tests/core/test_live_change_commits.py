"""Readers of `/api/public/changes` follow ids, so on PostgreSQL these must grow in the order of the commits."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from content.store.live_changes import record_live_changes
from proofroom.core.models import Event
from tests import make

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
_WAITING = """
    SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
"""


def updated(slug: str) -> Event:
    """Return the event of an edit of a new published post."""
    post = make.post(slug=slug)
    payload = {
        "id": str(post.pk),
        "type": "blog",
        "locale": "en",
        "status": "published",
        "url": post.path,
    }
    return Event.objects.create(name="post.updated", via="api", post_id=post.pk, payload=payload)


class Recorder(threading.Thread):
    """A worker that records the live changes of an event, and commits when it may."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event
        self.has_recorded, self.may_commit = threading.Event(), threading.Event()

    def run(self) -> None:
        with transaction.atomic():
            record_live_changes([self.event])
            self.has_recorded.set()
            self.may_commit.wait(20)
        connection.close()

    def waits_for_lock(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            return bool(cursor.fetchone()[0])


def read(since: str) -> tuple[list[str], str]:
    answer: Any = Client().get("/api/public/changes", {"since": since}).json()
    return [row["path"] for row in answer["data"] if row["path"]], answer["next"]


def test_a_reader_misses_no_change_of_two_workers() -> None:
    slow, fast = Recorder(updated("slow")), Recorder(updated("fast"))
    cursor = Client().get("/api/public/changes").json()["next"]
    found: list[str] = []

    slow.start()
    assert slow.has_recorded.wait(20)
    fast.may_commit.set()
    fast.start()
    while fast.is_alive() and not fast.waits_for_lock():
        fast.join(0.01)
    paths, cursor = read(cursor)
    found += paths
    slow.may_commit.set()
    for worker in (slow, fast):
        worker.join(20)
    paths, cursor = read(cursor)
    found += paths

    assert found == ["/blog/slow", "/blog/fast"]
    assert read(cursor)[0] == []
