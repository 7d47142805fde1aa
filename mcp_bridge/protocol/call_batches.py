"""The call log of what was read and answered, written by many calls at once.

A row each would cost such a call more than most of what it reads. What else is called is logged before its answer.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import anyio
from django.db import DatabaseError, IntegrityError, transaction

from mcp_bridge.models import McpCall
from mcp_bridge.protocol.worker_threads import Workers
from proofroom.core.database.inserts import Insert

logger = logging.getLogger("mcp_bridge")
INSERT_CALL: Final = Insert(McpCall)
WRITE_SECONDS: Final = 0.02
"""How long a row may wait: what a process that is killed loses."""
MAX_WAITING: Final = 500
"""Rows that wait; the call that adds one more writes them."""

Row = dict[str, Any]


class CallBatches:
    """The rows of one server that wait. Any thread may add one."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._rows: deque[Row] = deque()
        self._added = anyio.Event()

    def add(self, row: Row) -> None:
        """Add a row, from a thread that may ask the database; `wake` has to follow on the event loop."""
        self._rows.append(row)
        if len(self._rows) >= MAX_WAITING:
            self.write()

    def add_unwritten(self, row: Row) -> bool:
        """Add a row from the event loop, and answer whether there was room."""
        if len(self._rows) + 1 >= MAX_WAITING:
            return False
        self._rows.append(row)
        return True

    def wake(self) -> None:
        if self._rows:
            self._added.set()

    async def run(self) -> None:
        """Write what waits, a moment after the first of it came, until cancelled."""
        while True:
            await self._added.wait()
            await anyio.sleep(WRITE_SECONDS)
            self._added = anyio.Event()
            await self._workers.run_apart(self.write)

    def write(self) -> None:
        """Write what waits now. What cannot be written is lost, and said in the server's log."""
        rows = list[Row]()
        while self._rows:
            try:
                rows.append(self._rows.popleft())
            except IndexError:  # another thread was faster
                break
        if not rows:
            return
        try:
            INSERT_CALL.execute(*rows)
        except IntegrityError:
            self._write_apart(rows)
        except Exception:
            logger.exception("%d calls could not be logged", len(rows))

    def _write_apart(self, rows: Sequence[Row]) -> None:
        """Write each by itself, without its account where that was deleted meanwhile."""
        for row in rows:
            for values in (row, {**row, "user_id": None}):
                try:
                    with transaction.atomic():
                        INSERT_CALL.execute(values)
                    break
                except IntegrityError:
                    continue
                except DatabaseError:
                    logger.exception("The call of %s could not be logged", row["tool"])
                    break
