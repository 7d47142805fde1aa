"""On PostgreSQL every write wakes the pages that follow it; polling is disabled here."""

from __future__ import annotations

import asyncio
from queue import Queue
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.utils import timezone

from agents_app.models import RUNS_CHANNEL, AgentBatch, AgentRun
from agents_app.runs import lifecycle
from content.posts.presence import close_editor, mark_editing
from proofroom.core import outbox
from proofroom.core.database_notifications import is_listening, listen
from tests import make
from tests.browser.agents_scene import run
from tests.core.sockets import asked, in_a_loop, opened, session_of

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
WAIT = 20


@pytest.fixture(autouse=True)
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom.core.realtime.hub.LOOK_SECONDS", 600.0)
    monkeypatch.setattr("agents_app.runs.lifecycle._LOOK_SECONDS", 600.0)


async def listening() -> None:
    while not is_listening():
        await asyncio.sleep(0)


@in_a_loop
async def test_a_page_receives_events_and_presence_changes() -> None:
    post = await sync_to_async(make.post)()
    actor = await sync_to_async(make.actor)("admin", via="admin")
    key = str(uuid4())
    async with opened("editor", f"post={post.pk}") as page:
        await listening()

        await sync_to_async(outbox.record)("post.updated", actor=actor, payload={}, post_id=post.pk)
        assert (await page.hears())["event"] == "post.updated"
        for layer in ("source", "review"):
            await sync_to_async(mark_editing)(post_id=post.pk, key=key, actor=actor, layer=layer)
            assert [one["layer"] for one in (await page.hears())["editing"]] == [layer]
        await sync_to_async(close_editor)(post_id=post.pk, key=key, actor=actor)
        assert await page.hears() == {"editing": []}


@in_a_loop
async def test_pages_receive_a_run_and_its_batch() -> None:
    own = await sync_to_async(lambda: run(make.post(), "running"))()
    batch = await sync_to_async(AgentBatch.objects.create)(agent_id=own.agent_id, by_name="editor")
    await change(own, batch=batch)
    session = await sync_to_async(session_of)("editor")
    pages = [
        asked(session=session, path=path)
        for path in (f"/ws/runs/{own.pk}/", f"/ws/batches/{batch.pk}/")
    ]
    for page in pages:
        assert await page.connect() == 0
        await page.hears()
    await listening()

    await change(own, doing="Waiting for the model")
    assert (await pages[0].hears())["doing"] == "Waiting for the model"
    assert await pages[1].hears() == {"runs": 1, "finished": 0}
    await change(own, status="failed")
    for page in pages:
        assert await page.is_closed_with() == 1000


@in_a_loop
async def test_who_loses_the_session_is_put_out_though_nothing_is_notified() -> None:
    async with opened("editor") as page:
        await listening()
        await sync_to_async(Session.objects.all().delete)()

        assert await page.is_closed_with() == 4401


def test_who_waits_for_a_run_is_woken_by_its_end_and_by_no_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lifecycle._limit, "free", None)
    own = run(make.post(), "running")
    payloads, begun, over = Queue[str](), Event(), Event()
    listen(RUNS_CHANNEL, payloads.put, lost=begun.set)
    assert begun.wait(WAIT)

    AgentRun.objects.filter(pk=own.pk).update(heartbeat_at=timezone.now())
    # After this round trip all earlier notifications have been delivered.
    listen("mark", payloads.put, lost=over.set)
    assert over.wait(WAIT)
    assert payloads.empty()

    def follow(steps: Any, total: Any, doing: str) -> None:
        """Follow a run, which ends when its caller waits for it."""
        AgentRun.objects.filter(pk=own.pk).update(status="succeeded")

    monkeypatch.setattr(lifecycle, "report", follow)
    assert lifecycle.wait_for_run(own, 60).status == "succeeded"
    assert payloads.get(timeout=WAIT) == ""


@sync_to_async
def change(of: AgentRun, **values: Any) -> None:
    AgentRun.objects.filter(pk=of.pk).update(**values)
