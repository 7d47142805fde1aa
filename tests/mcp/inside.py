"""The HTTP application without a socket: inside the process and transaction of a test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup
from asgiref.sync import async_to_sync
from starlette.applications import Starlette

from mcp_bridge.transport.asgi_app import build_app

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
NEWEST = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Answer:
    """The response to one request, as a stream."""

    def __init__(self, body: bytes) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.began, self.done, self.over = anyio.Event(), anyio.Event(), anyio.Event()
        self._sent = [{"type": "http.request", "body": body, "more_body": False}]
        self._left = anyio.Event()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def leave(self) -> None:
        """Disconnect the client."""
        self._left.set()

    async def receive(self) -> Any:
        if self._sent:
            return self._sent.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        assert not self.done.is_set(), "something was sent after the end"
        self.body += message.get("body", b"")
        self.began.set()
        if not message.get("more_body", False):
            self.done.set()


class Inside:
    """One server. `ask` waits for the first part of a response."""

    def __init__(self, app: Starlette, tasks: TaskGroup) -> None:
        self.app, self._tasks = app, tasks
        self.answers: list[Answer] = []

    async def start(
        self,
        method: str = "POST",
        path: str = "/mcp",
        body: object = HELLO,
        headers: dict[str, str] | None = None,
        peer: str = "127.0.0.1",
        sent: Answer | None = None,
    ) -> Answer:
        """Send a request without waiting for a response; `sent` provides its body."""
        path, _, query = path.partition("?")
        content = json.dumps(body).encode() if method == "POST" else b""
        given = {"host": "127.0.0.1:8787", **JSON, **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "client": (peer, 1234),
            "server": ("127.0.0.1", 8787),
            "scheme": "http",
            "http_version": "1.1",
        }
        answer = sent or Answer(content)
        self.answers.append(answer)
        self._tasks.start_soon(self._run, scope, answer)
        return answer

    async def ask(self, *arguments: Any, **given: Any) -> Answer:
        answer = await self.start(*arguments, **given)
        with anyio.fail_after(10):
            await answer.began.wait()
        return answer

    async def _run(self, scope: dict[str, Any], answer: Answer) -> None:
        await self.app(scope, answer.receive, answer.send)
        answer.over.set()


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def newest(method: str, name: str = "", **params: Any) -> dict[str, Any]:
    """Return a request of the newest revision as arguments for `ask`, without the credential."""
    headers = {"MCP-Protocol-Version": NEWEST, "Mcp-Method": method}
    if name:
        headers["Mcp-Name"] = name
        params["name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": {**_META}}}
    return {"body": body, "headers": headers}


@asynccontextmanager
async def _serving(host: str, address: str | None) -> AsyncIterator[Inside]:
    app = build_app(host, address)
    async with app.router.lifespan_context(app), anyio.create_task_group() as tasks:
        inside = Inside(app, tasks)
        yield inside
        for answer in inside.answers:
            answer.leave()


def inside(
    scene: Callable[[Inside], Awaitable[None]],
    host: str = "127.0.0.1",
    address: str | None = None,
) -> None:
    """Run the scene against a server that binds `host`; with an address it is one of several."""

    async def run() -> None:
        async with _serving(host, address) as server:
            await scene(server)

    async_to_sync(run)()
