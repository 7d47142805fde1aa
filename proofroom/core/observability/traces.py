"""Traces by OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT names a collector. Without one nothing is loaded.

The first span of a process starts its exporter, so that commands that measure nothing have none, and so that each
process has its own after a fork. The packages are the extra `observability`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer


@cache
def find_tracer() -> Tracer | None:
    """Return the tracer of this process, which sends spans by OTLP over HTTP; None where no collector is named."""
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
    """Show the block as a span below the one that is open; None where nobody collects spans."""
    tracer = find_tracer()
    if tracer is None:
        yield None
        return
    with tracer.start_as_current_span(name) as span:
        yield span


def trace_headers() -> dict[str, str]:
    """Return what a message carries so that whoever works on it goes on in this trace (W3C Trace Context)."""
    carrier: dict[str, str] = {}
    if find_tracer() is not None:
        from opentelemetry import propagate

        propagate.inject(carrier)
    return carrier


@contextmanager
def continue_trace(headers: Mapping[str, str]) -> Iterator[None]:
    """Go on, in the block, in the trace that these headers name."""
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
