"""Measured operations: requests, tasks, runs, tool calls, deliveries of webhooks.

Each is also a span of OpenTelemetry if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise none of it is imported. The
first span starts the exporter, so that commands without measurements start none and each forked process has its own.
The packages are the extra `observability`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from proofroom.core.hooks import Hook
from proofroom.core.observability.work_ids import current_ids
from proofroom.core.once import once

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Answer = TypeVar("Answer")


class OperationKind(StrEnum):
    REQUEST = "request"
    TASK = "task"
    RUN = "run"
    TOOL_CALL = "tool call"
    DELIVERY = "delivery"


@dataclass(slots=True)
class MeasuredOperation:
    """A running or finished operation.

    `name` comes from a bounded set (routes, tasks, tools), never from a caller, because it becomes a metric label.
    `outcome` is a single word.
    """

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
        """Seconds since the start."""
        return time.perf_counter() - self.started


operation_ended: Final[Hook[[MeasuredOperation], None]] = Hook()
"""Called with each finished operation."""
_current: ContextVar[MeasuredOperation | None] = ContextVar("operation", default=None)


@contextmanager
def measure(kind: OperationKind, name: str) -> Iterator[MeasuredOperation]:
    """Measure the block's time and statements as a span. An exception sets the outcome `error`."""
    outer = _current.get()
    operation = MeasuredOperation(kind, name)
    token = _current.set(operation)
    try:
        with start_span(f"{kind} {name}") as span:
            try:
                yield operation
            except BaseException:
                if operation.outcome == "ok":
                    operation.outcome = "error"
                raise
            finally:
                operation.seconds = operation.elapsed
                if span is not None:
                    # The name of a request is its route, known only at its end.
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
            # They also belong to the surrounding operation.
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
    """Run a statement and count it for the current operation. A database execute wrapper."""
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
    """Count the statements of a new connection. A receiver of `connection_created`."""
    if count_statement not in connection.execute_wrappers:
        # The first wrapper is the outermost, so its time includes the others.
        connection.execute_wrappers.insert(0, count_statement)


@once
def find_tracer() -> Tracer | None:
    """Return the tracer of this process, which sends spans by OTLP over HTTP; None without a collector."""
    endpoint = settings.CMS_ENV.otel_exporter_otlp_endpoint
    if endpoint is None:
        return None
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(
        resource=Resource.create({"service.name": settings.CMS_ENV.otel_service_name})
    )
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider.get_tracer("proofroom")


@contextmanager
def start_span(name: str) -> Iterator[Span | None]:
    """Run the block as a child span; yields None without a collector."""
    tracer = find_tracer()
    if tracer is None:
        yield None
        return
    with tracer.start_as_current_span(name) as span:
        yield span


def trace_headers() -> dict[str, str]:
    """Return the headers that continue this trace in another process (W3C Trace Context)."""
    carrier: dict[str, str] = {}
    if find_tracer() is not None:
        from opentelemetry import propagate

        propagate.inject(carrier)
    return carrier


@contextmanager
def continue_trace(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace of these headers in the block."""
    if find_tracer() is None:
        yield
        return
    from opentelemetry import propagate
    from opentelemetry.context import attach, detach

    token = attach(propagate.extract(headers))
    try:
        yield
    finally:
        detach(token)
