"""Metrics, traces and error reports for operators. Each is off until its variable is set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from cms_project.env_values import Port, SentryDsn, Url, secret
from proofroom.core.observability.work_ids import current_ids
from proofroom.core.redaction import REDACTED_SECRET, pattern_of_secrets, redact_credentials

if TYPE_CHECKING:
    from sentry_sdk.types import Event, Hint

_PACKAGES: Final[Mapping[str, str]] = {
    "metrics_token": "prometheus_client",
    "otel_exporter_otlp_endpoint": "opentelemetry.sdk",
    "sentry_dsn": "sentry_sdk",
}
METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"


class ObservabilityEnvironment(BaseSettings):
    """The environment variables of logs, metrics, traces and errors."""

    log_format: Literal["text", "json"] = Field(
        "text",
        description="Format of the log on the terminal: text, or json with one object a line.",
    )
    metrics_token: str | None = secret(
        "Bearer token for /health/metrics. Needs the extra observability.",
        min_length=16,
    )
    worker_metrics_port: Port | None = Field(
        None,
        description="Port of a worker for /health/metrics, if it shares no folder with a web process.",
    )
    otel_exporter_otlp_endpoint: Url | None = Field(
        None,
        description="OpenTelemetry collector for traces and metrics (OTLP over HTTP), such as http://127.0.0.1:4318.",
    )
    otel_service_name: str = Field(
        "proofroom", min_length=1, description="Name of this installation in traces."
    )
    sentry_dsn: SentryDsn | None = secret("Address of the Sentry project that gets the errors.")


def prepare_observability(env: ObservabilityEnvironment, data_dir: Path) -> None:
    """Check that the packages are installed, and create the folder of metrics. Call before anything is measured."""
    for name, package in _PACKAGES.items():
        if getattr(env, name) is None:
            continue
        try:
            is_there = find_spec(package) is not None
        except ModuleNotFoundError:
            is_there = False
        if not is_there:
            raise SystemExit(
                f"{name.upper()} is set, but {package} is not installed; "
                "install the extra observability (see docs/how-to/monitor.md)."
            )
    if env.metrics_token is not None:
        # The library reads this variable at its import.
        folder = Path(os.environ.setdefault(METRICS_FOLDER, str(data_dir / "metrics")))
        folder.mkdir(parents=True, exist_ok=True)


def start_sentry(env: ObservabilityEnvironment, secrets: list[str]) -> None:
    """Send errors to Sentry, without bodies, cookies, addresses, variable values, or secrets."""
    if env.sentry_dsn is None:
        return
    import sentry_sdk

    from proofroom.core.minute_throttle import MinuteTimer

    # During an outage every request fails for the same reason. One report a minute is enough.
    outage_sent = MinuteTimer()

    def clean(event: Event, hint: Hint) -> Event | None:
        if is_of_outage(hint) and not outage_sent.is_due():
            return None
        for name, value in current_ids().items():
            event.setdefault("tags", {})[name] = value
        return redact_event(event, secrets)

    sentry_sdk.init(
        dsn=env.sentry_dsn,
        before_send=clean,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
    )


def is_of_outage(hint: Hint) -> bool:
    """Return True if an event only reports that the database is unavailable."""
    from proofroom.core.database import errors as database_errors

    record, exc_info = hint.get("log_record"), hint.get("exc_info")
    if record is not None and record.name == database_errors.logger.name:
        return True
    return exc_info is not None and database_errors.is_database_unreachable(exc_info[1])


def redact_event(event: Event, secrets: list[str]) -> Event:
    """Return the event without secrets. Only method and path of its request remain."""
    request = event.get("request")
    if request is not None:
        redacted = {
            "method": request.get("method"),
            "url": str(request.get("url", "")).split("?")[0],
        }
        event["request"] = redacted
    event.pop("user", None)

    known = pattern_of_secrets(secrets)

    def clean(value: object) -> object:
        if isinstance(value, str):
            return redact_credentials(known.sub(REDACTED_SECRET, value) if known else value)
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return value

    cleaned: Event = clean(event)  # type: ignore[assignment]  # of the shape that it had
    return cleaned
