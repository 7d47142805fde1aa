"""Full-text search: one way to put texts in and to ask for them, over PostgreSQL and SQLite.

All words of a question must be there, the last one at least as a beginning; accents and case do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Final, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from proofroom.core.search import postgresql, sqlite
from proofroom.core.search.tables import SearchQuery, SearchTable, SearchText
from proofroom.core.search.tokens import query_words

__all__ = ["RANK", "SearchTable", "SearchText", "matching", "put"]

RANK: Final = "search_rank"
"""What the rows of `matching` can be ordered by; the best is the greatest."""

M = TypeVar("M", bound=Model)
_NOTHING: Final = SearchQuery(tables=(), where="1 = 0", rank="(SELECT 0)")


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    """Keep the words of things, in place of what was kept of them. In the transaction of their change."""
    _backend().put(table, entries)


def matching(
    rows: QuerySet[M], table: SearchTable, text: str, *, locales: Iterable[str]
) -> QuerySet[M]:
    """The rows whose entry has all words of the text; none for a text without words.

    `locales` are those of the rows: their languages say what forms a word has.
    """
    words = query_words(text)
    found = _backend().question(table, words, locales) if words else _NOTHING
    model = rows.model._meta
    joined = f'"{table.name}"."{table.key}" = "{model.db_table}"."{model.pk.column}"'
    # The ORM has no way to join a table that ranks: names are ours, words are parameters.
    return rows.extra(  # noqa: S610
        tables=list(found.tables),
        where=[found.where, *([joined] if found.tables else [])],
        params=list(found.parameters),
        select={RANK: found.rank},
        select_params=list(found.rank_parameters),
    )


def _backend() -> ModuleType:
    return postgresql if connection.vendor == "postgresql" else sqlite
