"""Redis as Django's cache, with one client per pool and counting in one round trip."""

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

from proofroom.core.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
T = TypeVar("T")
_LEAVE_ALONE_SECONDS: Final = 5
_outage_logged: Final = OnceAMinute()
_failed_at: float | None = None
_here: Final = LocMemCache("limits", {"OPTIONS": {"MAX_ENTRIES": 100_000}})
"""Where hits are counted while Redis cannot be reached: by each process for itself."""


def redis_error() -> type[Exception]:
    """The error of a Redis that cannot be reached. Asked for where one was raised: a site without Redis does not load
    the library, which takes longer than Django's models.
    """
    from redis.exceptions import RedisError

    return RedisError


class KeptClient(RedisCacheClient):
    """Django makes a client for each call, which costs more than the call; one is safe to share."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._clients: dict[int, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        pool = self._get_connection_pool(write)  # type: ignore[attr-defined]  # missing from the stubs
        client = self._clients.get(id(pool))
        if client is None:
            client = self._clients[id(pool)] = super().get_client(key, write=write)
        return client


class CountingRedisCache(RedisCache):
    """The backend of `CACHES` where there is a Redis. While it cannot be reached nothing is found in it.

    One that failed is not asked for a few seconds: a Redis that says nothing would keep every call waiting, several
    times. What cannot be deleted is an error all the same: a session that was ended must not come back with it.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = KeptClient

    @cached_property
    def _script(self) -> Any:
        # The counter and its end are set together: a key without an end would count for ever.
        return self._cache.get_client(write=True).register_script(
            "local n = redis.call('INCRBY', KEYS[1], ARGV[2]) "
            "if n == tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[1]) end return n"
        )

    def count(self, key: str, seconds: int, hits: int = 1) -> int:
        """Further hits of a key that ends `seconds` after its first; how many there are now."""
        return int(self._script(keys=[self.make_and_validate_key(key)], args=[seconds, hits]))

    def seen(self, keys: list[str]) -> dict[str, int]:
        """The hits of those keys that have any."""
        return dict(self.get_many(keys))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return _asked(lambda: super(CountingRedisCache, self).get(key, default, version), default)

    def set(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        _asked(lambda: super(CountingRedisCache, self).set(key, value, *args, **kwargs), None)

    def has_key(self, key: Any, version: int | None = None) -> bool:
        return _asked(lambda: bool(super(CountingRedisCache, self).has_key(key, version)), False)


def count_hit(key: str, seconds: int, hits: int = 1) -> int:
    """Further hits of a key that ends `seconds` after its first; how many there are now. Atomic.

    Where Redis cannot be reached each process counts for itself: limits are looser then, and still limits.
    """
    backend = caches["default"]
    if not isinstance(backend, CountingRedisCache):
        return _count_in(backend, key, seconds, hits)
    counted = _asked(lambda: backend.count(key, seconds, hits), None)
    return counted if counted is not None else _count_in(_here, key, seconds, hits)


def count_seen(keys: list[str]) -> list[int]:
    """How many hits `count_hit` has counted for each key."""
    backend = caches["default"]
    if isinstance(backend, CountingRedisCache):
        counted = _asked(lambda: backend.seen(keys), None)
        found = counted if counted is not None else _here.get_many(keys)
    else:
        found = backend.get_many(keys)
    return [int(found.get(key, 0)) for key in keys]


def _asked(question: Callable[[], T], otherwise: T) -> T:
    """What Redis answers, or `otherwise` while it cannot be reached."""
    global _failed_at
    if _failed_at is not None and time.monotonic() - _failed_at < _LEAVE_ALONE_SECONDS:
        return otherwise
    try:
        return question()
    except redis_error() as error:
        _failed_at = time.monotonic()
        _say(error)
        return otherwise


def _count_in(backend: BaseCache, key: str, seconds: int, hits: int) -> int:
    # Added, then increased: both atomic, so that concurrent calls cannot pass the limit together.
    backend.add(key, 0, seconds)
    try:
        return backend.incr(key, hits)
    except ValueError:  # it expired in between
        return hits


def _say(error: Exception) -> None:
    """Log that Redis is away, at most once a minute: every request comes by here."""
    if _outage_logged.is_due():
        logger.error("Redis cannot be reached; each process counts rate limits alone: %s", error)
