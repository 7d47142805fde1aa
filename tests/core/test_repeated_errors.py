"""Repeated errors are logged at intervals, others immediately."""

from __future__ import annotations

import logging

import pytest
from django.core.cache import cache

from proofroom.core.repeated_errors import log_once

logger = logging.getLogger("proofroom.tests")


def test_an_error_is_logged_once_and_another_at_once(caplog: pytest.LogCaptureFixture) -> None:
    cache.clear()
    errors = [
        OSError("<connection at 0x7f01> refused"),
        OSError("<connection at 0x7f02> refused"),
        OSError("no such host"),
        ValueError("no such host"),
    ]

    for error in errors:
        log_once(logger, "It failed.", error)
    log_once(logger, "It failed otherwise.", errors[0])

    logged = [record.exc_info for record in caplog.records]
    assert [info[1] for info in logged if info] == [errors[0], errors[2], errors[3], errors[0]]
