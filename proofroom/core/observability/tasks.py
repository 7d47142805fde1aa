"""Tasks of Celery: measured, and going on with the ids and the trace of who queued them."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

from celery import Task
from celery.signals import before_task_publish

from proofroom.core.observability.operations import (
    OperationKind,
    continue_trace,
    measure,
    trace_headers,
)
from proofroom.core.observability.work_ids import bind_ids, current_ids

HEADER: Final = "proofroom"
"""The header of a message under which the ids and the trace go."""


@before_task_publish.connect
def send_ids(headers: MutableMapping[str, object], **kwargs: object) -> None:
    """Write the ids and the trace of this work into the message."""
    ids = {str(name): value for name, value in current_ids().items() if name != "task_id"}
    if found := {**ids, **trace_headers()}:
        headers[HEADER] = found


class ObservedTask(Task):  # type: ignore[type-arg]  # generic for mypy alone
    """The base of every task."""

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = getattr(self.request, HEADER, None)
        sent = {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}
        with (
            continue_trace(sent),
            bind_ids(
                {
                    "request_id": sent.get("request_id"),
                    "run_id": sent.get("run_id"),
                    "cause_id": sent.get("cause_id"),
                    "task_id": self.request.id,
                }
            ),
            measure(OperationKind.TASK, str(self.name)),
        ):
            return super().__call__(*args, **kwargs)
