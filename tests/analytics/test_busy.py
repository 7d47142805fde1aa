"""Reports during long writes are read without waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from django.db import connection

from analytics.models import AnalyticsEvent, RollUp
from proofroom.core.database.sqlite import short_busy_timeout
from tests import make
from tests.analytics.happened import keep
from tests.api_client import ApiClient

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="writers of PostgreSQL do not wait"),
]


@pytest.fixture
def writing() -> Iterator[sqlite3.Connection]:
    """Yield a second connection to the same database with an open write."""
    connection.ensure_connection()
    name = connection.get_connection_params()["database"]
    with closing(sqlite3.connect(name, uri=True, isolation_level=None)) as other:
        yield other


PATHS = (
    "/api/analytics/summary",
    "/api/analytics/heatmap?postId={}",
    "/api/analytics/heatmap/modules?postId={}",
    "/api/analytics/variations?postId={}",
    "/admin/analytics/sitecount/",
    "/admin/analytics/heatmap/{}/",
    "/admin/analytics/variations/{}/",
)


def test_reports_are_read_without_what_came_last(writing: sqlite3.Connection) -> None:
    post = make.post()
    keep(post)
    client = ApiClient("admin")
    writing.execute("BEGIN IMMEDIATE")

    answers = {path: client.get(path.format(post.pk)).status_code for path in PATHS}
    writing.execute("ROLLBACK")

    assert answers == dict.fromkeys(PATHS, 200)
    assert AnalyticsEvent.objects.count() == 1
    assert not RollUp.objects.filter(counted_to__gt=0).exists()


def test_short_waits_end() -> None:
    def patience() -> int:
        with connection.cursor() as cursor:
            return int(cursor.execute("PRAGMA busy_timeout").fetchone()[0])

    usual = patience()
    with suppress(RuntimeError), short_busy_timeout(0.25):
        assert patience() == 250
        raise RuntimeError

    assert patience() == usual == 20_000
