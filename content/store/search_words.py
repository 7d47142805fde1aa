"""The words of published posts, for what was mistyped: collected now and then, and only ever looked at to find posts.

A word may have left the site since it was collected. Whoever shows one takes it from a post that is published.
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
from proofroom.core.database.replica import reading_connection
from proofroom.core.database.statements import fetch

MAX_POSTS: Final = 10_000
"""Of each locale, the newest, whose words are collected."""
MAX_WORDS: Final = 50_000
MIN_LENGTH: Final = 4
"""Letters of a word that has near ones; of shorter ones nearly all are near."""
MAX_LENGTH: Final = 32
MAX_NEAR: Final = 8
"""Near words that are tried for each word."""
_MAX_COMPARED: Final = 1_000


@transaction.atomic
def collect_words() -> int:
    """Collect the words of the published posts of each locale anew. Returns how many there are."""
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
    # Its words are lexemes: stems among them lead to posts, too.
    counted = f"SELECT document FROM {TABLE.name} JOIN searched_posts USING ({TABLE.key})"  # noqa: S608  # names of ours, here and below
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
    """The collected words that are like each of some folded ones, the nearest first. One query.

    With trigrams these are words that have many of them in common; else words that begin with the same letter.
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
    return _compared(asked, locale)


def _compared(asked: Sequence[str], locale: str) -> dict[str, list[str]]:
    of_one = (Q(beginning=word[0], length__range=(len(word) - 2, len(word) + 2)) for word in asked)
    fits = next(of_one)
    for other in of_one:
        fits |= other
    kept = SearchWord.objects.filter(locale=locale).annotate(length=Length("word")).filter(fits)
    words = list(kept.order_by("-posts", "word").values_list("word", flat=True)[:_MAX_COMPARED])
    found = {}
    for word in asked:
        distances = {near: distance_between(word, near) for near in words}
        near = [one for one in words if distances[one] <= allowed_distance(word)]
        if near:
            # The sort is stable: of equals the one that more posts have comes first.
            found[word] = sorted(near, key=distances.__getitem__)[:MAX_NEAR]
    return found


@lru_cache(maxsize=10)
def _has_trigrams(alias: str) -> bool:
    """Whether the database of this process has them; whoever adds them later starts it anew."""
    sql = "SELECT count(*) FROM pg_extension WHERE extname = %s"
    ((number,),) = fetch(reading_connection(), sql, ["pg_trgm"])
    return bool(number)


def allowed_distance(word: str) -> int:
    """Letters by which a word may differ from what was meant."""
    return 1 if len(word) <= MIN_LENGTH else 2


def distance_between(one: str, other: str) -> int:
    """How many letters have to be put in, left out, replaced, or exchanged with the next one; 3 for three or more."""
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
        if min(row) > 2:
            break
    return min(row[-1], 3)
