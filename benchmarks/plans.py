"""Checks that the queries of lists, posts and pages use indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from content.models import Post, PostModule
from content.store import post_queries
from content.store.post_queries import list_posts_of
from proofroom.definitions.listings import IndexPage


def check(post: Post) -> list[str]:
    """Print each plan. Return the names of queries that scan a whole table of posts or modules."""
    bad = []
    for name, found in _queries(post):
        sql, parameters = found.query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sql}", parameters)
            lines = [row[0] for row in cursor.fetchall()]
        print(f"\n{name}")
        for line in lines:
            print(f"    {line}")
        if any("Seq Scan on content_" in line for line in lines):
            bad.append(name)
    return bad


def _queries(post: Post) -> Iterator[tuple[str, QuerySet[Any]]]:
    live = post_queries.published_posts().filter(locale="en")
    every = post_queries.listed_posts().filter(locale="en")
    columns = post_queries.LIST_COLUMNS
    yield "list, delivery", post_queries.order_posts(live, "-updatedAt").values(*columns)[:20]
    yield "list, management", post_queries.order_posts(every, "-updatedAt").values(*columns)[:20]
    of_type = post_queries.order_posts(every.filter(type="blog", status="draft"), "-updatedAt")
    yield "list of a type and status", of_type.values(*columns)[:20]
    yield "one post", post_queries.listed_posts().filter(pk=post.pk)
    yield "its modules", PostModule.objects.filter(post_id=post.pk).select_related("instance")
    group = post_queries.published_posts().filter(translation_group=post.translation_group)
    yield "its translations", group
    at = post_queries.published_posts().filter(path=post.path, locale=post.locale)
    yield "page by its path", at
    yield "index page of a type", list_posts_of(IndexPage("blog", "en"))[:12]
