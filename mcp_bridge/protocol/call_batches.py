"""The call log of what was read and answered, written by many calls at once.

A row each would cost such a call more than most of what it reads. What else is called is logged before its answer.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import anyio
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    transaction,
)

from mcp_bridge.models import McpCall
from mcp_bridge.worker_threads import Workers
from proofroom.core.database.inserts import insert_rows

logger = logging.getLogger("mcp_bridge")
T = TypeVar("T")
WRITE_SECONDS: Final = 0.02
"""How long a row may wait: what a process that is killed loses."""
RETRY_SECONDS: Final = 1.0
MAX_WAITING: Final = 500
"""Rows that wait; the call that adds one more writes them."""


class CallBatches:
    """The rows of one server that wait. Any thread may add one."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._rows: deque[McpCall] = deque()
        self._untold: deque[Callable[[], None]] = deque()
        self._added = anyio.Event()

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= MAX_WAITING

    def add(self, row: McpCall) -> None:
        """Add a row; `wake` has to follow on the event loop."""
        self._rows.append(row)

    def tell_later(self, tell: Callable[[], None]) -> None:
        """Call this with the next rows: it tells other processes of hits, which an event loop cannot wait for."""
        self._untold.append(tell)

    def wake(self) -> None:
        if self._rows or self._untold:
            self._added.set()

    async def run(self) -> None:
        """Write what waits, a moment after the first of it came, until cancelled."""
        while True:
            await self._added.wait()
            await anyio.sleep(WRITE_SECONDS)
            self._added = anyio.Event()
            while not await self._workers.run_apart(self.write):
                await anyio.sleep(RETRY_SECONDS)

    def write(self) -> bool:
        """Write what waits now, in a thread; False where the database is away, and rows wait on.

        What is lost is said in the server's log: what the database refuses, and rows beyond those that may wait.
        """
        for tell in _drain(self._untold):
            try:
                tell()
            except Exception:  # the hits count in this process all the same
                logger.exception("Hits could not be told to other processes")
        rows = _drain(self._rows)
        if not rows:
            return True
        try:
            insert_rows(rows)
        except IntegrityError:
            self._write_apart(rows)
        except (OperationalError, InterfaceError):
            # A row may be there twice then, where the connection broke between the commit and its answer.
            self._rows.extendleft(reversed(rows[-MAX_WAITING:]))
            lost = len(rows) - MAX_WAITING
            if lost > 0:
                logger.exception("%d calls could not be logged", lost)
            return False
        except Exception:
            logger.exception("%d calls could not be logged", len(rows))
        return True

    def _write_apart(self, rows: Sequence[McpCall]) -> None:
        """Write each by itself, without its account where that was deleted meanwhile."""
        for row in rows:
            for user_id in (row.user_id, None):
                row.user_id = user_id
                try:
                    with transaction.atomic():
                        insert_rows([row])
                    break
                except IntegrityError:
                    continue
                except DatabaseError:
                    logger.exception("The call of %s could not be logged", row.tool)
                    break


def _drain(queue: deque[T]) -> list[T]:
    """Take all that a queue holds; other threads may be doing the same."""
    found = list[T]()
    with suppress(IndexError):
        while True:
            found.append(queue.popleft())
    return found
