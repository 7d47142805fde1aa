"""Acceptance and disconnection of WebSocket clients."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client

from proofroom.accounts.services.users import change_user, set_password
from proofroom.core import outbox
from proofroom.core.realtime.event_feed import EventFeed
from proofroom.core.realtime.hub import hubs
from tests import make
from tests.core.sockets import ORIGIN, asked, in_a_loop, opened, session_of

pytestmark = pytest.mark.django_db
MISSING = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LIVE_POLL_SECONDS = 0.01
    monkeypatch.setattr("proofroom.core.realtime.hub.CHECK_SECONDS", 0.01)


@pytest.mark.parametrize(
    "origin",
    [
        b"https://evil.example",
        b"null",
        b"",
        b"http://[",
        b"http://localhost:99999999",
        b"http://localhost.evil",
        None,
    ],
)
@in_a_loop
async def test_a_page_of_another_site_is_refused(origin: bytes | None) -> None:
    session = await sync_to_async(session_of)("admin")

    assert await asked(session=session, origin=ORIGIN).connect() == 0
    assert await asked(session=session, origin=origin).connect() == 1000


@pytest.mark.parametrize("session", ["", "nonsense", "x" * 200, "\x00"])
@in_a_loop
async def test_nobody_listens_without_a_session(session: str) -> None:
    assert await asked(session=session).connect() == 4401


@in_a_loop
async def test_an_agents_account_does_not_listen() -> None:
    assert await asked(session=await sync_to_async(session_of)("ai_agent")).connect() == 4401


@pytest.mark.parametrize(
    "query",
    ["post=x", "post=1", f"post={MISSING}0", "post=%00", "after=x", "after=-1", "after=nan",
     "after=1e400", "after=999999999999", "after=%EF%BC%91", "after=1.2.3", "&".join(["a=b"] * 50)],
)  # fmt: skip
@in_a_loop
async def test_a_query_that_says_nothing_is_refused(query: str) -> None:
    page = asked(query, session=await sync_to_async(session_of)("editor"))

    assert await page.connect() == 4400


@in_a_loop
async def test_an_address_without_a_websocket_is_refused() -> None:
    page = asked(session=await sync_to_async(session_of)("admin"), path="/ws/nothing/")

    assert await page.connect() == 1000


@sync_to_async
def record() -> None:
    outbox.record("media.uploaded", actor=make.actor("admin"), payload={})


def stored(session: str) -> Any:
    return import_module(settings.SESSION_ENGINE).SessionStore(session)


def log_out(session: str) -> None:
    stored(session).flush()


def expire(session: str) -> None:
    standing = stored(session)
    standing.set_expiry(-1)
    standing.save()


def switch_off(session: str) -> None:
    change_user(user_id=make.user("editor").pk, actor=make.actor("admin"), is_active=False)


def demote(session: str) -> None:
    change_user(user_id=make.user("editor").pk, actor=make.actor("admin"), role="translator")


def new_password(session: str) -> None:
    actor = make.actor("admin")
    set_password(user_id=make.user("editor").pk, actor=actor, password="another-long-password")


def remove(session: str) -> None:
    make.user("editor").delete()


@pytest.mark.parametrize("end", [log_out, expire, switch_off, demote, new_password, remove])
@in_a_loop
async def test_who_loses_the_session_is_put_out_though_nothing_happens(end: Any) -> None:
    session = await sync_to_async(session_of)("editor")
    async with opened("editor", session=session) as page, opened("translator") as other:
        await sync_to_async(end)(session)

        assert await page.is_closed_with() == 4401
        assert await asked(session=session).connect() == 4401
        await record()
        assert (await other.hears())["event"] == "media.uploaded"


@in_a_loop
async def test_the_log_out_button_ends_one_session_and_its_pages_only() -> None:
    first, second = await sync_to_async(lambda: (session_of("editor"), session_of("editor")))()
    async with opened("editor", session=first) as page, opened("editor", session=second) as other:
        await sync_to_async(press_log_out)(first)

        assert await page.is_closed_with() == 4401
        await record()
        assert (await other.hears())["event"] == "media.uploaded"


@in_a_loop
async def test_the_task_ends_with_the_last_page_and_begins_with_the_next() -> None:
    async with opened("editor"), opened("admin"):
        assert len(hubs) == 1
    while hubs:
        await asyncio.sleep(0)

    async with opened("editor") as page:
        await record()
        assert (await page.hears())["event"] == "media.uploaded"


@in_a_loop
async def test_who_sends_something_is_put_out() -> None:
    async with opened("editor") as page:
        for frame in ({"text": "{"}, {"bytes": b"\xff"}):
            await page.send_input({"type": "websocket.receive", **frame})

        assert await page.is_closed_with() == 4400


@in_a_loop
async def test_one_person_does_not_open_pages_without_end() -> None:
    session = await sync_to_async(session_of)("editor")
    pages = [asked(session=session) for _ in range(EventFeed.most_pages_of_one)]
    assert [await page.connect() for page in pages] == [0] * EventFeed.most_pages_of_one

    assert await asked(session=session).connect() == 4429

    async with opened("admin"):
        await asyncio.gather(*(page.leave() for page in pages))
        async with opened("editor", session=session):
            pass


def press_log_out(session: str) -> None:
    browser = Client()
    browser.cookies["sessionid"] = session
    assert browser.post("/admin/logout/").status_code == 200
