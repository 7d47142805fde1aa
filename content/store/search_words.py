"""The words of published posts, collected periodically for the correction of mistyped queries.

A collected word may have left the site since, so display only words taken from a published post.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Length

from content.models import SearchWord
from content.store.post_queries import published_posts
from content.store.search import TABLE
from proofroom.core.database.compiled_queries import fetch
from proofroom.core.database.replica import reading_connection

MAX_POSTS: Final = 10_000
"""Number of posts per locale whose words are collected, the newest first."""
MAX_WORDS: Final = 50_000
MIN_LENGTH: Final = 4
"""Minimum length of a word for corrections. Nearly all shorter words are similar to each other."""
MAX_LENGTH: Final = 32
MAX_NEAR: Final = 8
"""Number of similar words to try for each word."""
_MAX_COMPARED: Final = 1_000


@transaction.atomic
def collect_words() -> int:
    """Collect the words of the published posts of each locale. Returns the number of words."""
    # Other transactions see the old words until the commit.
    SearchWord.objects.all().delete()
    for locale in settings.CMS_ENV.locales:
        posts = published_posts().filter(locale=locale).order_by("-updated_at", "id")
        sql, parameters = posts.values("pk")[:MAX_POSTS].query.sql_with_params()
        collect = (
            _collect_on_postgresql if connection.vendor == "postgresql" else _collect_on_sqlite
        )
        collect(locale, sql, parameters)
    return SearchWord.objects.count()


def _collect_on_postgresql(locale: str, posts: str, parameters: Sequence[Any]) -> None:
    # PostgreSQL stores lexemes. Stems are useful too, because they find posts.
    counted = f"SELECT document FROM {TABLE.name} JOIN searched_posts USING ({TABLE.key})"  # noqa: S608  # constant names, here and below
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE searched_posts ({TABLE.key} uuid) ON COMMIT DROP")
        cursor.execute(f"INSERT INTO searched_posts {posts}", parameters)
        cursor.execute(
            "INSERT INTO content_searchword (locale, beginning, word, posts) "
            "SELECT %s, left(word, 1), word, ndoc FROM ts_stat(%s) "
            "WHERE length(word) BETWEEN %s AND %s AND word !~ '[0-9]' "
            "ORDER BY ndoc DESC, word LIMIT %s ON CONFLICT DO NOTHING",
            [locale, counted, MIN_LENGTH, MAX_LENGTH, MAX_WORDS],
        )
        cursor.execute("DROP TABLE searched_posts")


def _collect_on_sqlite(locale: str, posts: str, parameters: Sequence[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.content_search_instances "
            f"USING fts5vocab(main, {TABLE.name}_words, instance)"
        )
        cursor.execute(
            "INSERT INTO content_searchword (locale, beginning, word, posts) "  # noqa: S608
            "SELECT %s, substr(term, 1, 1), term, count(DISTINCT doc) AS number "
            f"FROM temp.content_search_instances JOIN {TABLE.name} AS entry ON entry.id = doc "
            f"WHERE entry.{TABLE.key} IN ({posts}) AND length(term) BETWEEN %s AND %s "
            "AND term NOT GLOB '*[0-9]*' GROUP BY term ORDER BY number DESC, term LIMIT %s",
            [locale, *parameters, MIN_LENGTH, MAX_LENGTH, MAX_WORDS],
        )


def find_near_words(words: Iterable[str], locale: str) -> dict[str, list[str]]:
    """Return the collected words similar to each of the folded words, the most similar first. One query.

    With `pg_trgm`, similar words share many trigrams. Otherwise they start with the same letter.
    """
    asked = [word for word in dict.fromkeys(words) if MIN_LENGTH <= len(word) <= MAX_LENGTH]
    if not asked:
        return {}
    if reading_connection().vendor == "postgresql" and _has_trigrams(reading_connection().alias):
        rows = fetch(
            reading_connection(),
            "SELECT asked.word, near.word FROM unnest(%s::text[]) AS asked(word), LATERAL ("  # noqa: S608
            "SELECT word, posts FROM content_searchword AS kept "
            "WHERE kept.locale = %s AND kept.word %% asked.word "
            f"ORDER BY similarity(kept.word, asked.word) DESC, posts DESC, word LIMIT {MAX_NEAR}"
            ") AS near",
            [asked, locale],
        )
        found: dict[str, list[str]] = {}
        for word, near in rows:
            found.setdefault(word, []).append(near)
        return found
    return _compare_words(asked, locale)


def _compare_words(words: Sequence[str], locale: str) -> dict[str, list[str]]:
    # A distance of at most 2 changes the length by at most 2.
    of_one = (Q(beginning=word[0], length__range=(len(word) - 2, len(word) + 2)) for word in words)
    fits = next(of_one)
    for other in of_one:
        fits |= other
    candidates = (
        SearchWord.objects.filter(locale=locale).annotate(length=Length("word")).filter(fits)
    )
    collected = list(
        candidates.order_by("-posts", "word").values_list("word", flat=True)[:_MAX_COMPARED]
    )
    found = {}
    for word in words:
        distances = {near: distance_between(word, near) for near in collected}
        near = [one for one in collected if distances[one] <= allowed_distance(word)]
        if near:
            # The sort is stable: among equal distances the word of more posts comes first.
            found[word] = sorted(near, key=distances.__getitem__)[:MAX_NEAR]
    return found


@lru_cache(maxsize=10)
def _has_trigrams(alias: str) -> bool:
    """Return whether the database has `pg_trgm`. After installing it, restart the process."""
    sql = "SELECT count(*) FROM pg_extension WHERE extname = %s"
    ((number,),) = fetch(reading_connection(), sql, ["pg_trgm"])
    return bool(number)


def allowed_distance(word: str) -> int:
    """Return the maximum edit distance between a typed and an intended word."""
    return 1 if len(word) <= MIN_LENGTH else 2


def distance_between(one: str, other: str) -> int:
    """Return the edit distance with transpositions (optimal string alignment). 3 means three or more."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        before, last = row, before
        row = [place]
        for column, of_other in enumerate(other, start=1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != of_other))
            if last and column > 1 and letter == other[column - 2] and one[place - 2] == of_other:
                cost = min(cost, last[column - 2] + 1)
            row.append(cost)
        # Distances only grow from here.
        if min(row) > 2:
            break
    return min(row[-1], 3)
