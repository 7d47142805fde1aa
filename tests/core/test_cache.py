"""Limits without their Redis: everybody is answered, and the log says so without filling up."""

from __future__ import annotations

import logging
import socket
from typing import Any

import pytest
from django.test import Client

from core import cache
from core.cache import count_hit
from mcp_bridge.rate import count_call


@pytest.fixture
def no_redis(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings.CACHES = {
        "default": {
            "BACKEND": "core.cache.CountingRedisCache",
            "LOCATION": f"redis://127.0.0.1:{port}/0",
        }
    }
    monkeypatch.setattr(cache, "_said_at", None)


def test_every_call_is_let_through_and_one_line_a_minute_says_so(
    no_redis: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.ERROR, logger="core.cache"):
        assert [count_hit("key", 60) for _ in range(3)] == [0, 0, 0]
        assert len(caplog.records) == 1
        monkeypatch.setattr(cache, "_SAY_AGAIN_SECONDS", 0)
        count_hit("key", 60)

    assert len(caplog.records) == 2
    assert "no rate limit holds" in caplog.records[0].message


@pytest.mark.django_db
def test_limited_endpoints_answer(no_redis: None, settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "login": "1/hour"}
    body = {"email": "nobody@example.com", "password": "x"}

    found = [
        Client().post("/api/auth/login", body, content_type="application/json").status_code
        for _ in range(3)
    ]

    assert found == [401, 401, 401]
    for _ in range(3):
        count_call("token")
