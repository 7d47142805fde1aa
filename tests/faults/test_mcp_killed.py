"""The MCP server is killed while AI clients stage: real processes on PostgreSQL, the SDK's own client."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from tests.faults.processes import Site, own_database

pytestmark = pytest.mark.services
TRANSPORTS: Final = ("sse", "streamable", "sse", "streamable")
CALLS: Final = 25
KILLS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)
PREPARE: Final = """
import json
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests import make
posts = [str(make.post(f"Post {number}", slug=f"post-{number}").pk) for number in range(4)]
print(json.dumps([posts, make.live_hash()]))
"""
LOOK: Final = "import json; from tests import make; print(json.dumps(make.live_hash()))"


@dataclass
class Staged:
    """A client's knowledge of its post: the version after each answered call, by the staged title."""

    post_id: str
    transport: str
    version: int = 0
    answered: int = 0
    found_done: int = 0
    """Number of calls whose answer was lost and which the retry found done."""
    titles: list[str] = field(default_factory=list)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with own_database() as database:
        site = Site(tmp_path, database, THROTTLE_MCP="off", THROTTLE_MCP_TOOL="off")
        try:
            yield site
        finally:
            site.stop()


@asynccontextmanager
async def _connected(site: Site, transport: str) -> AsyncIterator[Client]:
    url = f"http://127.0.0.1:{site.mcp_port}/mcp"
    link = sse_client(url) if transport == "sse" else streamable_http_client(url)
    async with Client(link) as client:
        yield client


async def _stage(site: Site, staged: Staged) -> None:
    """Stage titles one after another; after a lost answer, reconnect and repeat the call."""
    until = time.monotonic() + 120
    while len(staged.titles) < CALLS:
        assert time.monotonic() < until, staged
        try:
            async with _connected(site, staged.transport) as client:
                while len(staged.titles) < CALLS:
                    with anyio.fail_after(20):
                        await _stage_one(client, staged)
        except Exception:  # whatever a client makes of a server that is gone
            await anyio.sleep(0.1)


async def _stage_one(client: Client, staged: Staged) -> None:
    title = f"Title {len(staged.titles)}"
    result = await client.call_tool(
        "save_post_ai_review",
        {
            "postId": staged.post_id,
            "patch": {"title": title},
            "expectedVersion": staged.version,
        },
    )
    if not result.is_error:
        assert result.structured_content is not None
        staged.answered += 1
        staged.version = int(result.structured_content["version"])
    else:
        text = str(getattr(result.content[0], "text", ""))
        stands = re.search(r"version that stands now is (\d+)", text)
        assert stands, text
        # Only this client writes here, so a newer version is its own previous call.
        assert int(stands[1]) == staged.version + 1, text
        staged.found_done += 1
        staged.version += 1
    staged.titles.append(title)


async def _all(site: Site, clients: list[Staged]) -> None:
    async with anyio.create_task_group() as group:
        for staged in clients:
            group.start_soon(_stage, site, staged)


def test_every_answered_call_is_stored_once_though_the_server_is_killed(site: Site) -> None:
    site.start("redis")
    posts, live = site.ask(PREPARE)
    site.start("mcp")
    site.wait_for_mcp()
    clients = [Staged(post, kind) for post, kind in zip(posts, TRANSPORTS, strict=True)]
    working = threading.Thread(target=lambda: anyio.run(_all, site, clients))

    working.start()
    for number, by in enumerate(KILLS, 1):
        while sum(len(staged.titles) for staged in clients) < number * CALLS:
            assert working.is_alive()
            time.sleep(0.01)
        site.kill("mcp", by)
        site.start("mcp")
        site.wait_for_mcp()
    working.join(120)

    assert [len(staged.titles) for staged in clients] == [CALLS] * 4, clients
    assert_stored(site, clients)
    assert site.ask(LOOK) == live


def assert_stored(site: Site, clients: list[Staged]) -> None:
    with psycopg.connect(site.database) as database:
        for staged in clients:
            assert _row(database, _DRAFT, staged.post_id) == (CALLS, f"Title {CALLS - 1}")
            assert _row(database, _SAVES, staged.post_id) == (CALLS,)
            assert staged.answered + staged.found_done == staged.version == CALLS
        (logged,) = _row(database, _LOGGED)
        answered = sum(staged.answered for staged in clients)
        assert answered <= logged <= CALLS * len(clients)
        assert _row(
            database, "SELECT count(*) FROM proofroom_core_event WHERE name = 'mcp.called'"
        )[0] >= (answered)


def _row(database: psycopg.Connection[Any], sql: str, *values: str) -> tuple[Any, ...]:
    row = database.execute(sql.encode(), values).fetchone()
    assert row is not None
    return tuple(row)


_DRAFT: Final = """
    SELECT version, document->'post'->>'title' FROM content_draft
    WHERE post_id = %s AND layer = 'ai-review'
"""
_SAVES: Final = (
    "SELECT count(*) FROM proofroom_core_event WHERE name = 'post.ai-review.save' AND post_id = %s"
)
_LOGGED: Final = "SELECT count(*) FROM mcp_bridge_mcpcall WHERE tool = 'save_post_ai_review' AND ok"
