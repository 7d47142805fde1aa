"""Redis as Django's cache, with one client per pool and counting in one round trip."""

from __future__ import annotations

import logging
import time
from functools import cached_property
from typing import Any, Final

from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
_SAY_AGAIN_SECONDS: Final = 60
_said_at: float | None = None


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
    """The backend of `CACHES` where there is a Redis."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = KeptClient

    @cached_property
    def _script(self) -> Any:
        # The counter and its end are set together: a key without an end would count for ever.
        return self._cache.get_client(write=True).register_script(
            "local n = redis.call('INCR', KEYS[1]) "
            "if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end return n"
        )

    def count(self, key: str, seconds: int) -> int:
        """One more hit of a key that ends `seconds` after its first; how many there are now."""
        return int(self._script(keys=[self.make_and_validate_key(key)], args=[seconds]))


def count_hit(key: str, seconds: int) -> int:
    """One more hit of a key that ends `seconds` after its first; how many there are now. Atomic.

    0 where Redis cannot be reached: limits are off then, which is better than answering nobody.
    """
    backend = caches["default"]
    if isinstance(backend, CountingRedisCache):
        try:
            return backend.count(key, seconds)
        except RedisError as error:
            _say_uncounted(error)
            return 0
    # Added, then increased: both atomic, so that concurrent calls cannot pass the limit together.
    backend.add(key, 0, seconds)
    try:
        return backend.incr(key)
    except ValueError:  # it expired in between
        return 1


def _say_uncounted(error: RedisError) -> None:
    """Log that limits are off, at most once a minute: every request comes by here."""
    global _said_at
    now = time.monotonic()
    if _said_at is None or now - _said_at >= _SAY_AGAIN_SECONDS:
        _said_at = now
        logger.error("Redis cannot be reached, so no rate limit holds: %s", error)
