"""The floor of tracking: one multi-row INSERT of parsed JSON, without checks. Part of the bare ASGI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

TABLE: Final = "bench_event"
"""A table with the product's columns and indexes."""
_COLUMNS: Final = (
    "event_type, post_id, x, y, viewport_width, metadata, locale, version, goal, created_at"
)
_ONE: Final = "(%s, %s::uuid, %s, %s, %s, %s::jsonb, 'en', 1, '', %s)"


def statement(count: int) -> bytes:
    rows = ", ".join([_ONE] * count)
    return f"INSERT INTO {TABLE} ({_COLUMNS}) VALUES {rows}".encode()  # noqa: S608  # no input


def values(events: list[dict[str, Any]]) -> list[Any]:
    now = datetime.now(UTC)
    return [
        value
        for event in events
        for value in (
            event["eventType"], event.get("postId"), event.get("x"), event.get("y"),
            event.get("viewportWidth"), orjson.dumps(event.get("metadata", {})).decode(), now,
        )
    ]  # fmt: skip


async def track(
    connection: AsyncConnection[TupleRow], receive: Callable[[], Awaitable[Any]]
) -> dict[str, int]:
    body = b""
    while (message := await receive()).get("more_body"):
        body += message["body"]
    data = orjson.loads(body + message["body"])
    events = data if isinstance(data, list) else [data]
    await connection.execute(statement(len(events)), values(events))
    return {"accepted": len(events)}
