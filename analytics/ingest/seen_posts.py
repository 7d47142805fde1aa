"""Writes reported events and checks their posts, in one statement.

A separate query of the posts would cost as much as the write.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import orjson
from django.db import connection
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When
from django.db.models.functions import Coalesce

from analytics.ingest.event_store import COLUMNS, EVENTS, HELD, ID_COLUMNS, RECORDS, TYPES
from content.models import Post
from proofroom.core.database.compiled_queries import fetch
from proofroom.core.json import JsonObject

_MAX_VERSIONS_BACK: Final = 100
"""Maximum age, in versions, of the version a page may report."""
_OF_POST: Final = {
    "locale": "coalesce(post.locale, event.locale)",
    # A page opened before the last change reports an older version.
    "version": (
        f"CASE WHEN event.version BETWEEN post.version - {_MAX_VERSIONS_BACK} AND post.version "
        "THEN event.version ELSE post.version END"
    ),
    "variation_of": "post.tested",
}
_SELECTED: Final = ", ".join(_OF_POST.get(name, f"event.{name}") for name in TYPES)
_FITS: Final = "event.post_id IS NULL OR post.id IS NOT NULL"
# OFFSET 0 keeps the planner from joining all posts; each post is looked up by its id.
_POSTGRESQL: Final = f"""
    WITH held AS MATERIALIZED ({HELD}), written AS (
        INSERT INTO {EVENTS} (created_at, {COLUMNS})
        SELECT %s, {_SELECTED} FROM held CROSS JOIN {RECORDS}
        LEFT JOIN LATERAL (SELECT * FROM ({{visible}}) AS visible WHERE id = event.post_id OFFSET 0) AS post ON true
        WHERE {_FITS} RETURNING 1
    )
    SELECT count(*) FROM written
"""  # noqa: S608  # names of our own
_SQLITE_EVENT: Final = ", ".join(
    (
        f"lower(replace(json_extract(value, '$.{name}'), '-', ''))"
        if name in ID_COLUMNS
        else f"json_extract(value, '$.{name}')"
    )
    + f" AS {name}"
    for name in TYPES
)
# SQLite has no LATERAL, so the columns of the post are selected as one JSON value.
_SQLITE: Final = f"""
    INSERT INTO {EVENTS} (created_at, {COLUMNS})
    WITH given AS MATERIALIZED (
        SELECT %s AS created_at, key AS place, {_SQLITE_EVENT} FROM json_each(%s)
    ), found AS MATERIALIZED (
        SELECT place, (
            SELECT json_array(locale, version, tested) FROM ({{visible}}) WHERE id = post_id
        ) AS post FROM given WHERE post_id IS NOT NULL
    ), post AS MATERIALIZED (
        SELECT place AS id, json_extract(post, '$[0]') AS locale, json_extract(post, '$[1]') AS version,
            json_extract(post, '$[2]') AS tested FROM found WHERE post IS NOT NULL
    )
    SELECT event.created_at, {_SELECTED} FROM given AS event LEFT JOIN post ON post.id = event.place
    WHERE {_FITS} ORDER BY event.place
"""  # noqa: S608  # as above


def write_seen(rows: Sequence[JsonObject], *, at: datetime) -> int:
    """Store events, given by column names. Return their number. One statement, or none without rows.

    Events of a post get its language, the version that visitors saw, and the original while one of
    its variations runs. Events of posts that visitors cannot see are dropped. See `write_events`
    for possible losses.
    """
    if not rows:
        return 0
    sql, constants = _statement(connection.vendor)
    moment = connection.ops.adapt_datetimefield_value(at)
    given = orjson.dumps(rows).decode()
    if connection.vendor == "postgresql":
        written: int = fetch(connection, sql, [moment, given, *constants])[0][0]
        return written
    with connection.cursor() as cursor:
        cursor.execute(sql, [moment, given, *constants])
        return int(cursor.rowcount)


@lru_cache(maxsize=2)
def _statement(vendor: str) -> tuple[str, tuple[Any, ...]]:
    """Return the statement for a database, and the parameters of its subquery of posts."""
    visible, constants = (
        posts_shown_to_visitors().query.get_compiler(connection=connection).as_sql()
    )
    text = _POSTGRESQL if vendor == "postgresql" else _SQLITE
    return text.format(visible=visible), constants


def posts_shown_to_visitors() -> QuerySet[Post, Any]:
    """Return the posts visitors can see: published ones, and their running variations."""
    running = Post.objects.running()
    of_published = Q(
        variation_running=True,
        variation_of__status="published",
        variation_of__is_placeholder=False,
        variation_of__deleted_at__isnull=True,
    )
    published = Q(variation_of__isnull=True, status="published", is_placeholder=False)
    is_tested = Exists(running.filter(variation_of=OuterRef("pk")))
    tested = Coalesce("variation_of_id", Case(When(is_tested, then="id")))
    return (
        Post.objects.kept()
        .filter(published | of_published)
        .order_by()
        .values("id", "locale", "version", tested=tested)
    )
