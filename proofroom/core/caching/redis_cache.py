"""Redis as Django's cache, with one client per pool and atomic counters in one round trip."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeVar

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from proofroom.core.minute_throttle import MinuteTimer

logger = logging.getLogger(__name__)
T = TypeVar("T")
_PAUSE_SECONDS: Final = 5
_outage_logged: Final = MinuteTimer()
_failed_at: float | None = None
_local_counters: Final = LocMemCache("limits", {"OPTIONS": {"MAX_ENTRIES": 100_000}})
"""Counters of this process while Redis is unreachable."""


def redis_error() -> type[Exception]:
    """Return the exception class of Redis. Call it only where such an error may occur.

    A site without Redis does not import the library, which takes longer than importing Django's models.
    """
    from redis.exceptions import RedisError

    return RedisError


class ReusedClient(RedisCacheClient):
    """Reuses one client.

    Django creates one for each call, which costs more than the call; clients are thread-safe.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._clients: dict[int, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        pool = self._get_connection_pool(write)  # type: ignore[attr-defined]  # missing in the stubs
        client = self._clients.get(id(pool))
        if client is None:
            client = self._clients[id(pool)] = super().get_client(key, write=write)
        return client


class CountingRedisCache(RedisCache):
    """The backend of `CACHES` if there is a Redis. While it is unreachable, reads find nothing.

    After a failure it is not called for a few seconds: a Redis that does not answer would delay every request,
    several times. A failed deletion still raises an error: what was deleted must not return with Redis.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        # Django has no option for the client class.
        self._class = ReusedClient

    @cached_property
    def _script(self) -> Any:
        # Set the counter and its expiry together: a key without expiry would count forever.
        return self._cache.get_client(write=True).register_script(
            "local n = redis.call('INCRBY', KEYS[1], ARGV[2]) "
            "if n == tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[1]) end return n"
        )

    def count(self, key: str, seconds: int, hits: int = 1) -> int:
        """Add hits to a key that expires `seconds` after its first hit, and return the total."""
        return int(self._script(keys=[self.make_and_validate_key(key)], args=[seconds, hits]))

    def seen(self, keys: list[str]) -> dict[str, int]:
        """Return the hits of the keys that have any."""
        return dict(self.get_many(keys))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return _call_redis(
            lambda: super(CountingRedisCache, self).get(key, default, version), default
        )

    def set(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        _call_redis(lambda: super(CountingRedisCache, self).set(key, value, *args, **kwargs), None)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return _call_redis(
            lambda: bool(super(CountingRedisCache, self).has_key(key, version)), False
        )


def count_hit(key: str, seconds: int, hits: int = 1) -> int:
    """Add hits to a key that expires `seconds` after its first hit, and return the total. Atomic.

    While Redis is unreachable, each process counts for itself: limits are then looser, but still limits.
    """
    backend = caches["default"]
    if not isinstance(backend, CountingRedisCache):
        return _count_in(backend, key, seconds, hits)
    counted = _call_redis(lambda: backend.count(key, seconds, hits), None)
    return counted if counted is not None else _count_in(_local_counters, key, seconds, hits)


def get_hit_counts(keys: list[str]) -> list[int]:
    """Return the hits that `count_hit` has counted for each key."""
    backend = caches["default"]
    if isinstance(backend, CountingRedisCache):
        counted = _call_redis(lambda: backend.seen(keys), None)
        found = counted if counted is not None else _local_counters.get_many(keys)
    else:
        found = backend.get_many(keys)
    return [int(found.get(key, 0)) for key in keys]


def _call_redis(call: Callable[[], T], fallback: T) -> T:
    """Call Redis, or return `fallback` while it is unreachable."""
    global _failed_at
    if _failed_at is not None and time.monotonic() - _failed_at < _PAUSE_SECONDS:
        return fallback
    try:
        return call()
    except redis_error() as error:
        _failed_at = time.monotonic()
        _log_outage(error)
        return fallback


def _count_in(backend: BaseCache, key: str, seconds: int, hits: int) -> int:
    # Both steps are atomic, so that concurrent calls cannot exceed the limit together.
    backend.add(key, 0, seconds)
    try:
        return backend.incr(key, hits)
    except ValueError:  # it expired in between
        return hits


def _log_outage(error: Exception) -> None:
    """Log that Redis is unreachable, at most once a minute, because every request would log it."""
    if _outage_logged.is_due():
        logger.error("cannot reach Redis; each process counts rate limits on its own: %s", error)
