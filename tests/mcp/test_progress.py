"""Progress and cancellation of slow tools, over every transport and in both eras."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from mcp_bridge.worker_threads import WAITING_PER_CREDENTIAL
from tests.mcp.running import Running, connected
from tests.mcp.sample_tools import HALF

WAYS = [("sse", "auto"), ("sse", "legacy"), ("http", "auto"), ("http", "legacy"),
        ("stdio", "auto"), ("stdio", "legacy")]  # fmt: skip
LONG = 3000
"""Steps of a cancelled call: far more than it has time for."""


def ended_as(server: Running, since: int) -> tuple[str, bool]:
    """Return the logged outcome of the call after the row `since`, after waiting for it."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        rows = server.execute(
            "SELECT error_code, ok FROM mcp_bridge_mcpcall WHERE tool = 'sample_steps' AND id > ?",
            since,
        )
        if rows:
            return rows[0][0], bool(rows[0][1])
        time.sleep(0.02)
    raise AssertionError("the call goes on")


def latest(server: Running) -> int:
    return int(server.execute("SELECT coalesce(max(id), 0) FROM mcp_bridge_mcpcall")[0][0])


def half_written(server: Running) -> int:
    return int(server.execute("SELECT count(*) FROM mcp_bridge_mcpcall WHERE tool = ?", HALF)[0][0])


@pytest.mark.parametrize(("transport", "mode"), WAYS)
def test_steps_are_reported_and_a_cancelled_call_leaves_nothing(
    open_server: Running, transport: str, mode: str
) -> None:
    told: list[tuple[float, float | None, str | None]] = []
    written = half_written(open_server)

    async def session() -> Any:
        async with connected(open_server, transport, mode) as client:

            async def note(*step: Any) -> None:
                told.append(step)

            done = await client.call_tool("sample_steps", {"steps": 3}, progress_callback=note)
            first = latest(open_server)
            with anyio.CancelScope() as scope:

                async def leave(*step: Any) -> None:
                    scope.cancel()

                await client.call_tool("sample_steps", {"steps": LONG}, progress_callback=leave)
            assert scope.cancelled_caught
            ended = await anyio.to_thread.run_sync(ended_as, open_server, first)
            still_there = await client.call_tool("sample_echo", {"postId": "p1"})
        return done, ended, still_there

    done, ended, still_there = anyio.run(session)

    assert done.structured_content == {"done": 3}
    assert told == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]
    assert ended == ("cancelled", False)
    assert half_written(open_server) == written + 1
    assert still_there.is_error is False


def test_a_call_that_is_cancelled_while_it_waits_for_a_thread_never_begins(
    open_server: Running,
) -> None:
    begun: set[int] = set()
    first, written = latest(open_server), half_written(open_server)
    watching = {"steps": LONG, "writes": False}

    async def session() -> None:
        async with connected(open_server, "http") as client, anyio.create_task_group() as group:
            all_begun = anyio.Event()

            async def hold(number: int) -> None:
                async def note(*step: Any) -> None:
                    begun.add(number)
                    if len(begun) == WAITING_PER_CREDENTIAL:
                        all_begun.set()

                await client.call_tool("sample_steps", watching, progress_callback=note)

            for number in range(WAITING_PER_CREDENTIAL):
                group.start_soon(hold, number)
            await all_begun.wait()
            with anyio.move_on_after(0.3):
                await client.call_tool("sample_steps", {"steps": LONG})
            assert await anyio.to_thread.run_sync(ended_as, open_server, first) == (
                "cancelled",
                False,
            )
            assert len(begun) == WAITING_PER_CREDENTIAL
            group.cancel_scope.cancel()

    anyio.run(session)

    assert half_written(open_server) == written
    ended = "SELECT count(*) FROM mcp_bridge_mcpcall WHERE id > ? AND error_code = 'cancelled'"
    until = time.monotonic() + 10
    while (
        open_server.execute(ended, first)[0][0] <= WAITING_PER_CREDENTIAL
        and time.monotonic() < until
    ):
        time.sleep(0.02)
    assert open_server.execute(ended, first)[0][0] == WAITING_PER_CREDENTIAL + 1
