"""The posts that search engines may know, parents first, read in one query however many there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.conf import settings
from django.db import connection, transaction

_ROWS_A_FETCH: Final = 2000


class SitemapTranslation(NamedTuple):
    """A post of a translation group, as far as addresses need it."""

    locale: str
    path: str
    canonical: str


class SitemapPost(NamedTuple):
    """A post of the sitemap; `translations` holds itself too, and is empty where there is no other."""

    path: str
    canonical: str
    changed: str
    translations: tuple[SitemapTranslation, ...]


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The expressions that the databases write differently."""

    indexed: str
    moment: str
    group: str
    first: str
    below: str


_POSTGRESQL: Final = _Dialect(
    indexed="coalesce({post}.robots_json -> 'index', 'null'::jsonb) <> 'false'::jsonb",
    moment="to_char({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
    group="json_agg(json_build_array({values}))::text",
    first="ARRAY[numbered.n]",
    below="tree.place || numbered.n",
)
_SQLITE: Final = _Dialect(
    indexed="json_type({post}.robots_json, '$.index') IS NOT 'false'",
    moment="strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', {value})",
    group="json_group_array(json_array({values}))",
    first="printf('%%09d', numbered.n)",
    below="tree.place || printf('%%09d', numbered.n)",
)


def listed_posts() -> Iterator[SitemapPost]:
    """Every post of the sitemap: by hierarchy and order, a parent before what stands below it.

    The rows stream: memory stays the same. A parent that is not listed itself still says where its children stand.
    """
    locales = list(settings.CMS_ENV.locales)
    # Rows stream within a transaction on PostgreSQL; on SQLite it would keep writers waiting.
    is_on_postgresql = connection.vendor == "postgresql"
    with (
        transaction.atomic() if is_on_postgresql else nullcontext(),
        connection.chunked_cursor() as cursor,
    ):
        if is_on_postgresql:
            with connection.cursor() as plain:
                # All rows are wanted; cursors are planned for the first tenth of them otherwise.
                plain.execute("SET LOCAL cursor_tuple_fraction = 1")
                # Compiling the query took longer than running it.
                plain.execute("SET LOCAL jit = off")
        cursor.execute(listed_posts_sql(), locales * 2)
        while rows := cursor.fetchmany(_ROWS_A_FETCH):
            for path, canonical, changed, found in rows:
                translations = [SitemapTranslation(*item) for item in json.loads(found or "[]")]
                yield SitemapPost(path, canonical, changed, tuple(translations))


def listed_posts_sql() -> str:
    """The one query; its parameters are the locales, twice."""
    dialect = _dialect()
    values = "other.locale, other.path, coalesce(other.canonical_url, '')"
    moment = dialect.moment.format(
        value="coalesce(post.updated_at, post.published_at, post.created_at)"
    )
    return f"""
        WITH RECURSIVE numbered AS (
            SELECT id, parent_id, row_number() OVER (ORDER BY order_index, created_at, id) AS n
            FROM content_post WHERE variation_of_id IS NULL
        ), tree (id, place) AS (
            SELECT id, {dialect.first} FROM numbered WHERE parent_id IS NULL
            UNION ALL
            SELECT numbered.id, {dialect.below} FROM tree JOIN numbered ON numbered.parent_id = tree.id
        ), translated AS (
            SELECT translation_group, {dialect.group.format(values=values)} AS found
            FROM content_post other WHERE {_is_listed("other")}
            GROUP BY translation_group HAVING count(*) > 1
        )
        SELECT post.path, coalesce(post.canonical_url, ''), {moment}, translated.found
        FROM tree JOIN content_post post ON post.id = tree.id
        LEFT JOIN translated ON translated.translation_group = post.translation_group
        WHERE {_is_listed("post")}
        ORDER BY tree.place
    """  # noqa: S608  # our own words alone


def _is_listed(post: str) -> str:
    locales = ", ".join(["%s"] * len(settings.CMS_ENV.locales))
    return (
        f"{post}.deleted_at IS NULL AND {post}.variation_of_id IS NULL AND {post}.status = 'published' "
        f"AND NOT {post}.is_placeholder AND {post}.path <> '' AND {post}.locale IN ({locales}) "
        f"AND {_dialect().indexed.format(post=post)}"
    )


def _dialect() -> _Dialect:
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
