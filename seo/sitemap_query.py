"""The posts of the sitemap, parents first, in one query."""

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
    """A post of a translation group, with the data for its URL."""

    locale: str
    path: str
    canonical: str


class SitemapPost(NamedTuple):
    """A post of the sitemap. `translations` includes itself, and is empty if there is no other."""

    path: str
    canonical: str
    changed: str
    translations: tuple[SitemapTranslation, ...]


@dataclass(frozen=True, slots=True)
class _Dialect:
    """SQL expressions that differ between databases."""

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
    # Doubled percent signs, because the query has parameters.
    moment="strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', {value})",
    group="json_group_array(json_array({values}))",
    first="printf('%%09d', numbered.n)",
    below="tree.place || printf('%%09d', numbered.n)",
)


def listed_posts() -> Iterator[SitemapPost]:
    """Yield every post of the sitemap in tree order, parents before children.

    Rows are streamed with constant memory. An unlisted parent still determines the position of its children.
    """
    locales = list(settings.CMS_ENV.locales)
    # PostgreSQL streams rows only within a transaction; on SQLite a transaction would block writers.
    is_on_postgresql = connection.vendor == "postgresql"
    with (
        transaction.atomic() if is_on_postgresql else nullcontext(),
        connection.chunked_cursor() as cursor,
    ):
        if is_on_postgresql:
            with connection.cursor() as plain:
                # All rows are read, but by default PostgreSQL plans a cursor for the first tenth of them.
                plain.execute("SET LOCAL cursor_tuple_fraction = 1")
                # JIT compilation took longer than the query.
                plain.execute("SET LOCAL jit = off")
        # The condition with the locales occurs twice in the query.
        cursor.execute(listed_posts_sql(), locales * 2)
        while rows := cursor.fetchmany(_ROWS_A_FETCH):
            for path, canonical, changed, found in rows:
                translations = [SitemapTranslation(*item) for item in json.loads(found or "[]")]
                yield SitemapPost(path, canonical, changed, tuple(translations))


def listed_posts_sql() -> str:
    """Return the query. Its parameters are the locales, twice."""
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
    """  # noqa: S608  # contains no input


def _is_listed(post: str) -> str:
    locales = ", ".join(["%s"] * len(settings.CMS_ENV.locales))
    return (
        f"{post}.deleted_at IS NULL AND {post}.variation_of_id IS NULL AND {post}.status = 'published' "
        f"AND NOT {post}.is_placeholder AND {post}.path <> '' AND {post}.locale IN ({locales}) "
        f"AND {_dialect().indexed.format(post=post)}"
    )


def _dialect() -> _Dialect:
    return _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
