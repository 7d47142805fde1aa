"""Messages that a worker has received, to add their ids to Celery's log records outside of tasks.

A worker's main process logs that it received a message or that a task ran too long, while the task runs elsewhere or
has not started. Imported only by workers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

from celery.worker.request import Request

from proofroom.core.observability.tasks import HEADER, ids_of_message, read_header
from proofroom.core.observability.work_ids import WorkId, bind_ids

LOGGERS: Final = ("celery.worker.strategy", "celery.worker.request", "celery.app.trace")
"""Celery's loggers that report on messages."""
_received: Final[WeakValueDictionary[str, ObservedRequest]] = WeakValueDictionary()


class ObservedRequest(Request):
    """A message while a worker has it."""

    def __init__(self, message: Any, **options: Any) -> None:
        super().__init__(message, **options)
        _received[self.id] = self

    @property
    def ids(self) -> dict[WorkId, str]:
        return ids_of_message(self.id, read_header(self.request_dict.get(HEADER)))

    def on_failure(self, *args: Any, **kwargs: Any) -> Any:
        # Not all records logged here contain the task's id.
        with bind_ids(self.ids):
            return super().on_failure(*args, **kwargs)


class MessageIdFilter(logging.Filter):
    """Adds the ids of a record's message as `work_ids`. Passes all records."""

    def filter(self, record: logging.LogRecord) -> bool:
        given = record.args or ()
        for value in given.values() if isinstance(given, Mapping) else given:
            message = _received.get(value) if isinstance(value, str) else None
            if message is not None:
                record.work_ids = message.ids
                break
        return True


for _name in LOGGERS:
    logging.getLogger(_name).addFilter(MessageIdFilter())
