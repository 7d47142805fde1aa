"""The sitemap, cold and warm, next to bare psycopg that streams the same posts into the same XML."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from statistics import median
from typing import Final

import psycopg
from django.db import connection, transaction
from django.test import Client

from benchmarks.cpu import cpu_of
from benchmarks.report import Report
from seo import sitemap
from seo.sitemap_query import listed_posts_sql

TIMES: Final = 3
ORIGIN: Final = "http://127.0.0.1"
_POSTS: Final = """
    INSERT INTO content_post (id, type, locale, slug, title, excerpt, status, custom_fields, order_index,
        translation_group, variation, variation_running, path, is_placeholder, version, created_at,
        updated_at, published_at, parent_id)
    SELECT md5('p' || n)::uuid, CASE WHEN n %% 5 = 0 THEN 'page' ELSE 'blog' END,
        CASE WHEN n %% 2 = 0 THEN 'en' ELSE 'de' END,
        'post-' || n, 'Post ' || n, '', 'published', '{}', n %% 7, md5('g' || n / 2)::uuid, '', false,
        CASE WHEN n %% 2 = 0 THEN '' ELSE '/de' END || '/blog/post-' || n, false, 1,
        timestamptz '2026-01-01' + make_interval(mins => n), timestamptz '2026-02-01' + make_interval(mins => n),
        timestamptz '2026-01-01' + make_interval(mins => n),
        CASE WHEN n %% 5 = 0 AND n >= 100 AND n %% 100 <> 0 THEN md5('p' || (n - n %% 100))::uuid END
    FROM generate_series(%s::int, %s::int) AS n
"""
_BARE: Final = """
    SELECT path, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM content_post
    WHERE status = 'published' AND deleted_at IS NULL AND variation_of_id IS NULL
"""


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds of the clock, `ratio` of CPU times without the database's, and bytes."""

    posts: int
    cold: float
    warm: float
    bare: float
    query: float
    ratio: float
    peak: int
    packed: int


def measure(url: str, sizes: Sequence[int]) -> list[Found]:
    """Measure each size, starting with an empty, migrated database."""
    found, begin = [], 0
    for posts in sizes:
        _fill(begin, posts)
        begin = posts
        found.append(_at(posts, url))
    return found


def _fill(begin: int, end: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_POSTS, [begin, end - 1])
        cursor.execute("UPDATE proofroom_core_contentversion SET number = number + 1")
        cursor.execute("VACUUM ANALYZE content_post")


def _at(posts: int, url: str) -> Found:
    pairs = [(_timed(_cold), _timed(_warm), _timed(lambda: _bare(url))) for _ in range(TIMES)]
    cold, warm, bare = (median(values) for values in zip(*pairs, strict=True))
    spent = [(cpu_of(_cold), cpu_of(lambda: _bare(url))) for _ in range(TIMES)]
    ratio = median(ours / floor for ours, floor in spent)
    tracemalloc.start()
    _cold()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    build = sitemap.current_sitemap(ORIGIN)
    files = [sitemap.sitemap_file(ORIGIN, number) for number in range(len(build.digests))]
    packed = sum(len(file.packed) for file in files if file is not None)
    assert build.urls == posts  # otherwise something else was measured
    return Found(posts, cold, warm, bare, _timed(_query), ratio, peak, packed)


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _cold() -> None:
    sitemap.drop_sitemap(ORIGIN)
    _warm()
    assert sitemap.cached_sitemap(ORIGIN) is not None  # a cached response would not build one


def _warm() -> None:
    response = Client().get("/sitemap.xml", HTTP_HOST="127.0.0.1", HTTP_ACCEPT_ENCODING="gzip")
    assert response.status_code == 200  # an error would be measured otherwise


def _query() -> None:
    """Run the query alone, and read all its rows."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {listed_posts_sql()}", ["en", "de"] * 2)
        cursor.fetchall()


def _bare(url: str) -> None:
    """Write every row through a server-side cursor into compressed XML, without order, languages and rules."""
    file = BytesIO()
    with (
        psycopg.connect(url) as bare,
        bare.cursor("floor") as cursor,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packer,
    ):
        cursor.itersize = 2000
        cursor.execute(_BARE)
        for path, changed in cursor:
            line = f"<url><loc>{escape(ORIGIN + path)}</loc><lastmod>{changed}</lastmod></url>\n"
            packer.write(line.encode())


def plan() -> list[str]:
    """Return the query plan of the posts."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
        cursor.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {listed_posts_sql()}", ["en", "de"] * 2
        )
        return [row[0] for row in cursor.fetchall()]


def show(found: list[Found], report: Report) -> None:
    for item in found:
        report.ratios[f"sitemap of {item.posts:,} posts, cold"] = item.ratio
    report.show_table(
        (
            "posts", "cold ms", "warm ms", "bare psycopg ms", "CPU, cold of the bare", "query ms",
            "peak MB", "packed kB",
        ),
        [
            (
                f"{item.posts:,}", f"{1000 * item.cold:,.0f}", f"{1000 * item.warm:.1f}",
                f"{1000 * item.bare:,.0f}", f"{item.ratio:.1f}", f"{1000 * item.query:,.0f}",
                f"{item.peak / 1e6:.1f}", f"{item.packed / 1000:,.0f}",
            )
            for item in found
        ],
    )  # fmt: skip
