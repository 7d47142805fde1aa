"""How many SQL statements work sends, in every thread of this process, below Django as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from proofroom.core.database.postgresql.prepared_reads import PreparedReads

_TIMES: Final = 3
"""What is done once in a while, a session prolonged or a kept value read again, falls into one of them."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements of the block, as they are sent by psycopg or asked by libpq; not those of transactions."""
    sent: list[str] = []
    execute, execute_many = psycopg.Cursor.execute, psycopg.Cursor.executemany
    read = PreparedReads.rows

    def note(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(query if isinstance(query, str) else str(query))
        return execute(self, query, *arguments, **options)

    def note_many(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(query if isinstance(query, str) else str(query))
        return execute_many(self, query, *arguments, **options)

    def note_read(
        self: PreparedReads, sql: str, parameters: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        sent.append(sql)
        return read(self, sql, parameters)

    PreparedReads.rows = note_read  # type: ignore[method-assign]
    psycopg.Cursor.execute = note  # type: ignore[method-assign]
    psycopg.Cursor.executemany = note_many  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        PreparedReads.rows = read  # type: ignore[method-assign]
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]
        psycopg.Cursor.executemany = execute_many  # type: ignore[method-assign]


def least_statements(
    work: Callable[[], object], prepare: Callable[[], object] = lambda: None
) -> int:
    """Return the fewest statements of three runs, after one that fills the caches. `prepare` is not counted."""
    prepare()
    work()
    counts = []
    for _ in range(_TIMES):
        prepare()
        with counted() as sent:
            work()
        counts.append(len(sent))
    return min(counts)
