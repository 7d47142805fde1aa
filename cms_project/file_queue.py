"""The embedded queue: kombu's filesystem transport, with atomic writes of messages and queue tables.

Kombu writes a message to a file that a reader may already open, and half a message ends the worker. This transport
writes to a temporary name and renames the file. Kombu also creates the table of an exchange empty before it writes to
it, and a process that starts in between fails. Here the table is never empty.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)


class FileChannel(filesystem.Channel):
    """A channel that writes messages atomically and skips unreadable ones."""

    def _put(  # type: ignore[override]  # kombu's own classes name the argument in two ways
        self, queue: str, payload: dict[str, Any], **kwargs: Any
    ) -> None:
        name = f"{round(monotonic() * 1000)}_{uuid4()}"
        temporary = os.path.join(self.data_folder_out, f"{name}.part")
        try:
            with open(temporary, "wb") as file:
                file.write(str_to_bytes(dumps(payload)))
            os.replace(temporary, os.path.join(self.data_folder_out, f"{name}.{queue}.msg"))
        except OSError as error:
            raise ChannelError(f"Cannot add a message to {self.data_folder_out!r}") from error

    def _queue_bind(  # type: ignore[override]  # kombu's stubs name no types here
        self, exchange: str, routing_key: str, pattern: str, queue: str
    ) -> None:
        self._make_table(exchange)
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except ValueError:
            # Left by a process that ended while writing. The table contains no readable queue.
            logger.warning("cannot read the queues of %s; they are registered again", exchange)
            self._empty_unreadable_table(exchange)
            super()._queue_bind(exchange, routing_key, pattern, queue)

    def _make_table(self, exchange: str) -> None:
        """Create a table without queues, unless it exists."""
        file = self._table_of(exchange)
        if file.exists():
            return
        self.control_folder.mkdir(exist_ok=True)
        temporary = file.with_name(f"{file.name}.{uuid4()}.part")
        temporary.write_text("[]")
        # A hard link is atomic and, unlike a rename, never replaces an existing file.
        with suppress(FileExistsError):
            os.link(temporary, file)
        temporary.unlink()

    def _empty_unreadable_table(self, exchange: str) -> None:
        """Write an empty table, unless another process has repaired it meanwhile."""
        with self._table_of(exchange).open("rb+", buffering=0) as file:
            flock(file, LOCK_EX)  # as kombu locks it; closing the file releases it
            try:
                loads(file.read().decode(errors="replace"))
            except ValueError:
                file.seek(0)
                file.truncate()
                file.write(b"[]")

    def _table_of(self, exchange: str) -> Path:
        """Return the path of the exchange's table. Raises `ChannelError` for a name that cannot be a file's."""
        file: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]  # the stubs are older
        return file

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        while True:
            try:
                return super()._get(queue)
            except ValueError:
                # The message is already removed from the queue. A sweep finds its work in the database.
                logger.warning("dropped an unreadable message of %s", queue)


class Transport(filesystem.Transport):
    """The transport of the scheme `filesystem` in this project."""

    Channel = FileChannel
