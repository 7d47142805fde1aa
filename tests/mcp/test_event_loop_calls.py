"""Reads answered on the event loop: the same answers, counted and logged once, and never for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any, cast
from uuid import uuid4

import orjson
import pytest
from django.db import connection

from mcp_bridge.access import principals
from mcp_bridge.access.principals import Principal, known_actor
from mcp_bridge.access.rate_limits import TooManyCalls, count_call, windows_of
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.models import McpCall
from mcp_bridge.protocol import event_loop_calls
from mcp_bridge.protocol.call_batches import CallBatches
from mcp_bridge.protocol.event_loop_calls import Attempt, EventLoopCalls
from mcp_bridge.protocol.tool_calls import answer_call
from mcp_bridge.worker_threads import Workers
from proofroom.core.caching import rate_limit_buffer
from proofroom.core.caching.rate_limit_buffer import MAX_UNTOLD, BufferedHits
from proofroom.core.database.postgresql.base import DatabaseWrapper
from proofroom.core.observability.operations import MeasuredOperation, operation_ended
from proofroom.core.tools import get_tool, load_tools
from tests import make

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL"),
]


class Server:
    """A server's parts, and a client that has called once."""

    def __init__(self) -> None:
        load_tools()
        user = make.user("editor")
        self.principal = Principal(id=f"client:{uuid4()}", user_id=user.pk, role=user.role)
        self.access = ServerAccess()
        self.batches = CallBatches(Workers())
        self.calls = EventLoopCalls(self.access, self.batches)
        self.post = make.post("Tea")
        self.call_once("list_posts")

    def call_once(self, name: str) -> None:
        known_actor(self.principal, self.access)
        count_call(self.principal, get_tool(name), hit=self.access.counts.count)
        connection.close()  # an event loop has none; what is idle in the pool serves it

    def attempt(self, name: str, **arguments: Any) -> Attempt:
        tool = get_tool(name)
        assert tool is not None

        async def answer() -> Attempt:
            return self.calls.answer(self.principal, tool, arguments)

        return asyncio.run(answer())  # where Django refuses whatever may wait


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    settings.MCP_DB_EXECUTOR = "threads"
    # Independent of the machine's load.
    monkeypatch.setattr(principals, "ACTOR_CACHE_SECONDS", 1000)
    monkeypatch.setattr(rate_limit_buffer, "TELL_SECONDS", 1000)
    monkeypatch.setattr(event_loop_calls, "LONGEST_WAIT_SECONDS", 60)
    monkeypatch.setattr(event_loop_calls, "SLOW_SECONDS", 60)
    yield Server()
    connection.close()


@pytest.fixture
def ended() -> Iterator[list[MeasuredOperation]]:
    found: list[MeasuredOperation] = []
    with operation_ended.registered_temporarily(found.append):
        yield found


def test_the_answer_is_that_of_a_thread_and_is_logged_once(server: Server) -> None:
    server.call_once("get_post_context")
    # A post that is proposed, and changes that wait, are read by a statement more each.
    made = answer_call(
        server.principal, "create_post_ai_review", {"type": "blog", "title": "Proposed"}
    )
    assert not made.is_error
    make.staged(server.post, {"title": "Green tea"})
    connection.close()
    for name, arguments in (
        ("list_posts", {"limit": 5}),
        ("list_posts", {"limit": 5, "format": "full"}),
        ("get_post_context", {"postId": str(server.post.pk)}),
    ):
        attempt = server.attempt(name, **arguments)
        by_thread = answer_call(server.principal, name, arguments, access=server.access)
        connection.close()

        assert attempt.answer is not None, name
        assert orjson.loads(attempt.answer.body) == orjson.loads(by_thread.body)
    McpCall.objects.all().delete()
    server.batches.write()
    assert [*McpCall.objects.order_by("pk").values_list("tool", "ok", "principal")] == [
        ("list_posts", True, server.principal.id),
        ("list_posts", True, server.principal.id),
        ("get_post_context", True, server.principal.id),
    ]


def test_each_call_is_counted_and_measured_once(
    server: Server, settings: Any, ended: list[MeasuredOperation]
) -> None:
    calls = MAX_UNTOLD + 1
    rates = {"throttle_mcp": f"{calls + 1}/hour", "throttle_mcp_tool": "off"}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=rates)
    server.call_once("list_posts")
    ended.clear()

    attempts = [server.attempt("list_posts", limit=1) for _ in range(calls)]

    assert all(attempt.answer is not None and attempt.is_counted for attempt in attempts)
    assert [one.statements for one in ended] == [1] * calls
    server.batches.write()  # tells other processes too
    with pytest.raises(TooManyCalls):
        count_call(server.principal, hit=BufferedHits().count)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_posts", {"limit": "many"}),
        ("list_posts", {"q": "tea"}),
        ("get_post_context", {"postId": str(uuid4())}),
        ("list_taxonomies", {}),
    ],
)
def test_what_is_refused_or_takes_long_is_left_to_a_thread(
    server: Server, ended: list[MeasuredOperation], name: str, arguments: dict[str, Any]
) -> None:
    server.call_once(name)

    assert server.attempt(name, **arguments).answer is None
    assert not ended
    server.batches.write()
    assert not McpCall.objects.exists()


def test_nobody_is_answered_whose_account_is_not_known_or_whose_rate_is_used_up(
    server: Server, settings: Any
) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"throttle_mcp": "2/hour"})
    server.call_once("list_posts")

    assert server.attempt("list_posts").answer is not None
    assert server.attempt("list_posts") == Attempt()

    # A call refused by a tool's own rate counts once against the common rate.
    rates = {"throttle_mcp": "100/hour", "throttle_mcp_tool": "2/hour"}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=rates)
    server.call_once("get_post_context")
    [of_all, *_] = windows_of(server.principal)
    counted = server.access.counts.count(of_all.key, 3600, 0)
    assert server.attempt("list_posts") == Attempt()
    assert server.access.counts.count(of_all.key, 3600, 0) == counted

    server.access.forget()
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"throttle_mcp": "off"})
    assert server.attempt("list_posts") == Attempt()


def test_a_slow_statement_is_given_up_and_threads_answer_for_a_while(
    server: Server, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(1)")
    try:
        monkeypatch.setattr(
            "proofroom.core.tools.call.call",
            lambda *_: cast(DatabaseWrapper, connection).read("SELECT pg_advisory_lock(1)", []),
        )
        monkeypatch.setattr(event_loop_calls, "LONGEST_WAIT_SECONDS", 0.05)
        monkeypatch.setattr(event_loop_calls, "SLOW_SECONDS", 0.02)
        _idle_connection()
        begin = time.monotonic()
        assert server.attempt("list_posts") == Attempt(is_counted=True)
        assert time.monotonic() - begin >= 0.05
    finally:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")
        other.close()
    monkeypatch.undo()
    settings.MCP_DB_EXECUTOR = "threads"
    monkeypatch.setattr(event_loop_calls, "LONGEST_WAIT_SECONDS", 60)

    assert server.attempt("list_posts") == Attempt()
    server.call_once("list_posts")
    server.calls._paused_until = 0.0
    _idle_connection()
    assert server.attempt("list_posts").answer is not None


def _idle_connection() -> None:
    """Return a connection that the pool may lend."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    connection.close()
