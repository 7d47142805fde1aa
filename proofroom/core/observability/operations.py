"""Operations that are measured: a request, a task, a run, a call of a tool, a delivery of a webhook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper

from proofroom.core.hooks import Hook
from proofroom.core.observability import traces
from proofroom.core.observability.work_ids import current_ids

Answer = TypeVar("Answer")


class OperationKind(StrEnum):
    REQUEST = "request"
    TASK = "task"
    RUN = "run"
    TOOL_CALL = "tool call"
    DELIVERY = "delivery"


@dataclass(slots=True)
class MeasuredOperation:
    """`name` comes from a bounded set (a route, a task, a tool), never from a caller. `outcome` is a word of one."""

    kind: OperationKind
    name: str
    outcome: str = "ok"
    method: str = ""
    seconds: float = 0.0
    statements: int = 0
    database_seconds: float = 0.0
    started: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started


operation_ended: Final[Hook[[MeasuredOperation], None]] = Hook()
"""Called with each operation when it is over."""
_current: ContextVar[MeasuredOperation | None] = ContextVar("operation", default=None)


@contextmanager
def measure(kind: OperationKind, name: str) -> Iterator[MeasuredOperation]:
    """Time the block, count its statements, and show it as a span. What it raises makes the outcome `error`."""
    outer = _current.get()
    operation = MeasuredOperation(kind, name)
    token = _current.set(operation)
    try:
        with traces.start_span(f"{kind} {name}") as span:
            try:
                yield operation
            except BaseException:
                if operation.outcome == "ok":
                    operation.outcome = "error"
                raise
            finally:
                operation.seconds = operation.elapsed
                if span is not None:
                    # A request knows its route only when it is over.
                    span.update_name(f"{kind} {operation.name}")
                    span.set_attributes(
                        {
                            "proofroom.outcome": operation.outcome,
                            "proofroom.statements": operation.statements,
                            "proofroom.database_seconds": operation.database_seconds,
                            **{f"proofroom.{name}": value for name, value in current_ids().items()},
                        }
                    )
    finally:
        _current.reset(token)
        if outer is not None:
            outer.statements += operation.statements
            outer.database_seconds += operation.database_seconds
        operation_ended(operation)


def count_statement(
    execute: Callable[..., Answer],
    sql: str,
    params: Sequence[object] | None,
    many: bool,
    context: dict[str, object],
) -> Answer:
    """Run a statement and count it for the operation at hand: one of Django's execute wrappers."""
    operation = _current.get()
    if operation is None:
        return execute(sql, params, many, context)
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        operation.statements += 1
        operation.database_seconds += time.perf_counter() - started


def watch_connection(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    """Count the statements of a connection from now on: a receiver of `connection_created`."""
    if count_statement not in connection.execute_wrappers:
        connection.execute_wrappers.insert(0, count_statement)
