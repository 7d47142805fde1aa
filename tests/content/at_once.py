"""Work in threads that start together, each with its own connection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, connections, transaction

from proofroom.core.errors import CmsError


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run all functions in threads that start together. Return results or errors in order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return work()
        except CmsError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(timeout=120) for future in [pool.submit(run, work) for work in works]]


def while_under_way(first: Callable[[], object], second: Callable[[], object]) -> object:
    """Start `second` during the open transaction of `first`, and commit that once `second` waits for
    it or is done.

    Return the result of `second`, or its error. On PostgreSQL only.
    """

    def run() -> object:
        try:
            return second()
        except CmsError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            waiting = pool.submit(run)
            while not is_lock_awaited() and not waiting.done():
                pass
        return waiting.result(timeout=60)


def is_lock_awaited() -> bool:
    """Return True if a PostgreSQL transaction waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
