"""Writing the index, and finding rows whose entries have all words, on both databases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from proofroom.core.database.compiled_queries import BoundUpdate, fetch
from proofroom.core.search.entries import RANK, SearchTable, SearchText
from proofroom.core.search.postgresql import PostgresqlSearch
from proofroom.core.search.query import Part, SearchedWords, SearchQuery, Way
from proofroom.core.search.sqlite import SqliteSearch
from proofroom.core.search.words import query_words

M = TypeVar("M", bound=Model)


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    """Replace the entries of objects. Call it in the transaction of their change."""
    updates = puts(table, entries)
    if connection.vendor == "postgresql":
        for update in updates:
            update.execute()
        return
    with connection.cursor() as cursor:
        # Equal statements are next to each other, and `executemany` compiles each once.
        for sql, same in groupby(updates, key=attrgetter("sql")):
            cursor.executemany(sql, [update.parameters for update in same])


def puts(table: SearchTable, entries: Iterable[SearchText]) -> list[BoundUpdate]:
    """Return the statements of `put`, to execute one by one or with an insert."""
    return backend().puts(table, entries)


def matching(
    rows: QuerySet[M], table: SearchTable, text: str, *, locales: Iterable[str]
) -> QuerySet[M]:
    """Return the rows whose entry has all words of the text, with their rank; empty for a text without words.

    `locales` are the languages of the rows, which determine the forms of words.
    """
    return match_words(rows, SearchedWords(table, query_words(text), tuple(locales)))


def find_present(table: SearchTable, asked: Sequence[tuple[str, QuerySet[Any]]]) -> list[bool]:
    """Return for each text whether one of its rows has an entry with all of its words in full. At most one query.

    A text without words is in no entry.
    """
    conditions: list[str] = []
    parameters: list[Any] = []
    for text, rows in asked:
        words = query_words(text)
        if not words:
            # Always false, so that there is one result per text.
            conditions.append("EXISTS (SELECT 1 WHERE 1 = 0)")
            continue
        found = backend().holds(table, words)
        keys, key_parameters = rows.order_by().values("pk").query.sql_with_params()
        conditions.append(
            f'EXISTS (SELECT 1 FROM "{table.name}" WHERE {found.where} '  # noqa: S608  # only our own names, words are parameters
            f'AND "{table.name}"."{table.key}" IN ({keys}))'
        )
        parameters += [*found.parameters, *key_parameters]
    if not conditions:
        return []
    [row] = fetch(connection, f"SELECT {', '.join(conditions)}", parameters)
    return [bool(value) for value in row]


def match_words(
    rows: QuerySet[M], question: SearchedWords, part: Part = Part.ALL, way: Way = Way.INDEX
) -> QuerySet[M]:
    found = SearchQuery(where="1 = 0", rank="(SELECT 0)")
    if question.words:
        found = backend().question(question, key_of(rows.model), part, way)
    # The ORM cannot join a table that ranks. Only our own names are in the SQL; words are
    # parameters.
    return rows.extra(  # noqa: S610
        tables=list(found.tables),
        where=[found.where],
        params=list(found.parameters),
        select={RANK: found.rank},
        select_params=list(found.rank_parameters),
    )


def key_of(model: type[Model]) -> str:
    """Return the primary key column as SQL."""
    return f'"{model._meta.db_table}"."{model._meta.pk.column}"'


def backend() -> type[PostgresqlSearch | SqliteSearch]:
    return PostgresqlSearch if connection.vendor == "postgresql" else SqliteSearch
