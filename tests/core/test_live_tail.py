"""Nothing is sent twice or lost, and slow clients do not affect others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.utils import timezone

from cms_project.asgi import application
from proofroom.core.models import Event
from proofroom.core.realtime import event_feed, event_tail
from proofroom.core.realtime.event_feed import EventPage
from proofroom.core.realtime.messages import may_hear_of
from proofroom.core.realtime.sessions import PageConnection, still_authorized
from tests import make
from tests.core.sockets import asked, in_a_loop, opened, session_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_polls")]


def happened(number: int = 1, **fields: Any) -> list[Event]:
    """Insert that many events directly into the table."""
    made = [Event(name="media.uploaded", via="api", **fields) for _ in range(number)]
    for event in made:
        event.save()
    return made


happens = sync_to_async(happened)


def test_a_late_lower_event_id_is_reported_once() -> None:
    first = happened()[0].pk
    following = event_tail.Tail()
    following.read()
    happened(id=first + 3)
    assert [event.id for event in following.read()] == [first + 3]

    happened(id=first + 1)
    assert [event.id for event in following.read()] == [first + 1]
    happened(id=first + 2)
    happened(id=first + 4)

    assert [event.id for event in following.read()] == [first + 2, first + 4]
    assert following.read() == []


def test_an_event_id_skipped_before_the_first_listener_is_reported() -> None:
    first = happened()[0].pk
    happened(id=first + 2)
    following = event_tail.Tail()
    following.read()

    happened(id=first + 1)

    assert [event.id for event in following.read()] == [first + 1]


def test_a_number_that_never_comes_is_looked_for_no_longer_than_it_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_tail, "LATE_SECONDS", -1.0)
    first = happened()[0].pk
    following = event_tail.Tail()
    following.read()
    happened(id=first + 2)
    following.read()

    happened(id=first + 1)

    assert following.read() == []


def test_after_a_failover_new_events_with_the_ids_of_lost_ones_are_reported() -> None:
    first, *_, last = (event.pk for event in happened(5))
    following = event_tail.Tail()
    following.read()
    Event.objects.filter(pk__gt=first).delete()
    new = happened(id=first + 1)

    assert [event.uid for event in following.read()] == [event.uid for event in new]

    happened(id=last)
    assert [event.id for event in following.read()] == [last]
    assert following.read() == []


def test_after_a_failover_a_page_resumes_only_after_an_event_that_was_not_lost() -> None:
    kept, lost = happened(2)
    following = event_tail.Tail()
    following.read()
    Event.objects.filter(pk=lost.pk).delete()
    (new,) = happened(id=lost.pk)
    following.read()

    assert [event.uid for event in following.behind(kept.uid) or ()] == [new.uid]
    assert following.behind(lost.uid) is None


def test_a_leap_of_numbers_costs_no_memory(
    django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_tail, "MAX_IDS_SKIPPED", 10)
    first = happened()[0].pk
    following = event_tail.Tail()
    following.read()
    happened(id=first + 2_000_000_000)
    following.read()
    happened(id=first + 1_000)
    happened(id=first + 2_000_000_000 - 10)

    with django_assert_num_queries(1):
        told = following.read()

    assert [event.id for event in told] == [first + 2_000_000_000 - 10]


def test_a_look_costs_as_much_for_many_pages_as_for_one(
    django_assert_num_queries: Any, django_user_model: Any
) -> None:
    make.user("editor")
    keys = [session_of("editor") for _ in range(20)]
    user = make.user("editor")
    connections = [
        PageConnection(user.pk, key, user.get_session_auth_hash(), "posts.view")
        for key in [*keys, "gone"]
    ]
    following = event_tail.Tail()
    following.read()
    happened(30, post_id=uuid4())

    with django_assert_num_queries(1):
        told = following.read()
    with django_assert_num_queries(2):
        found = still_authorized(connections)
    with django_assert_num_queries(1):
        may_hear = may_hear_of(told, [user])
    with django_assert_num_queries(0):
        answers = {may_hear(user, event) for event in told}

    assert set(found) == set(connections[:-1])
    assert answers == {True}


@in_a_loop
async def test_a_reconnected_page_receives_missed_events() -> None:
    async with opened("editor") as other:
        await happens()
        seen = (await other.hears())["id"]
        missed = [str(event.uid) for event in await happens(3)]
        assert [(await other.hears())["id"] for _ in missed] == missed

        async with opened("editor", f"after={seen}") as page:
            assert [(await page.hears())["id"] for _ in missed] == missed
        async with opened("editor", f"after={missed[-1]}") as page:
            assert page.hello["last"] == missed[-1]
            assert await page.receive_nothing()


@in_a_loop
async def test_missed_events_are_delivered_after_reconnecting() -> None:
    first, second = [str(event.uid) for event in await happens(2)]

    async with opened("editor", f"after={first}") as page:
        assert (await page.hears())["id"] == second


@in_a_loop
async def test_a_page_receives_events_since_it_was_rendered() -> None:
    now = timezone.now()
    await happens(created_at=now - timedelta(seconds=1))
    since = await happens(created_at=now + timedelta(seconds=1))

    async with opened("editor", f"after={now.timestamp():.6f}") as page:
        assert (await page.hears())["id"] == str(since[0].uid)


@pytest.mark.parametrize("after", [str(uuid4()), "0", "1.5"], ids=["event", "epoch", "moment"])
@in_a_loop
async def test_a_long_absent_page_is_asked_to_reload(
    after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_tail, "MAX_EVENTS_KEPT", 2)
    last = (await happens(3))[-1]

    async with opened("editor", f"after={after}") as page:
        assert await page.hears() == {"reload": True, "last": str(last.uid)}


@in_a_loop
async def test_too_many_events_ask_the_page_to_reload() -> None:
    async with opened("editor") as page, opened("editor", f"post={uuid4()}") as other:
        last = (await sync_to_async(happened)(event_feed.MAX_EVENTS_PER_TURN + 1))[-1]

        assert await page.hears() == {"reload": True, "last": str(last.uid)}
        assert await other.receive_nothing()


@in_a_loop
async def test_a_page_that_takes_nothing_is_dropped_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(EventPage, "most_waiting", 5)
    slow = asked(session=await sync_to_async(session_of)("editor"))
    flows, sent, received = asyncio.Event(), [], asyncio.Queue[Any]()
    flows.set()

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "websocket.send":
            await flows.wait()

    received.put_nowait({"type": "websocket.connect"})
    running = asyncio.create_task(application(slow.scope, received.get, send))
    async with opened("editor") as page:
        flows.clear()
        for _ in range(20):
            await happens()
            await page.hears()
        taken = len(sent)
        flows.set()
        while sent[-1]["type"] != "websocket.close":
            await asyncio.sleep(0)
        await happens()
        await page.hears()

    assert sent[-1]["code"] == 4408
    assert len(sent) == taken + 1
    received.put_nowait({"type": "websocket.disconnect", "code": 4408})
    await running


@in_a_loop
async def test_a_database_that_is_away_for_a_moment_ends_no_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened("editor") as page:
        failed = asyncio.Event()
        monkeypatch.setattr(event_tail.Tail, "read", _failing(failed))
        await asyncio.wait_for(failed.wait(), 5)
        monkeypatch.undo()
        event = (await happens())[0]

        assert (await page.hears())["id"] == str(event.uid)
    said = [record.message for record in caplog.records]
    assert said == ["open pages get no updates until this works again"]


@in_a_loop
async def test_an_event_read_before_a_database_outage_is_delivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened("editor") as page:
        failed = asyncio.Event()
        monkeypatch.setattr(event_feed, "may_hear_of", _failing(failed))
        event = (await happens())[0]
        await asyncio.wait_for(failed.wait(), 5)
        monkeypatch.undo()

        assert (await page.hears())["id"] == str(event.uid)


def _failing(failed: asyncio.Event) -> Callable[..., None]:
    loop, tries = asyncio.get_running_loop(), count()

    def read(*_: Any) -> None:
        if next(tries) >= 2:
            loop.call_soon_threadsafe(failed.set)
        raise OperationalError("away")

    return read
