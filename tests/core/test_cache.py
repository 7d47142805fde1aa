"""Without Redis, answers and rate limits work per process, and the log reports it without filling up."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from redis.exceptions import RedisError

from proofroom.core.caching import redis_cache
from proofroom.core.caching.redis_cache import CountingRedisCache, count_hit
from proofroom.core.minute_throttle import MinuteTimer
from tests import make
from tests.api_client import ApiClient
from tests.ports import free_port


@pytest.fixture
def no_redis(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "proofroom.core.caching.redis_cache.CountingRedisCache",
            "LOCATION": f"redis://127.0.0.1:{free_port()}/0",
        }
    }
    monkeypatch.setattr(redis_cache, "_outage_logged", MinuteTimer())
    monkeypatch.setattr(redis_cache, "_failed_at", None)
    redis_cache._local_counters.clear()


def test_hits_are_counted_here_and_one_line_a_minute_says_so(
    no_redis: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.ERROR, logger="proofroom.core.caching.redis_cache"):
        assert [count_hit("key", 60) for _ in range(3)] == [1, 2, 3]
        assert count_hit("another", 60) == 1
        assert len(caplog.records) == 1
        monkeypatch.setattr(redis_cache, "_outage_logged", MinuteTimer())
        monkeypatch.setattr(redis_cache, "_PAUSE_SECONDS", 0)
        assert count_hit("key", 60, 40) == 43

    assert len(caplog.records) == 2
    assert "counts rate limits on its own" in caplog.records[0].message


def test_a_redis_that_failed_is_left_alone_for_a_while(
    no_redis: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fail(self: CountingRedisCache, key: str, seconds: int, hits: int) -> int:
        asked.append(key)
        raise RedisError("away")

    monkeypatch.setattr(CountingRedisCache, "count", fail)

    for _ in range(5):
        count_hit("key", 60)

    assert asked == ["key"]


@pytest.mark.django_db
def test_threat_57_limits_hold_without_redis(no_redis: None, settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "login": "2/hour"}
    body = {"email": "nobody@example.com", "password": "x"}

    found = [
        Client().post("/api/auth/login", body, content_type="application/json").status_code
        for _ in range(3)
    ]

    assert found == [401, 401, 429]


@pytest.mark.django_db
def test_sessions_need_no_redis(no_redis: None) -> None:
    client = ApiClient()
    client.write(
        "POST",
        "/api/auth/login",
        {"email": make.user("editor").email, "password": make.PASSWORD},
    )

    assert client.read("/api/auth/me")["username"] == "editor"


def test_one_that_failed_keeps_no_further_call_waiting(
    no_redis: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fail(self: Any, name: str) -> Any:
        asked.append(name)
        raise RedisError("it says nothing")

    for name in ("get", "set", "has_key"):
        monkeypatch.setattr(
            f"django.core.cache.backends.redis.RedisCache.{name}",
            lambda self, *args, n=name: fail(self, n),
        )
    cache = caches["default"]

    assert cache.get("key", "none") == "none"
    cache.set("key", "value")
    assert cache.has_key("key") is False
    assert count_hit("limit", 60) == 1
    assert asked == ["get"]

    monkeypatch.setattr(redis_cache, "_PAUSE_SECONDS", 0)
    cache.set("key", "value")
    assert asked == ["get", "set"]


def test_what_cannot_be_deleted_is_an_error(no_redis: None) -> None:
    """It must not return when its Redis returns."""
    with pytest.raises(RedisError):
        caches["default"].delete("key")
