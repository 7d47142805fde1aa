"""The embedded queue: kombu's filesystem transport, with messages and tables of queues that are whole or not there.

Kombu writes a message into the file that a reader may already be taking, and a reader of half a message ends
the worker. Here it is written under a name that nobody looks for, then renamed. Kombu also makes
the table of an exchange's queues empty and fills it after, and a process that starts meanwhile cannot read it and
ends. Here it is never empty.
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
    """Puts messages atomically, and steps over one that cannot be read."""

    def _put(  # type: ignore[override]  # kombu's own classes name the argument in two ways
        self, queue: str, payload: dict[str, Any], **kwargs: Any
    ) -> None:
        name = f"{round(monotonic() * 1000)}_{uuid4()}"
        waiting = os.path.join(self.data_folder_out, f"{name}.part")
        try:
            with open(waiting, "wb") as file:
                file.write(str_to_bytes(dumps(payload)))
            os.replace(waiting, os.path.join(self.data_folder_out, f"{name}.{queue}.msg"))
        except OSError as error:
            raise ChannelError(f"Cannot add a message to {self.data_folder_out!r}") from error

    def _queue_bind(  # type: ignore[override]  # kombu's stubs name no types here
        self, exchange: str, routing_key: str, pattern: str, queue: str
    ) -> None:
        self._make_table(exchange)
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except ValueError:
            # Left by a process that ended while it wrote. It says nothing of any queue.
            logger.warning("the queues of %s could not be read and are noted anew", exchange)
            self._empty_unreadable_table(exchange)
            super()._queue_bind(exchange, routing_key, pattern, queue)

    def _make_table(self, exchange: str) -> None:
        """Make a table without queues, unless there is one."""
        file = self._table_of(exchange)
        if file.exists():
            return
        self.control_folder.mkdir(exist_ok=True)
        waiting = file.with_name(f"{file.name}.{uuid4()}.part")
        waiting.write_text("[]")
        with suppress(FileExistsError):
            os.link(waiting, file)
        waiting.unlink()

    def _empty_unreadable_table(self, exchange: str) -> None:
        """Unless another process has done so meanwhile: its queues stay."""
        with self._table_of(exchange).open("rb+", buffering=0) as file:
            flock(file, LOCK_EX)  # as kombu locks it; closing the file releases it
            try:
                loads(file.read().decode(errors="replace"))
            except ValueError:
                file.seek(0)
                file.truncate()
                file.write(b"[]")

    def _table_of(self, exchange: str) -> Path:
        """The file of its table. Raises `ChannelError` for a name that is none of a file."""
        file: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]  # the stubs are older
        return file

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        while True:
            try:
                return super()._get(queue)
            except ValueError:
                # It is out of the queue already. Rows are the truth: a sweep sends it again.
                logger.warning("a message of %s could not be read and was dropped", queue)


class Transport(filesystem.Transport):
    """The transport behind the scheme `filesystem` in this project."""

    Channel = FileChannel
