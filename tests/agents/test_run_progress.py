"""Pages that show a run receive its progress over a WebSocket, in their language, while permitted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import get_language

from agents_app.consumers import BatchFeed, RunFeed, RunSnapshot
from agents_app.models import AgentBatch, AgentRun
from agents_app.providers.interface import StepRecord
from agents_app.runs.labels import run_progress
from agents_app.runs.run_log import add_step
from proofroom.core.activity.queries import filter_activity
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.realtime.hub import Feed, RowPage, read_feeds
from proofroom.core.realtime.sessions import PageConnection
from tests import make
from tests.browser.agents_scene import run
from tests.core.sockets import Page, asked, in_a_loop, opened, session_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_polls")]


@asynccontextmanager
async def following(
    run_id: Any, role: str = "editor", query: str = "lang=en"
) -> AsyncIterator[Page]:
    session = await sync_to_async(session_of)(role)
    page = asked(query, session=session, path=f"/ws/runs/{run_id}/")
    assert await page.connect() == 0
    try:
        yield page
    finally:
        await page.leave()


def begun(**values: Any) -> AgentRun:
    return run(make.post(), "running", input_tokens=0, output_tokens=0, cost=None, **values)


@sync_to_async
def change(of: AgentRun, **values: Any) -> None:
    AgentRun.objects.filter(pk=of.pk).update(**values)


@in_a_loop
async def test_a_page_receives_text_steps_tokens_and_the_end_of_a_run() -> None:
    own = await sync_to_async(begun)()
    async with following(own.pk) as page:
        first = await page.hears()
        assert (first["status"], first["steps"], first["tokens"]) == ("running", [], "0 tokens")
        events = await sync_to_async(Event.objects.count)()

        await change(own, doing="Writing, about 1,200 words so far")
        assert (await page.hears())["doing"] == "Writing, about 1,200 words so far"
        await change(own, doing="Calling get_post_context")
        assert (await page.hears())["doing"] == "Using Post with its layers"
        assert await sync_to_async(Event.objects.count)() == events, "no event for words"

        await sync_to_async(add_step)(
            own, StepRecord("tool", "get_post_context", True, 1310, "41 characters")
        )
        await change(own, input_tokens=4210, cost=Decimal("0.0134"), doing="Waiting for the model")
        told = await page.hears()
        assert (told["tokens"], told["cost"]) == ("4,210 tokens", "$0.0134")
        assert told["steps"] == [
            {
                "n": 1,
                "kind": "tool",
                "kindLabel": "tool",
                "name": "Post with its layers",
                "ok": True,
                "ms": 1310,
                "took": "1.3 s",
                "summary": "41 characters",
            }
        ]

        await change(own, status="succeeded", doing="")
        last = await page.hears()
        assert (last["isFinished"], last["succeeded"], last["doing"]) == (True, True, "")
        assert await page.is_closed_with() == 1000


@in_a_loop
async def test_who_may_not_see_agents_and_who_asks_for_nothing_is_not_let_in() -> None:
    own = await sync_to_async(begun)()
    path = f"/ws/runs/{own.pk}/"

    assert await asked(path=path).connect() == 4401
    translator = await sync_to_async(session_of)("translator")
    assert await asked(session=translator, path=path).connect() == 4401
    editor = await sync_to_async(session_of)("editor")
    assert await asked(session=editor, path=path, origin=b"http://evil.example").connect() != 0
    async with following(uuid4()) as page:
        assert await page.is_closed_with() == 4404
    async with following(own.pk, query="lang=%00%ff..") as page:
        assert (await page.hears())["label"] == "Running"


@in_a_loop
async def test_a_run_whose_worker_died_says_so_and_what_comes_next() -> None:
    now = timezone.now()
    own = await sync_to_async(begun)(heartbeat_at=now, doing="Waiting for the model")
    async with following(own.pk) as page:
        assert (await page.hears())["standing"] == ""
        await change(own, heartbeat_at=now - timedelta(seconds=20))
        told = await page.hears()
        assert (told["standing"], told["doing"][:29]) == (
            "silent",
            "The worker stopped responding",
        )
        await change(own, status="queued", attempts=1, doing="")
        told = await page.hears()
        assert (
            told["standing"],
            "The worker stopped before the run finished" in told["doing"],
        ) == ("again", True)
        await change(own, status="queued", attempts=0, created_at=now - timedelta(minutes=2))
        told = await page.hears()
        assert (told["standing"], "check that a worker is running" in told["doing"]) == (
            "waits",
            True,
        )


@in_a_loop
async def test_a_batch_page_receives_each_run_and_is_closed_at_the_end() -> None:
    own = await sync_to_async(begun)()
    batch = await sync_to_async(AgentBatch.objects.create)(agent_id=own.agent_id, by_name="editor")
    await change(own, batch=batch)
    editor = await sync_to_async(session_of)("editor")
    page = asked(session=editor, path=f"/ws/batches/{batch.pk}/")
    assert await page.connect() == 0
    assert await page.hears() == {"runs": 1, "finished": 0}

    for news in ({"doing": "Writing"}, {"input_tokens": 7}, {"status": "queued"}):
        await change(own, **news)
        assert await page.hears() == {"runs": 1, "finished": 0}, news
    await change(own, status="failed")

    assert await page.hears() == {"runs": 1, "finished": 1}
    assert await page.is_closed_with() == 1000
    gone = asked(session=editor, path=f"/ws/batches/{uuid4()}/")
    assert await gone.connect() == 0
    assert await gone.is_closed_with() == 4404


@in_a_loop
async def test_who_speaks_or_is_logged_out_is_disconnected() -> None:
    own = await sync_to_async(begun)()
    async with following(own.pk) as page:
        await page.hears()
        await page.send_input({"type": "websocket.receive", "text": "x" * 1_000_000})
        assert await page.is_closed_with() == 4400
    async with following(own.pk) as page:
        await page.hears()
        await sync_to_async(Session.objects.all().delete)()
        await change(own, doing="Waiting for the model")
        assert await page.is_closed_with() == 4401


def test_any_number_of_followers_takes_four_queries() -> None:
    counts = []
    key = session_of("editor")
    editor = make.user("editor")
    connection_of_page = PageConnection(
        editor.pk, key, editor.get_session_auth_hash(), "agents.view"
    )
    for number in (1, 5):
        post = make.post(slug=f"post-{number}")
        pages = [RowPage(connection_of_page, run(post, "running").pk, "en") for _ in range(number)]
        feed = RunFeed()
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                tell = read_feeds({feed: pages}, ())
            tell()
            counts.append(len(queries))
        assert [page.queue.qsize() for page in pages] == [1] * number
    assert counts == [4, 1, 4, 1]


def page_of(row_id: UUID, language: str = "en") -> RowPage:
    key = session_of("editor")
    editor = make.user("editor")
    session = PageConnection(editor.pk, key, editor.get_session_auth_hash(), "agents.view")
    return RowPage(session, row_id, language)


@pytest.mark.parametrize("method", ["load", "load_details"])
def test_a_feed_that_cannot_be_read_keeps_no_other_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    broken, other = BatchFeed(), RunFeed()
    batch, run_ = page_of(uuid4()), page_of(begun().pk)
    pages: dict[Feed[Any], list[RowPage]] = {broken: [batch], other: [run_]}

    def fail(*_given: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(broken, method, fail)
        for _turn in range(2):
            broken.has_news = other.has_news = False
            read_feeds(pages, ())()

    assert (batch.queue.qsize(), run_.queue.qsize()) == (0, 1)
    assert (broken.has_news, other.has_news) == (True, False)
    assert caplog.text.count("BatchFeed sends no updates to its pages until this works again") == 1
    read_feeds(pages, ())()
    assert batch.queue.get_nowait() == 4404


def test_an_unreachable_page_does_not_block_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    own = begun().pk
    german, english = page_of(own, "de"), page_of(own)
    message = RunSnapshot.message

    def failing(self: RunSnapshot) -> JsonObject:
        if get_language() == "de":
            raise ZeroDivisionError
        return message(self)

    monkeypatch.setattr(RunSnapshot, "message", failing)
    read_feeds({RunFeed(): [german, english]}, ())()

    assert german.queue.get_nowait() == 1011
    assert isinstance(english.queue.get_nowait(), dict)


def test_pages_without_a_session_are_put_out_in_three_queries() -> None:
    gone = PageConnection(make.user("editor").pk, "none", "", "agents.view")
    pages = [RowPage(gone, begun().pk, "en")]
    with CaptureQueriesContext(connection) as queries:
        tell = read_feeds({RunFeed(): pages}, ())
    tell()

    assert len(queries) == 3
    assert pages[0].queue.get_nowait() == 4401


def test_a_word_of_the_worker_that_nobody_knows_is_shown_as_it_is() -> None:
    own = begun(doing="Counting beans")
    assert run_progress(own, ())["doing"] == "Counting beans"


@sync_to_async
def steps_of_a_run(post_id: Any) -> AgentRun:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api", post_id=post_id
    )
    add_step(
        run, StepRecord(kind="model", name="a", ok=True, milliseconds=1, summary="of a secret")
    )
    return run


@sync_to_async
def marked() -> None:
    """Return the messages before a marker event."""
    make.image()


@in_a_loop
async def test_pages_receive_each_step_without_its_content() -> None:
    post = await sync_to_async(make.post)()
    async with (
        opened("editor", f"post={post.pk}") as here,
        opened("editor") as elsewhere,
        opened("translator") as other,
    ):
        run = await steps_of_a_run(post.pk)
        await marked()

        for page in (here, elsewhere):
            said = await page.hears()
            assert (said["event"], said["runId"]) == ("run.step", str(run.pk))
            assert (said["postId"], said["agentId"]) == (str(post.pk), "seo-specialist")
            assert "secret" not in str(said)
        assert (await other.hears())["event"].startswith("media."), "translators see no runs"


def test_the_log_does_not_fill_with_steps() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="x", via="api"
    )
    add_step(run, StepRecord(kind="model", name="a", ok=True, milliseconds=1))

    assert Event.objects.filter(name="run.step").count() == 1
    assert not filter_activity().filter(name="run.step").exists()
