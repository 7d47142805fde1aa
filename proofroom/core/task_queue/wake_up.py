"""Messages to workers. A row is the truth and a message only a wake-up, so a broker that is down fails nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from celery import current_app
from django.db import transaction

from proofroom.core.json import Json
from proofroom.core.task_queue.failures import queue_watch

_LOOK_BACK: Final = 200


@dataclass(slots=True)
class _Message:
    """A message that goes out after the commit."""

    send: Callable[[], object]
    what: str
    is_over: bool = False

    def __call__(self) -> None:
        self.is_over = True
        try:
            self.send()
        except Exception as error:  # whatever the broker's library raises
            queue_watch.failed(self.what, error)
        else:
            queue_watch.worked()


def send_after_commit(send: Callable[[], object], what: str, *, once: bool = False) -> None:
    """Queue a task once the transaction stands. Where the broker is down, the sweep finds the row of `what`.

    With `once`, a transaction that asks again for the same `what` queues it one time.
    """
    waiting = transaction.get_connection().run_on_commit if once else []
    for _, call, _ in waiting[-_LOOK_BACK:]:
        message = getattr(call, "__self__", None)
        if isinstance(message, _Message) and message.what == what and not message.is_over:
            return
    # A method, since Django asks what fails for its name.
    transaction.on_commit(_Message(send, what).__call__, robust=True)


def queue_task(name: str, *arguments: Json) -> None:
    """Queue the task of that name at once.

    Tasks are named, not imported, where they are queued: their modules import the services that queue them.
    """
    if name not in current_app.tasks:
        current_app.loader.import_default_modules()
    current_app.tasks[name].delay(*arguments)
