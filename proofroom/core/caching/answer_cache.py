"""Whole answers of the delivery API and the site, kept in the process as long as the content version stands."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

MAX_CACHE_BYTES: Final = 32 * 1024 * 1024
LONGEST_KEY: Final = 500
_EACH: Final = 300


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A body with its ETag, and the headers that go with it."""

    body: bytes
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)


def _size(key: str, answer: CachedAnswer) -> int:
    """Return what an answer takes, with its address: of empty answers there could else be any number."""
    return len(answer.body) + len(key) + _EACH


class AnswerCache:
    """The most recently used answers of one content version, bounded in bytes.

    A new version drops all of them: nothing is invalidated by hand.
    """

    def __init__(self, most_bytes: int = MAX_CACHE_BYTES) -> None:
        self._most = most_bytes
        self._size = 0
        self._version = 0
        self._kept: OrderedDict[str, CachedAnswer] = OrderedDict()
        self._lock = Lock()

    def get(self, version: int, key: str) -> CachedAnswer | None:
        with self._lock:
            if version != self._version:
                return None
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(
        self, version: int, key: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> CachedAnswer:
        answer = CachedAnswer(body, f'"{hashlib.sha256(body).hexdigest()[:24]}"', headers or {})
        with self._lock:
            if version < self._version or len(key) > LONGEST_KEY:
                return answer  # read before a change that is already known
            if version > self._version:
                self._kept.clear()
                self._size, self._version = 0, version
            replaced = self._kept.pop(key, None)
            self._size += _size(key, answer) - (_size(key, replaced) if replaced else 0)
            self._kept[key] = answer
            while self._size > self._most and self._kept:
                self._size -= _size(*self._kept.popitem(last=False))
        return answer

    def clear(self) -> None:
        """Forget the version too: whatever comes next may be kept."""
        with self._lock:
            self._kept.clear()
            self._size = self._version = 0


answers: Final = AnswerCache()
