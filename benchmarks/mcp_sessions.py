"""Many concurrent SSE sessions of an MCP server, by a cheap client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "many-sessions", "version": "1"},
}
AT_ONCE = 16
"""Calls at the same time. All sessions are open and take turns."""


class Session:
    """One open stream. All sessions share the connections for messages."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, http: httpx.AsyncClient
    ) -> None:
        self._reader, self._writer, self._http = reader, writer, http
        self._address = ""
        self._number = 0

    async def read(self) -> str:
        """Return the data of the next event."""
        while True:
            line = await self._reader.readline()
            if not line:
                raise ConnectionError("the server closed the stream")
            if line.startswith(b"data: "):
                return line[6:].decode().strip()

    async def begin(self) -> None:
        self._address = await self.read()
        await self.request("initialize", HELLO)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def send(self, message: Mapping[str, Any]) -> None:
        answer = await self._http.post(self._address, json=message)
        if answer.status_code != 202:
            raise ConnectionError(f"{answer.status_code}: {answer.text}")

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request. Raises `ConnectionError` for a protocol error."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        await self.send(asked)
        while True:
            answer = json.loads(await self.read())
            if answer.get("id") == self._number:
                if "result" not in answer:
                    raise ConnectionError(str(answer))
                return dict(answer["result"])

    def close(self) -> None:
        self._writer.transport.abort()


class ManySessions:
    """Sessions of the server at `url` with one credential, open until `close`."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self.url = url
        self._headers = dict(headers or {})
        self.open: list[Session] = []
        limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
        self._http = httpx.AsyncClient(
            base_url=url, headers=self._headers, timeout=60, limits=limits
        )
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def add(self, count: int) -> None:
        await asyncio.gather(*(self._add() for _ in range(count)))

    async def _add(self) -> None:
        async with self._turns:
            host, _, port = self.url.removeprefix("http://").partition(":")
            reader, writer = await asyncio.open_connection(host, int(port), limit=2**22)
            headers = {"Host": f"{host}:{port}", "Accept": "text/event-stream", **self._headers}
            lines = [f"{name}: {value}" for name, value in headers.items()]
            writer.write("\r\n".join(["GET /mcp HTTP/1.1", *lines, "", ""]).encode())
            session = Session(reader, writer, self._http)
            await session.begin()
            self.open.append(session)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Call a tool in every session. Return the results."""

        async def one(session: Session) -> dict[str, Any]:
            async with self._turns:
                params = {"name": tool, "arguments": arguments}
                return await session.request("tools/call", params)

        return await asyncio.gather(*(one(session) for session in self.open))

    def drop(self) -> None:
        """Close all connections abruptly, like a client that crashed."""
        for session in self.open:
            session.close()
        self.open.clear()

    async def close(self) -> None:
        self.drop()
        await self._http.aclose()


def resident_kib(pid: int) -> int:
    """Return the KiB of the process's memory, without file mappings."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])
