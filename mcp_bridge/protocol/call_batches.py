"""The call log of successful reads, written in batches.

An insert per call would cost more than most reads. Other calls are logged before their answer.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
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
"""Seconds a row may wait. A killed process loses the rows of this time."""
RETRY_SECONDS: Final = 1.0
MAX_WAITING: Final = 500
"""Maximum waiting rows; the call that exceeds it writes them."""


class CallBatches:
    """The waiting rows of one server. Thread-safe."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._rows: deque[McpCall] = deque()
        self._added = anyio.Event()

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= MAX_WAITING

    def add(self, row: McpCall) -> None:
        """Add a row. Call `wake` on the event loop afterwards."""
        self._rows.append(row)

    def wake(self) -> None:
        if self._rows:
            self._added.set()

    async def run(self) -> None:
        """Write waiting rows shortly after the first one arrived, until cancelled."""
        while True:
            await self._added.wait()
            await anyio.sleep(WRITE_SECONDS)
            self._added = anyio.Event()
            while not await self._workers.run_apart(self.write):
                await anyio.sleep(RETRY_SECONDS)

    def write(self) -> bool:
        """Write the waiting rows in this thread. Return False if the database is away and rows remain.

        Rows the database refuses, and rows beyond the maximum, are lost and reported in the
        server's log.
        """
        rows = _drain(self._rows)
        if not rows:
            return True
        try:
            insert_rows(rows)
        except IntegrityError:
            self._write_apart(rows)
        except (OperationalError, InterfaceError):
            # If the connection broke between commit and confirmation, these rows are inserted
            # twice.
            self._rows.extendleft(reversed(rows[-MAX_WAITING:]))
            lost = len(rows) - MAX_WAITING
            if lost > 0:
                logger.exception("cannot log %d calls", lost)
            return False
        except Exception:
            logger.exception("cannot log %d calls", len(rows))
        return True

    def _write_apart(self, rows: Sequence[McpCall]) -> None:
        """Insert each row separately, without its account if that was deleted meanwhile."""
        for row in rows:
            # The account may have been deleted since the call.
            for user_id in (row.user_id, None):
                row.user_id = user_id
                try:
                    with transaction.atomic():
                        insert_rows([row])
                    break
                except IntegrityError:
                    continue
                except DatabaseError:
                    logger.exception("Cannot log a call of %s", row.tool)
                    break


def _drain(queue: deque[T]) -> list[T]:
    """Remove and return all items of a queue, which other threads may use at the same time."""
    found = list[T]()
    with suppress(IndexError):
        while True:
            found.append(queue.popleft())
    return found
