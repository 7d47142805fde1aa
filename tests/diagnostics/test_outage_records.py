"""A database outage is logged once a minute, for any number of refused requests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from cms_project.observability import is_of_outage
from proofroom.core.database import errors as database_errors
from proofroom.core.database.errors import log_database_unreachable
from proofroom.core.minute_throttle import MinuteTimer

AWAY = psycopg.OperationalError("connection timeout expired")


def test_one_in_a_minute_is_due() -> None:
    times: Iterator[float] = iter([5.0, 6.0, 64.9, 65.0, 124.0])
    gate = MinuteTimer(lambda: next(times))

    assert [gate.is_due() for _ in range(5)] == [True, False, False, True, False]


def test_refused_requests_are_one_error_and_then_information(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database_errors, "_outage_logged", MinuteTimer())
    caplog.set_level(logging.INFO)

    for number in range(3):
        log_database_unreachable(AWAY, f"GET /{number}")

    assert [(one.levelname, one.message) for one in caplog.records] == [
        (level, f"GET /{number}: the database cannot be reached: connection timeout expired")
        for number, level in enumerate(["ERROR", "INFO", "INFO"])
    ]


@pytest.mark.parametrize(
    ("hint", "is_one"),
    [
        ({"exc_info": (type(AWAY), AWAY, None)}, True),
        ({"log_record": logging.makeLogRecord({"name": database_errors.logger.name})}, True),
        ({"log_record": logging.makeLogRecord({"name": "django.request"})}, False),
        ({"exc_info": (ValueError, ValueError("of ours"), None)}, False),
        ({}, False),
    ],
)
def test_outages_are_recognized_in_hints(hint: dict[str, Any], is_one: bool) -> None:
    assert is_of_outage(hint) is is_one


def _away(request: HttpRequest) -> HttpResponse:
    raise OperationalError(str(AWAY)) from AWAY


urlpatterns = [path("", _away), path("broken", lambda request: _broken(request))]
handler500 = "cms_project.errors.server_error"


@pytest.mark.urls(__name__)
def test_a_refused_request_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    """Django would log the answer once more, with a traceback."""
    monkeypatch.setattr(database_errors, "_outage_logged", MinuteTimer())
    client.raise_request_exception = False

    answer = client.get("/")

    assert answer.status_code == 503
    errors = [one.name for one in caplog.records if one.levelno >= logging.ERROR]
    assert errors == [database_errors.logger.name]


def _broken(request: HttpRequest) -> HttpResponse:
    raise ValueError("of ours")


@pytest.mark.urls(__name__)
def test_any_other_error_is_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    client.raise_request_exception = False

    assert client.get("/broken").status_code == 500

    [record] = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert (record.name, record.exc_info is not None) == ("django.request", True)


def test_a_site_that_is_not_ready_is_logged_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    monkeypatch.setattr("cms_project.urls.readiness", lambda: (503, {"missing": ["database"]}))

    assert client.get("/health/ready").status_code == 503

    assert [one for one in caplog.records if one.name == "django.request"] == []
