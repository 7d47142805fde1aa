"""Logs to the terminal and optionally to a file, without secrets."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from proofroom.core.diagnostics.log_format import FORMAT, one_record
from proofroom.core.minute_throttle import MinuteTimer
from proofroom.core.observability.work_ids import REQUEST_ID, current_ids
from proofroom.core.redaction import REDACTED_SECRET, pattern_of_secrets, redact_credentials

if TYPE_CHECKING:
    from django.http import HttpRequest


class RedactingFormatter(logging.Formatter):
    """A formatter that hides the given secrets and any value after the name of a credential, also in tracebacks."""

    def __init__(self, *args: Any, secrets: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._secrets = pattern_of_secrets(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return one_record(self.hide(super().format(record)))

    def hide(self, text: str) -> str:
        """Return the text without secrets."""
        if self._secrets is not None:
            text = self._secrets.sub(REDACTED_SECRET, text)
        return redact_credentials(text)


class JsonFormatter(RedactingFormatter):
    """A formatter for one JSON object per line, with the ids of the current request or task."""

    def format(self, record: logging.LogRecord) -> str:
        found: dict[str, str] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self.hide(record.getMessage()),
            **{str(name): value for name, value in current_ids().items()},
            # Celery's ids, for a task that does not run in this process (`task_messages`).
            **getattr(record, "work_ids", {}),
        }
        # Django logs refused requests after they have ended, when the current ids are unset.
        meta = getattr(getattr(record, "request", None), "META", {})
        if "request_id" not in found and REQUEST_ID in meta:
            found["request_id"] = meta[REQUEST_ID]
        if record.exc_info:
            found["exception"] = self.hide(self.formatException(record.exc_info))
        return json.dumps(found, ensure_ascii=False)


class LogFileHandler(WatchedFileHandler):
    """A handler for a file that several processes append to.

    If the file cannot be written (full disk, missing folder), no request fails. The terminal has the record too, and
    a warning once a minute.
    """

    _failure_report: ClassVar = MinuteTimer()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:  # from opening the file: `WatchedFileHandler` does not catch it
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        if not self._failure_report.is_due():
            return
        error = sys.exc_info()[1]
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, full or missing too
            sys.stderr.write(f"The log file {self.baseFilename} cannot be written: {error}\n")

    def close(self) -> None:
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()


_LOGGED: Final = "proofroom.is_logged"
"""Key in `META` of a request."""


def mark_logged(request: HttpRequest) -> None:
    """Keep Django from logging the error response of this request: the caller has logged it in a sentence."""
    request.META[_LOGGED] = True


class UnloggedFilter(logging.Filter):
    """Drops Django's record of an error response whose request `mark_logged` marked."""

    def filter(self, record: logging.LogRecord) -> bool:
        return _LOGGED not in getattr(getattr(record, "request", None), "META", {})


def log_file(given: Path | Literal["off"] | None, *, embedded: Path | None) -> Path | None:
    """Return the requested file, else the one of the embedded default, else None."""
    if given == "off":
        return None
    return given or embedded


def terminal_stream(argv: Sequence[str]) -> str:
    """Return the stream for log records: stdout for servers and workers, stderr for commands.

    The output of commands and of the MCP server on stdio is read by programs, so log records must not mix with it.
    """
    is_command = Path(argv[0] if argv else "").name in ("manage.py", "django-admin")
    is_server = "run_mcp" in argv[1:2] and "stdio" not in " ".join(argv)
    return "ext://sys.stderr" if is_command and not is_server else "ext://sys.stdout"


def logging_settings(
    *,
    file: Path | None,
    stream: str,
    secrets: Iterable[str],
    level: str,
    terminal_format: Literal["text", "json"] = "text",
) -> dict[str, Any]:
    """Return Django's `LOGGING`. The file is always text, because `read_server_logs` parses it."""
    terminal = "json" if terminal_format == "json" else "line"
    handlers: dict[str, dict[str, Any]] = {
        "terminal": {"class": "logging.StreamHandler", "stream": stream, "formatter": terminal}
    }
    if file is not None:
        handlers["file"] = {
            "class": "cms_project.logs.LogFileHandler",
            "filename": file,
            "encoding": "utf-8",
            # Opened with the first record, so that a process without records creates no file.
            "delay": True,
            "formatter": "line",
        }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "cms_project.logs.RedactingFormatter",
                "fmt": FORMAT,
                "secrets": [*secrets],
            },
            "json": {"()": "cms_project.logs.JsonFormatter", "secrets": [*secrets]},
        },
        "filters": {"unlogged": {"()": "cms_project.logs.UnloggedFilter"}},
        "handlers": handlers,
        "root": {"handlers": [*handlers], "level": level},
        "loggers": {
            # Django gives these loggers their own handlers, which would show secrets in tracebacks.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.request": {"filters": ["unlogged"]},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            "google_genai": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            # Servers set up handlers before the application is loaded. These would log full URLs, and a URL alone
            # opens drafts, invitations and password resets.
            "uvicorn": {"handlers": [], "level": "WARNING", "propagate": True},
            "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
            "granian.access": {"handlers": [], "level": "INFO", "propagate": True},
        },
    }
