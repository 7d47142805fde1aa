"""Logs to the terminal and to a file, without secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.diagnostics.log_format import FORMAT, one_record
from core.redaction import HIDDEN, without_credentials


class RedactingFormatter(logging.Formatter):
    """Hides the given secrets, and whatever follows the name of a credential, traces included."""

    def __init__(self, *args: Any, secrets: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A short value would blank out ordinary words.
        self.secrets = sorted((s for s in secrets if len(s) >= 6), key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return one_record(without_credentials(text))


def logging_settings(*, folder: Path, secrets: Iterable[str], level: str) -> dict[str, Any]:
    """Django's `LOGGING`. The file is opened for appending, so that several processes share it."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "cms_project.logs.RedactingFormatter",
                "fmt": FORMAT,
                "secrets": list(secrets),
            }
        },
        "handlers": {
            "terminal": {"class": "logging.StreamHandler", "formatter": "line"},
            "file": {
                "class": "logging.handlers.WatchedFileHandler",
                "filename": folder / "cms.log",
                "encoding": "utf-8",
                "delay": True,
                "formatter": "line",
            },
        },
        "root": {"handlers": ["terminal", "file"], "level": level},
        "loggers": {
            # Django gives these handlers of its own, which would show traces with secrets in them.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            "google_genai": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "uvicorn": {"level": "WARNING"},
        },
    }
