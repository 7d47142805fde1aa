"""Ids are assigned before the commit: on PostgreSQL a lower one can become visible after a higher one."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from proofroom.core.models import Event
from proofroom.core.realtime.event_tail import Tail

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def record() -> int:
    return int(Event.objects.create(name="media.uploaded", via="api").pk)


def begun(end: threading.Event, numbers: list[int]) -> tuple[threading.Thread, threading.Event]:
    """A transaction that recorded an event and stays open until `end`."""
    has_recorded = threading.Event()

    def work() -> None:
        with transaction.atomic():
            numbers.append(record())
            has_recorded.set()
            end.wait(20)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, has_recorded


@pytest.mark.parametrize("listens_before", [True, False])
def test_late_commits_are_delivered(listens_before: bool) -> None:
    following, end, numbers = Tail(), threading.Event(), list[int]()
    record()

    def look() -> list[int]:
        return [event.id for event in following.read()]

    if listens_before:
        look()
    long, has_recorded = begun(end, numbers)
    assert has_recorded.wait(20)
    later = record()
    assert look() == ([later] if listens_before else [])

    end.set()
    long.join(20)

    assert numbers[0] < later
    assert look() == numbers
    assert look() == []
