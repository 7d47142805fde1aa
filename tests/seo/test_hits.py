"""Hits of redirects: counted immediately, written in batches, not lost by database errors."""

from __future__ import annotations

from threading import Thread
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from seo import middleware as module
from seo.middleware import HitCounter
from seo.models import Redirect
from tests import make

pytestmark = pytest.mark.django_db


def counted() -> dict[str, int]:
    return dict(Redirect.objects.values_list("from_path", "hits"))


def test_many_hits_are_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_SECONDS", 600.0)
    one, two = make.redirect("/a", "/x"), make.redirect("/b", "/x")
    hits = HitCounter()

    with CaptureQueriesContext(connection) as asked:
        for _ in range(50):
            hits.add(one.pk)
        hits.add(two.pk)
    with CaptureQueriesContext(connection) as written:
        hits.write()
        hits.write()

    assert hits._timer is None
    assert len(asked) == 0
    assert sum("UPDATE" in query["sql"] for query in written) == 2
    assert counted() == {"/a": 50, "/b": 1}


def test_a_visitor_waits_for_no_write(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_SECONDS", 600.0)
    make.redirect("/a", "/x")

    with CaptureQueriesContext(connection) as asked:
        assert client.get("/a").status_code == 301
    module.hits.write()

    assert not [query for query in asked if "UPDATE" in query["sql"]]
    assert counted() == {"/a": 1}


def test_a_database_that_is_busy_gets_them_later(monkeypatch: pytest.MonkeyPatch) -> None:
    row = make.redirect("/a", "/x")
    hits = HitCounter()
    original = transaction.atomic

    def busy() -> None:
        monkeypatch.setattr(transaction, "atomic", original)
        raise DatabaseError("database is locked")

    monkeypatch.setattr(transaction, "atomic", busy)
    hits.add(row.pk)
    assert counted() == {"/a": 0}
    hits.add(row.pk)

    assert counted() == {"/a": 2}


def test_too_many_redirects_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_SECONDS", 600.0)
    monkeypatch.setattr(module, "MAX_WAITING", 2)
    row = make.redirect("/a", "/x")
    hits = HitCounter()

    for id_ in (row.pk, uuid4(), uuid4()):
        hits.add(id_)

    assert counted() == {"/a": 1}
    hits.write()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_they_are_written_by_a_thread_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WRITE_SECONDS", 0.05)
    row = make.redirect("/a", "/x")
    hits = HitCounter()

    hits.add(row.pk)
    timer = hits._timer
    assert isinstance(timer, Thread)
    timer.join(timeout=30)

    assert counted() == {"/a": 1}
