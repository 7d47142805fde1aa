"""A collector: an HTTP server that records OTLP and Sentry requests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import brotli
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    """Recorded requests, by path."""

    port: int
    bodies: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        found = []
        for path, body in self.bodies:
            if path == "/v1/traces":
                message = ExportTraceServiceRequest.FromString(body)
                for resource in message.resource_spans:
                    found += [span for scope in resource.scope_spans for span in scope.spans]
        return found

    @property
    def metrics(self) -> list[Any]:
        found = []
        for path, body in self.bodies:
            if path == "/v1/metrics":
                message = ExportMetricsServiceRequest.FromString(body)
                for resource in message.resource_metrics:
                    found += [one for scope in resource.scope_metrics for one in scope.metrics]
        return found

    @property
    def metric_names(self) -> set[str]:
        return {one.name for one in self.metrics}

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Return the events in Sentry's envelopes: lines of JSON, with a header before each item."""
        found = []
        for path, body in self.bodies:
            if path.endswith("/envelope/"):
                lines = body.split(b"\n")
                for header, item in zip(lines[1::2], lines[2::2], strict=False):
                    if json.loads(header or b"{}").get("type") == "event":
                        found.append(json.loads(item))
        return found


@contextmanager
def collecting() -> Iterator[Collector]:
    """Yield a running collector."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            unpack = {"gzip": gzip.decompress, "br": brotli.decompress}
            encoding = self.headers.get("Content-Encoding")
            body = unpack[encoding](body) if encoding else body
            collector.bodies.append((self.path, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(server.server_port)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield collector
        finally:
            server.shutdown()


def attributes(span: Any) -> dict[str, str | int | float]:
    """Return the attributes of a span."""
    kinds = ("string_value", "int_value", "double_value")
    return {
        one.key: next(getattr(one.value, kind) for kind in kinds if one.value.HasField(kind))
        for one in span.attributes
    }
