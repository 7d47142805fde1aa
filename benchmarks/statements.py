"""The number of SQL statements of some work, in all threads of this process, including statements below Django."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

_TIMES: Final = 3
"""Number of runs. Rare statements, such as a session's renewal, are not in all of them."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collect the statements of the block, sent by psycopg, without transaction statements."""
    sent: list[str] = []
    execute, execute_many = psycopg.Cursor.execute, psycopg.Cursor.executemany

    def note(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(query if isinstance(query, str) else str(query))
        return execute(self, query, *arguments, **options)

    def note_many(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(query if isinstance(query, str) else str(query))
        return execute_many(self, query, *arguments, **options)

    # Below Django's `CaptureQueriesContext`, which sees only the connection of its own thread.
    psycopg.Cursor.execute = note  # type: ignore[method-assign]
    psycopg.Cursor.executemany = note_many  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]
        psycopg.Cursor.executemany = execute_many  # type: ignore[method-assign]


def least_statements(
    work: Callable[[], object], prepare: Callable[[], object] = lambda: None
) -> int:
    """Return the fewest statements of three runs, after one that fills caches. `prepare` is not counted."""
    prepare()
    work()
    counts = []
    for _ in range(_TIMES):
        prepare()
        with counted() as sent:
            work()
        counts.append(len(sent))
    return min(counts)
