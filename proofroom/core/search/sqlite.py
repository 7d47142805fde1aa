"""Search in SQLite: an FTS5 table beside the entries, ranked by bm25. It knows no stems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import connection

from proofroom.core.search.tables import WEIGHTS, SearchQuery, SearchTable, SearchText
from proofroom.core.search.tokens import Word, cut


def put(table: SearchTable, entries: Iterable[SearchText]) -> None:
    rows = []
    for entry in entries:
        texts = (cut(text, entry.locale).folded for text in entry.texts)
        rows.append((*(" ".join(words) for words in texts), entry.key.hex))
    with connection.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO "{table.name}" ("{table.key}") VALUES (%s) '  # noqa: S608  # names of ours
            f'ON CONFLICT ("{table.key}") DO NOTHING',
            [row[-1:] for row in rows],
        )
        cursor.executemany(
            f'INSERT OR REPLACE INTO "{table.name}_words" (rowid, a, b, c, d) '  # noqa: S608
            f'SELECT id, %s, %s, %s, %s FROM "{table.name}" WHERE "{table.key}" = %s',
            rows,
        )


def question(table: SearchTable, words: Sequence[Word], locales: Iterable[str]) -> SearchQuery:
    """Every word; the last one may be the beginning of a word."""
    name = f"{table.name}_words"
    return SearchQuery(
        tables=[table.name, name],
        where=f'"{name}".rowid = "{table.name}".id AND "{name}" MATCH %s',
        rank=f'-bm25("{name}", {", ".join(map(str, WEIGHTS))})',
        parameters=[" AND ".join(f'"{word.folded}"' for word in words) + "*"],
    )
