"""Single requests in this process: the number of SQL statements, and the peak memory."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import uvicorn
from django.conf import settings
from django.test import Client

from benchmarks import mcp, writes
from benchmarks.endpoints import ASKED, new_address
from benchmarks.list_changes import Change
from benchmarks.postgres import free_port
from benchmarks.report import Report
from benchmarks.seed import Seeded
from benchmarks.servers import Server
from benchmarks.statements import counted, least_statements
from proofroom.accounts.models import User
from proofroom.core.caching.content_version_cache import lease

_TIMES: Final = 3
_CALLS: Final = 15
"""Calls of a tool. Many, because the server's own query once a second falls into some of them."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A request, and its preparation before each call, which is not measured."""

    send: Callable[[], object]
    prepare: Callable[[], object] = lambda: None


def measure(seeded: Seeded, report: Report, change: Change) -> None:
    """Measure reads, a creation and MCP tools. Add the results to the report and show a table."""
    editor = Client(headers={"host": "127.0.0.1"})
    editor.force_login(User.objects.get(pk=seeded.editor_id))
    visitor = Client(headers={"host": "127.0.0.1"})
    numbers = itertools.count()

    def read(client: Client, path: str) -> Fixed:
        def go() -> None:
            _get(client, path)

        return Fixed(go)

    def fresh(path: Callable[[], str], **headers: str) -> Fixed:
        """Return a request for new URLs with new responses. Listed posts get new texts before each."""
        seen: set[int] = set()

        def go() -> None:
            asked = path()
            answer = hash(_get(visitor, asked, headers))
            assert answer not in seen, f"{asked} was made before"
            seen.add(answer)

        return Fixed(go, lambda: change(next(numbers)))

    def create() -> None:
        body = writes.new_post(next(numbers))
        answer = editor.post("/api/posts", body, content_type="application/json")
        assert answer.status_code == 201, answer.content

    post, *posts = seeded.published
    page, *pages = seeded.pages
    new_posts, new_pages, questions = iter(posts), iter(pages), iter(ASKED)
    requests = {
        "GET /api/posts": read(editor, "/api/posts"),
        "GET /api/posts/:id": read(editor, f"/api/posts/{post}"),
        "GET /api/public/posts, cold": fresh(
            partial(new_address(lambda number: "/api/public/posts"), 0)
        ),
        "GET /api/public/posts, warm": read(visitor, "/api/public/posts"),
        "GET /api/public/posts/:id, cold": fresh(lambda: f"/api/public/posts/{next(new_posts)}"),
        "GET /api/public/posts/:id, warm": read(visitor, f"/api/public/posts/{post}"),
        "GET /blog/:slug, cold": fresh(lambda: next(new_pages)),
        "GET /blog/:slug, warm": read(visitor, page),
        "GET /blog/:slug, as Markdown": fresh(lambda: next(new_pages), accept="text/markdown"),
        "GET /blog": fresh(partial(new_address(lambda number: "/blog"), 0)),
        "GET /blog/feed.xml": fresh(partial(new_address(lambda number: "/blog/feed.xml"), 0)),
        "GET /search": fresh(lambda: f"/search?q={'+'.join(next(questions))}"),
        "POST /api/posts, 5 modules": Fixed(create),
    }
    for name, request in requests.items():
        report.statements[name] = least_statements(request.send, request.prepare)
        report.allocated[name] = least_allocated(request)
    with _mcp_server() as server:
        asyncio.run(_measure_tools(server, post, report))
    rows = [
        (
            name,
            str(count),
            f"{report.allocated[name] / 1024:,.0f}" if name in report.allocated else "",
        )
        for name, count in report.statements.items()
    ]
    report.show_table(("request", "SQL", "KiB held at most"), rows)


def _get(client: Client, path: str, headers: Mapping[str, str] | None = None) -> bytes:
    # Like in a process that has not read the content version within the last second.
    lease.end()
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content


def least_allocated(request: Fixed) -> int:
    """Return the lowest of several peaks of Python memory allocated by the request, in bytes."""
    peaks = []
    gc.collect()
    # A collection during the request would change the peak.
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(_TIMES):
            request.prepare()
            gc.collect()
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            request.send()
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
        gc.enable()
    return min(peaks)


async def _measure_tools(server: Server, post_id: str, report: Report) -> None:
    tools: dict[str, dict[str, Any]] = {
        "list_taxonomies": {},
        "list_posts": {"limit": 20},
        "get_post_context": {"postId": post_id},
    }
    async with mcp.connected(server, "streamable") as client:
        for tool, arguments in tools.items():
            counts = []
            for number in range(_CALLS):
                with counted() as sent:
                    answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer.content
                if number:  # the first call fills permanent caches
                    counts.append(len(sent))
            report.statements[f"MCP {tool}"] = min(counts)


@contextmanager
def _mcp_server() -> Iterator[Server]:
    """Run the MCP server in a thread of this process, where its statements can be counted."""
    from mcp_bridge.transport.asgi_app import build_app

    values = {name.lower(): value for name, value in mcp.CREDENTIALS.items()}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=values)
    logging.getLogger("mcp").setLevel(logging.ERROR)
    port = free_port()
    config = uvicorn.Config(build_app(), port=port, log_level="error", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.05)
    try:
        yield Server("mcp", port, 0)
    finally:
        server.should_exit = True
        thread.join(10)
