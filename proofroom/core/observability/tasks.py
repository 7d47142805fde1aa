"""Celery tasks that are measured and continue the ids and the trace of the code that queued them.

The ids are bound by signals instead of around the task, because Celery logs the end of a task outside of it.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack
from typing import Any, Final

from celery import Task
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.conf import settings

from proofroom.core.observability.operations import (
    OperationKind,
    continue_trace,
    measure,
    trace_headers,
)
from proofroom.core.observability.work_ids import WorkId, bind_ids, current_ids
from proofroom.core.scheduled_tasks import note_done

HEADER: Final = "proofroom"
"""The message header with the ids and the trace."""
_SENT_IDS: Final[tuple[WorkId, ...]] = ("request_id", "run_id", "cause_id")


@before_task_publish.connect
def send_ids(headers: MutableMapping[str, object], **kwargs: object) -> None:
    """Add the ids and the trace of the current work to the message."""
    ids = {str(name): value for name, value in current_ids().items() if name in _SENT_IDS}
    if found := {**ids, **trace_headers()}:
        headers[HEADER] = found


def read_header(given: object) -> dict[str, str]:
    """Return the ids and the trace from a message header; empty for other values."""
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}


def ids_of_message(task_id: str | None, sent: Mapping[str, str]) -> dict[WorkId, str]:
    """Return the ids for the work on a message."""
    ids = {name: sent[name] for name in _SENT_IDS if name in sent}
    return {**ids, "task_id": task_id} if task_id else ids


@task_prerun.connect
def bind_ids_of_task(task: Task[Any, Any], **kwargs: object) -> None:
    """Bind the ids of a task that starts."""
    bound = ExitStack()
    sent = read_header(getattr(task.request, HEADER, None))
    bound.enter_context(bind_ids(ids_of_message(task.request.id, sent)))
    task.request.bound_ids = bound  # type: ignore[attr-defined]  # Celery allows any attribute


@task_postrun.connect
def release_ids_of_task(task: Task[Any, Any], **kwargs: object) -> None:
    """Release the ids of a task after Celery has logged its end."""
    bound = getattr(task.request, "bound_ids", None)
    if bound is not None:
        bound.close()


class ObservedTask(Task):  # type: ignore[type-arg]  # generic only in the stubs
    """The base class of all tasks."""

    abstract = True
    Request = "proofroom.core.observability.task_messages:ObservedRequest"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with (
            continue_trace(read_header(getattr(self.request, HEADER, None))),
            measure(OperationKind.TASK, str(self.name)),
        ):
            answer = super().__call__(*args, **kwargs)
            if self.name in settings.DAILY_TASKS:
                note_done(str(self.name))
            return answer
