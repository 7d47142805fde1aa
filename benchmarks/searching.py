"""Search: a page of twenty with its count, next to bare psycopg with the same index, and `icontains` without one.

Bare psycopg ranks and counts all matches. Common words are measured again with many posts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import psycopg
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from psycopg.rows import TupleRow

from benchmarks.report import Report
from content.models import Post, PostModule
from content.store import post_queries, search
from proofroom.core import search as search_index
from proofroom_apps.website.search_page import MAX_RESULTS

QUESTIONS: Final = {
    "one post": "9990",
    "one in a hundred": "garden 12",
    "a common word": "garden",
    "two common words": "garden kettle",
}
TIMES = 5
LOCALE = "en"
MANY: Final = 100_000
"""Number of posts for the last rows."""
_MATCHED: Final = f"""
    FROM content_searchentry s JOIN content_post p ON p.id = s.post_id, to_tsquery('simple', %s) AS q
    WHERE s.document @@ q AND p.status = 'published' AND NOT p.is_placeholder AND p.deleted_at IS NULL
        AND p.variation_of_id IS NULL AND p.locale = '{LOCALE}'
"""
_RANKED: Final = (
    f"SELECT p.id, p.title, p.excerpt, p.path {_MATCHED} "
    "ORDER BY ts_rank(s.document, q) DESC, p.updated_at DESC, p.id LIMIT 20"
)


@dataclass(frozen=True, slots=True)
class Found:
    """Milliseconds: the product's search, bare psycopg with the same match and a plain rank, and `icontains`."""

    name: str
    words: str
    posts: int
    milliseconds: float
    bare: float
    without: float | None


def measure(url: str, *, only_common: bool = False) -> list[Found]:
    """Return medians of `TIMES` turns. With `only_common`, `icontains` is left out."""
    found = []
    # With prepared statements, like the product's connections.
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as bare:
        for name, words in QUESTIONS.items():
            if only_common and "common" not in name:
                continue
            ways = [
                lambda words=words: _ask_ours(_found(words)),
                lambda words=words: _ask_bare(bare, words),
            ]
            if not only_common:
                ways.append(lambda words=words: _ask(_holding(words)))
            turns = [[_milliseconds(way) for way in ways] for _ in range(TIMES)]
            ours, floor, *without = (median(values) for values in zip(*turns, strict=True))
            of_many = " of many" if only_common else ""
            count = _found(words).count()
            found.append(
                Found(name + of_many, words, count, ours, floor, without[0] if without else None)
            )
    return found


def _milliseconds(ask: Callable[[], object]) -> float:
    begin = time.perf_counter()
    ask()
    return 1000 * (time.perf_counter() - begin)


def _ask(posts: QuerySet[Any]) -> None:
    posts.count()
    list(posts.values(*post_queries.LIST_COLUMNS)[:20])


def _ask_bare(bare: psycopg.Connection[TupleRow], words: str) -> None:
    *first, last = words.split()
    question = " & ".join([*first, f"{last}:*"])
    bare.execute(f"SELECT count(*) {_MATCHED}", (question,)).fetchall()  # no input
    bare.execute(_RANKED, (question,)).fetchall()


def _ask_ours(posts: search_index.RankedInstances[Post]) -> None:
    posts.estimate(MAX_RESULTS)
    posts[:20]


def _found(words: str) -> search_index.RankedInstances[Post]:
    posts = post_queries.published_posts().filter(locale=LOCALE)
    return search.find_posts(
        posts, words, LOCALE, shown=lambda found: found.values(*post_queries.LIST_COLUMNS)
    )


def _holding(words: str) -> QuerySet[Post]:
    posts = post_queries.published_posts().filter(locale=LOCALE)
    text = Cast("instance__props", TextField())
    modules = PostModule.objects.filter(post=OuterRef("pk")).annotate(text=text)
    for word in words.split():
        in_module = Exists(modules.filter(text__icontains=word))
        posts = posts.filter(Q(title__icontains=word) | Q(excerpt__icontains=word) | in_module)
    return post_queries.order_posts(posts, "-updatedAt")


def show(found: list[Found], report: Report) -> None:
    report.show_table(
        ("words", "found", "ms", "bare psycopg ms", "of the bare", "icontains ms", "of ours"),
        [
            (
                f"{one.name}: {one.words}", f"{one.posts:,}", f"{one.milliseconds:.1f}",
                f"{one.bare:.1f}", f"{one.milliseconds / one.bare:.2f}",
                f"{one.without:.1f}" if one.without else "",
                f"{one.without / one.milliseconds:.1f}" if one.without else "",
            )
            for one in found
        ],
    )  # fmt: skip
