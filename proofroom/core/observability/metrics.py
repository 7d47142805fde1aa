"""Metrics of operations and gauges of queues: for Prometheus with METRICS_TOKEN, and by OTLP if a collector is set.

Counts of operations are in files that all processes of a machine share (`PROMETHEUS_MULTIPROC_DIR`), so that any of
them can answer for all. Gauges are read from the database at each scrape. An OTLP collector does not scrape, so a
worker sends them once a minute.
"""

from __future__ import annotations

import logging
import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from platform import node
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from django.conf import settings
from django.utils.crypto import constant_time_compare

from proofroom.core.hooks import Hook
from proofroom.core.minute_throttle import MinuteTimer
from proofroom.core.observability.health_checks import database_check
from proofroom.core.observability.operations import (
    MeasuredOperation,
    OperationKind,
    operation_ended,
)
from proofroom.core.once import once
from proofroom.core.repeated_errors import log_once

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter, _Gauge
    from prometheus_client.core import Metric

logger = logging.getLogger(__name__)
_SHORT: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LONG: Final = (0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)
_COUNTS: Final = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 100, 200, 500)


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A histogram of one kind of operation. The unit is seconds or statements."""

    name: str
    help: str
    labels: tuple[str, ...]
    buckets: Sequence[float]


DURATIONS: Final[Mapping[OperationKind, MetricKind]] = {
    OperationKind.REQUEST: MetricKind(
        "proofroom_http_request_duration_seconds",
        "Time to answer a request, by route and status.",
        ("method", "route", "status"),
        _SHORT,
    ),
    OperationKind.TASK: MetricKind(
        "proofroom_task_duration_seconds",
        "Time that a worker takes for a task.",
        ("task", "outcome"),
        _SHORT,
    ),
    OperationKind.RUN: MetricKind(
        "proofroom_agent_run_duration_seconds",
        "Time of one attempt at an agent's run, by agent and end.",
        ("agent", "outcome"),
        _LONG,
    ),
    OperationKind.TOOL_CALL: MetricKind(
        "proofroom_tool_call_duration_seconds",
        "Time of a tool call over MCP, by tool and end.",
        ("tool", "outcome"),
        _SHORT,
    ),
    OperationKind.DELIVERY: MetricKind(
        "proofroom_webhook_delivery_duration_seconds",
        "Time until a webhook's receiver answered, by kind of receiver and end.",
        ("receiver", "outcome"),
        _SHORT,
    ),
}
STATEMENTS: Final = MetricKind(
    "proofroom_statements",
    "SQL statements of a request, by route.",
    ("method", "route"),
    _COUNTS,
)


@dataclass(frozen=True, slots=True)
class MetricReading:
    """The current value of a gauge, such as the length of a queue."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


read_metrics: Final[Hook[[], Iterable[MetricReading]]] = Hook()
"""Functions of apps that return their gauges. Each runs a few cheap queries."""


def all_readings() -> list[MetricReading]:
    """Return the gauges of all apps. Failing ones are omitted and counted."""
    found: list[MetricReading] = []
    failed = 0
    for read in read_metrics:
        try:
            found += list(read())
        except Exception as error:
            log_once(logger, "Some metrics cannot be read and are left out.", error)
            failed += 1
    text = "Groups of gauges that cannot be read, and are left out."
    return [*found, MetricReading("proofroom_readings_failed", text, failed)]


def count_readings(
    name: str, help: str, label: str, counts: Iterable[tuple[str, int]]
) -> list[MetricReading]:
    """Return one reading per count, labelled with its value."""
    return [MetricReading(name, help, count, {label: value}) for value, count in counts]


Histogram: TypeAlias = Callable[[float, Mapping[str, str]], None]
"""A function that adds a value with labels."""


def operation_labels(operation: MeasuredOperation) -> dict[str, str]:
    """Return the labels of an operation's duration, in the order of its `MetricKind`."""
    values = [operation.name, operation.outcome]
    if operation.kind is OperationKind.REQUEST:
        values.insert(0, operation.method)
    return dict(zip(DURATIONS[operation.kind].labels, values, strict=True))


_failure_logged: Final = MinuteTimer()


def record_operation(operation: MeasuredOperation) -> None:
    """Add an operation to the histograms of the configured exporters.

    Never raises: a finished request must not fail because the disk is full.
    """
    for find_histograms in (_prometheus_histograms, _otlp_histograms):
        try:
            _add_to(find_histograms(), operation)
        except Exception:
            if _failure_logged.is_due():
                logger.exception("cannot record metrics of operations")


def _add_to(histograms: Mapping[str, Histogram], operation: MeasuredOperation) -> None:
    if not histograms:
        return
    labels = operation_labels(operation)
    histograms[DURATIONS[operation.kind].name](operation.seconds, labels)
    if operation.kind is OperationKind.REQUEST:
        # STATEMENTS has no label for the status.
        del labels["status"]
        histograms[STATEMENTS.name](operation.statements, labels)


operation_ended.register(record_operation)


_checked_names: Final[set[str]] = set()


def _name_process() -> str:
    """Return the process's name in file names, and delete damaged files with this name.

    It contains the host name, because containers that share the folder may have equal process ids.
    """
    name = f"{node()}-{os.getpid()}"
    if name not in _checked_names:
        _checked_names.add(name)
        for file in _metrics_folder().glob(f"*_{name}.db"):
            if is_damaged(file):
                logger.warning("removed damaged metrics of an earlier process: %s", file)
                file.unlink()
    return name


