"""The floor of writes: a post with its modules, or an approval, as bare statements in one transaction.

No checks and comparisons, and no history except the document and an event row. Its tables have the product's columns,
and no index except the key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from uuid import UUID, uuid4

import orjson
from psycopg import AsyncConnection, Connection
from psycopg.rows import TupleRow

TABLES: Final = {
    "bench_post": "content_post",
    "bench_instance": "content_moduleinstance",
    "bench_place": "content_postmodule",
    "bench_draft": "content_draft",
    "bench_revision": "content_revision",
    "bench_happened": "proofroom_core_event",
    "bench_delivery": "proofroom_webhooks_delivery",
}
_POST: Final = """
    INSERT INTO bench_post (id, type, locale, slug, title, excerpt, status, custom_fields, path, version, created_at)
    VALUES (%s, %s, 'en', %s, %s, %s, 'draft', '{}', %s, 1, now())
"""
_HAPPENED: Final = (
    "INSERT INTO bench_happened (uid, name, post_id, payload, created_at) "
    "VALUES (%s, %s, %s, '{}', now())"
)
_REVISION: Final = (
    "INSERT INTO bench_revision (id, post_id, version, reason, document, created_at) "
    "VALUES (%s, %s, 2, 'approved', %s::jsonb, now())"
)


def make_tables(connection: Connection[TupleRow]) -> None:
    for name, original in TABLES.items():
        connection.execute(f"CREATE TABLE {name} AS TABLE {original} WITH NO DATA".encode())
    for name, key in (("bench_post", "id"), ("bench_draft", "post_id"), ("bench_happened", "uid")):
        connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY ({key})".encode())


def _instances(count: int) -> str:
    values = ", ".join(["(%s, %s, 'local', %s::jsonb, 1)"] * count)
    return f"INSERT INTO bench_instance (id, type, scope, props, version) VALUES {values}"  # noqa: S608


def _places(count: int) -> str:
    values = ", ".join(["(%s, %s, %s, %s, false, '{}')"] * count)
    return (
        "INSERT INTO bench_place (id, post_id, instance_id, order_index, locked, overrides) "  # noqa: S608
        f"VALUES {values}"
    )


def _module_values(
    post_id: UUID, modules: list[dict[str, Any]]
) -> tuple[list[object], list[object]]:
    instances: list[object] = []
    places: list[object] = []
    for index, module in enumerate(modules):
        instance = uuid4()
        instances += [instance, module["type"], orjson.dumps(module["props"]).decode()]
        places += [uuid4(), post_id, instance, index]
    return instances, places


async def create(
    connection: AsyncConnection[TupleRow], receive: Callable[[], Awaitable[Any]]
) -> dict[str, Any]:
    """Create the post of a JSON body, in four statements."""
    body = b""
    while (message := await receive()).get("more_body"):
        body += message["body"]
    post = orjson.loads(body + message["body"])
    post_id, modules = uuid4(), post["modules"]
    instances, places = _module_values(post_id, modules)
    path = f"/blog/{post['slug']}"
    async with connection.transaction():
        await connection.execute(
            _POST, (post_id, post["type"], post["slug"], post["title"], post["excerpt"], path)
        )
        await connection.execute(_instances(len(modules)).encode(), instances)
        await connection.execute(_places(len(modules)).encode(), places)
        await connection.execute(_HAPPENED, (uuid4(), "post.created", post_id))
    return {**post, "id": post_id, "url": path, "version": 1}


def stage(connection: Connection[TupleRow], content: bytes) -> UUID:
    """Create a post with a draft, and return its id."""
    post_id = uuid4()
    connection.execute(_POST, (post_id, "blog", str(post_id), "Title", "Excerpt.", "/"))
    connection.execute(
        "INSERT INTO bench_draft (post_id, layer, document) VALUES (%s, 'review', %s::jsonb)",
        (post_id, content.decode()),
    )
    return post_id


def approve(connection: Connection[TupleRow], post_id: UUID) -> None:
    """Apply the draft to the post: two fields, and its modules."""
    with connection.transaction():
        connection.execute("SELECT title FROM bench_post WHERE id = %s FOR UPDATE", (post_id,))
        row = connection.execute(
            "SELECT document::text FROM bench_draft WHERE post_id = %s", (post_id,)
        ).fetchone()
        assert row is not None
        document = orjson.loads(row[0])
        connection.execute(
            "UPDATE bench_post SET excerpt = %s, meta_title = %s, version = version + 1 WHERE id = %s",
            (document["excerpt"], document["excerpt"], post_id),
        )
        if modules := document["modules"]:
            instances, places = _module_values(post_id, modules)
            connection.execute(_instances(len(modules)).encode(), instances)
            connection.execute(_places(len(modules)).encode(), places)
        connection.execute(_REVISION, (uuid4(), post_id, orjson.dumps(document).decode()))
        connection.execute(_HAPPENED, (uuid4(), "post.updated", post_id))
        connection.execute("DELETE FROM bench_draft WHERE post_id = %s", (post_id,))


def note_happened(connection: Connection[TupleRow], name: str) -> UUID:
    uid = uuid4()
    connection.execute(_HAPPENED, (uid, name, uuid4()))
    return uid


def tell(connection: Connection[TupleRow], uids: list[UUID], receivers: int) -> None:
    """Insert a delivery of each event for each receiver, and mark the events."""
    values = ", ".join(["(%s, %s, 'post.updated', 'pending', 0, now(), now())"] * receivers)
    columns = "id, lane, event_name, status, attempts, next_attempt_at, created_at"
    rows = ", ".join([values] * len(uids))
    parameters = [
        value for _ in uids for number in range(receivers) for value in (uuid4(), f"{number}")
    ]
    with connection.transaction():
        connection.execute(
            f"INSERT INTO bench_delivery ({columns}) VALUES {rows}".encode(),  # noqa: S608
            parameters,
        )
        connection.execute(
            "UPDATE bench_happened SET dispatched_at = now() WHERE uid = ANY(%s)", (uids,)
        )


def index_deliveries(connection: Connection[TupleRow]) -> None:
    """Create the index for finding due deliveries of a receiver."""
    connection.execute("CREATE INDEX ON bench_delivery (lane, next_attempt_at)")


_CLAIMABLE: Final = """
    SELECT found.* FROM unnest(%s::text[]) AS receiver(lane) CROSS JOIN LATERAL (
        SELECT * FROM bench_delivery WHERE lane = receiver.lane AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS found
"""


def claim(connection: Connection[TupleRow], receivers: list[str]) -> None:
    """Claim the first due delivery of each receiver."""
    with connection.transaction():
        ids = [row[0] for row in connection.execute(_CLAIMABLE, (receivers,)).fetchall()]
        assert len(ids) == len(receivers), len(ids)
        connection.execute(
            "UPDATE bench_delivery SET status = 'sending', attempts = attempts + 1, "
            "claimed_until = now() + interval '1 minute', next_attempt_at = now() + interval '1 minute' "
            "WHERE id = ANY(%s)",
            (ids,),
        )
