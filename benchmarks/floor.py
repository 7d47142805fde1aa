"""The floor: a bare ASGI endpoint with psycopg and orjson that reads the same rows and returns the same JSON.

No framework, sessions, permissions, limits, filters or cache. Run by `uvicorn`, with the database URL in
`FLOOR_DATABASE` and the modules' schemas in the file `FLOOR_SCHEMAS`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from benchmarks import floor_delivery, floor_pages, floor_track, floor_writes
from benchmarks import floor_sql as sql

Wire = dict[str, Any]
Database = AsyncConnection[TupleRow]

SCHEMAS = {
    name: orjson.Fragment(orjson.dumps(schema))
    for name, schema in orjson.loads(
        Path(os.environ["FLOOR_SCHEMAS"]).read_bytes() or b"{}"
    ).items()
}
pool: AsyncConnectionPool[Database]


async def _prepare(connection: Database) -> None:
    connection.prepare_threshold = 0
    await connection.set_autocommit(True)


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    staged, _, post_id = scope["path"].removeprefix("/").partition("/")
    async with pool.connection() as connection:
        if write_page := floor_pages.PAGES.get(staged):
            text = await write_page(connection, f"/{post_id}")
            await _answer(send, b"text/html", text.encode())
            return
        if staged == "track":
            wire: Wire = await floor_track.track(connection, receive)
        elif staged == "create":
            wire = await floor_writes.create(connection, receive)
        elif staged == "included":
            wire = await floor_delivery.listed_with_included(connection)
        elif post_id and staged == "live":
            (wire,) = await floor_delivery.whole_posts(connection, [UUID(post_id)])
        elif post_id:
            wire = await _staged_post(connection, UUID(post_id))
        else:
            wire = await _list(connection, staged == "staged")
    await _answer(send, b"application/json", orjson.dumps(wire, option=orjson.OPT_UTC_Z))


async def _answer(send: Callable[[Any], Awaitable[None]], kind: bytes, body: bytes) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _live(receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
    global pool
    await receive()
    pool = AsyncConnectionPool(
        os.environ["FLOOR_DATABASE"], min_size=4, max_size=8, open=False, configure=_prepare
    )
    await pool.open(wait=True)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await pool.close()
    await send({"type": "lifespan.shutdown.complete"})


async def _list(connection: Database, staged: bool) -> Wire:
    kind = "staged" if staged else "live"
    total = (await (await connection.execute(sql.COUNT[kind])).fetchone() or (0,))[0]
    cursor = await connection.execute(sql.LIST[kind])
    names = sql.LISTED
    posts: list[Wire] = [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]
    ids = [post["id"] for post in posts]
    modules = defaultdict(list)
    for row in await (await connection.execute(sql.MODULES, (ids,))).fetchall():
        modules[row[0]].append(_module(row))
    drafts = await _drafts(connection, ids) if staged else {}
    for post in posts:
        post["modules"] = modules[post["id"]]
        if staged:
            post["layers"] = _layers(drafts, post["id"])
    meta = {"total": total, "per_page": 20, "current_page": 1, "last_page": -(-total // 20)}
    return {"data": posts, "meta": meta}


def _module(row: TupleRow) -> Wire:
    _, id_, instance, type_, scope, order, locked, props, overrides, slug = row
    return {
        "postModuleId": id_,
        "moduleInstanceId": instance,
        "type": type_,
        "scope": scope,
        "orderIndex": order,
        "locked": locked,
        "props": orjson.Fragment(props),
        "overrides": None if overrides == "{}" else orjson.Fragment(overrides),
        "globalSlug": slug,
    }


async def _drafts(connection: Database, ids: list[UUID]) -> dict[tuple[UUID, str], TupleRow]:
    rows = await (await connection.execute(sql.DRAFTS, (ids,))).fetchall()
    return {(row[0], row[1]): row for row in rows}


def _layers(drafts: Mapping[tuple[UUID, str], TupleRow], post_id: UUID) -> Wire:
    return {
        "review": _layer(drafts.get((post_id, "review"))),
        "aiReview": _layer(drafts.get((post_id, "ai-review"))),
    }


def _layer(row: TupleRow | None) -> Wire:
    if row is None:
        return {"exists": False, "updatedAt": None, "updatedBy": None, "version": 0}
    _, _, version, moment, user_id, name = row
    by = {"id": user_id, "username": name}
    return {"exists": True, "updatedAt": moment, "updatedBy": by, "version": version}


async def _staged_post(connection: Database, post_id: UUID) -> Wire:
    row = await (await connection.execute(sql.POST, (post_id,))).fetchone()
    assert row is not None
    *values, group, author_id, author, authors, byline = row[:-5]
    placeholder, original, variation, weight, running = row[-5:]
    wire: Wire = dict(zip(sql.WHOLE, values, strict=True))
    for name in ("customFields", "robotsJson", "jsonldOverrides"):
        wire[name] = orjson.Fragment(wire[name]) if wire[name] is not None else None
    modules = await (await connection.execute(sql.MODULES, ([post_id],))).fetchall()
    wire["modules"] = [_module(row) for row in modules]
    terms = await (await connection.execute(sql.TERMS, (post_id,))).fetchall()
    wire["taxonomyTermIds"] = [row[0] for row in terms]
    others = await (await connection.execute(sql.OTHERS, (group, post_id))).fetchall()
    wire["translations"] = [{"id": row[0], "locale": row[1]} for row in others]
    drafts = await _drafts(connection, [post_id])
    wire["author"] = {"id": author_id, "username": author}
    wire |= {"authors": orjson.Fragment(authors), "byline": byline, "lock": None}
    wire["isPlaceholder"] = placeholder
    wire |= {"variationOf": original, "variation": variation or None, "weight": weight}
    wire["running"] = running if original is not None else None
    wire["layers"] = _layers(drafts, post_id)
    for module in wire["modules"]:
        module["schema"] = SCHEMAS[module["type"]]
        for name in ("reviewProps", "reviewOverrides", "aiReviewProps", "aiReviewOverrides"):
            module[name] = None
    return wire