@once
def _prometheus_histograms() -> Mapping[str, Histogram]:
    if settings.CMS_ENV.metrics_token is None:
        return {}
    from prometheus_client import CollectorRegistry, values
    from prometheus_client import Histogram as PrometheusHistogram

    # By default the library names files after the process id alone, see `_name_process`.
    values.ValueClass = values.MultiProcessValue(_name_process)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()  # never exported: metrics are read from the files

    def build(kind: MetricKind) -> Histogram:
        histogram = PrometheusHistogram(
            kind.name, kind.help, kind.labels, buckets=kind.buckets, registry=registry
        )
        return lambda value, labels: histogram.labels(**labels).observe(value)

    return {kind.name: build(kind) for kind in (*DURATIONS.values(), STATEMENTS)}


@once
def _otlp_meter() -> Meter | None:
    endpoint = settings.CMS_ENV.otel_exporter_otlp_endpoint
    if endpoint is None:
        return None
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource

    exporter = OTLPMetricExporter(endpoint=f"{endpoint.rstrip('/')}/v1/metrics")
    provider = MeterProvider(
        resource=Resource.create({"service.name": settings.CMS_ENV.otel_service_name}),
        metric_readers=[PeriodicExportingMetricReader(exporter)],
    )
    return provider.get_meter("proofroom")


@once
def _otlp_histograms() -> Mapping[str, Histogram]:
    meter = _otlp_meter()
    if meter is None:
        return {}

    def build(kind: MetricKind) -> Histogram:
        histogram = meter.create_histogram(
            kind.name,
            unit="s" if kind is not STATEMENTS else "1",
            description=kind.help,
            explicit_bucket_boundaries_advisory=kind.buckets,
        )
        return lambda value, labels: histogram.record(value, dict(labels))

    return {kind.name: build(kind) for kind in (*DURATIONS.values(), STATEMENTS)}


_gauges: Final[dict[str, _Gauge]] = {}
_gauges_lock: Final = Lock()


def export_readings() -> int:
    """Send the gauges with the next export of this process. Return the number of readings."""
    meter = _otlp_meter()
    if meter is None:
        return 0
    readings = all_readings()
    with _gauges_lock:
        for reading in readings:
            if reading.name not in _gauges:
                _gauges[reading.name] = meter.create_gauge(reading.name, description=reading.help)
            _gauges[reading.name].set(reading.value, dict(reading.labels))
    return len(readings)


@dataclass(frozen=True, slots=True)
class ScrapeAnswer:
    """The HTTP response for Prometheus, used by all servers."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def answer_scrape(authorization: str) -> ScrapeAnswer | None:
    """Return the metrics if the header has METRICS_TOKEN as a bearer token, otherwise a 401; None without a token."""
    token = settings.CMS_ENV.metrics_token
    if token is None:
        return None
    if not constant_time_compare(authorization, f"Bearer {token}"):
        body = b"METRICS_TOKEN is needed as a bearer token.\n"
        return ScrapeAnswer(
            401, body, {"Content-Type": "text/plain; charset=utf-8", "WWW-Authenticate": "Bearer"}
        )
    body, content_type = prometheus_text()
    return ScrapeAnswer(200, body, {"Content-Type": content_type})


def prometheus_text() -> tuple[bytes, str]:
    """Return the text for Prometheus and its content type: the histograms of all processes, and the gauges.

    Gauges are omitted while the database is unreachable.
    """
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    # A process creates its file empty and fills it later.
    files = [file for file in _metrics_folder().glob("*.db") if file.stat().st_size]
    damaged = [file for file in files if is_damaged(file)]
    for file in damaged:
        if file.name not in _reported_files:
            _reported_files.add(file.name)
            logger.error("metrics are incomplete, because a file is damaged: %s", file)
    registry = CollectorRegistry(support_collectors_without_names=True)
    readable = [str(file) for file in files if file not in damaged]
    registry.register(FilesCollector(MultiProcessCollector.merge(readable)))  # type: ignore[no-untyped-call]
    is_up = database_check.wait(database_check.begin())
    readings = [MetricReading("proofroom_database_up", "Whether the database answers.", is_up)]
    readings += [
        MetricReading(
            "proofroom_metrics_file_damaged",
            "A file of metrics that cannot be read, and is left out.",
            1,
            {"file": file.name},
        )
        for file in damaged
    ]
    if is_up:
        readings += all_readings()
    registry.register(WaitingCollector(readings))
    return generate_latest(registry), CONTENT_TYPE_LATEST


def _metrics_folder() -> Path:
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])


_reported_files: Final[set[str]] = set()


def is_damaged(file: Path) -> bool:
    """Return whether Prometheus' library fails to read a file of metrics."""
    from prometheus_client.multiprocess import MultiProcessCollector

    try:
        with file.open("rb") as opened:
            # The file begins with the number of bytes in use.
            (used,) = struct.unpack("i", opened.read(4))
        if not 0 <= used <= file.stat().st_size:  # the library would read it as empty
            return True
        MultiProcessCollector.merge([str(file)])  # type: ignore[no-untyped-call]
    except Exception:  # it raises various exceptions for broken data
        return True
    return False


@dataclass(frozen=True, eq=False)
class FilesCollector:
    """Exports the histograms of all processes from their files."""

    metrics: Iterable[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.metrics


@dataclass(frozen=True, eq=False)
class WaitingCollector:
    """Exports readings as gauges."""

    readings: Sequence[MetricReading]

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        families: dict[str, GaugeMetricFamily] = {}
        for reading in self.readings:
            family = families.setdefault(
                reading.name,
                GaugeMetricFamily(reading.name, reading.help, labels=list(reading.labels)),
            )
            family.add_metric(list(reading.labels.values()), reading.value)
        return families.values()
