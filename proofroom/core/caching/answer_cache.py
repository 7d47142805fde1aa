"""Whole answers of the delivery API and the site, cached in the process until their dependencies change."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, cast

import orjson
from django.conf import settings

from proofroom.core.caching.content_tags import EVERYTHING
from proofroom.core.caching.content_version_cache import LiveState
from proofroom.core.database.trial_writes import in_trial
from proofroom.core.json import Json

LONGEST_KEY: Final = 2_000
_OVERHEAD_BYTES: Final = 300
_TAG_BYTES: Final = 150


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A body with its ETag and headers.

    `modified` is the time from which it is valid, in seconds since the epoch. `tags` are its dependencies. Without an
    ETag it is always sent whole.
    """

    body: bytes
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)
    modified: int | None = None
    tags: frozenset[str] = frozenset({EVERYTHING})

    @property
    def size(self) -> int:
        return len(self.body)


def etag_of(body: bytes, name: str = "") -> str:
    """Return the ETag of a body. `name` separates the variants of a URL."""
    digest = hashlib.sha256(body).hexdigest()[:24]
    return f'"{digest}-{name}"' if name else f'"{digest}"'


class AnswerCache:
    """The most recently used answers of one state of the content, bounded in bytes.

    `follow` moves it to the next state and drops the answers whose tags have changed since. It is empty in trial
    writes, and stores none of what they show.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._size = 0
        self._state: LiveState | None = None
        self._answers: OrderedDict[str, CachedAnswer] = OrderedDict()
        self._by_tag: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = Lock()

    def get(self, state: LiveState, key: str) -> CachedAnswer | None:
        if in_trial():
            return None
        with self._lock:
            if state != self._state:
                return None
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def put(self, state: LiveState, key: str, answer: CachedAnswer) -> None:
        """Store an answer read at the cache's state. An answer of another state may be outdated and is ignored."""
        if in_trial():
            return
        with self._lock:
            self._state = self._state or state
            if state != self._state or len(key) > LONGEST_KEY:
                return
            self._drop(key)
            self._answers[key] = answer
            self._size += _size(key, answer)
            for tag in answer.tags:
                self._by_tag[tag].add(key)
            # The first entry is the least recently used one.
            while self._size > self.most_bytes and self._answers:
                self._drop(next(iter(self._answers)))

    def get_value(self, state: LiveState, key: str) -> Json:
        """Return a value stored with `put_value`; None if there is none."""
        answer = self.get(state, key)
        return None if answer is None else cast(Json, orjson.loads(answer.body))

    def put_value(self, state: LiveState, key: str, value: Json, tag: str) -> None:
        """Store an intermediate value, such as an expensive count, until the tag changes."""
        self.put(state, key, CachedAnswer(orjson.dumps(value), etag="", tags=frozenset({tag})))

    def follow(
        self, state: LiveState, tags_changed_since: Callable[[LiveState], Collection[str]]
    ) -> None:
        """Move the cache to a state. `tags_changed_since` is called only if there is something to drop.

        Drops everything if the database no longer has the changes since the cache's state.
        """
        while True:
            with self._lock:
                known, is_empty = self._state, not self._answers
            if state == known:
                return
            # Without the lock, because it may query the database.
            changed = () if is_empty or known is None else tags_changed_since(known)
            with self._lock:
                # Another thread may have moved the state or stored the first answer while the tags
                # were read.
                if self._state != known or (is_empty and self._answers):
                    continue
                if EVERYTHING in changed:
                    self._drop_all()
                elif known is not None and state.version < known.version and not is_empty:
                    return  # the caller read its state before the cache's state
                # Answers without specific tags depend on everything, so any change drops them.
                for tag in (EVERYTHING, *changed):
                    for key in tuple(self._by_tag.get(tag, ())):
                        self._drop(key)
                self._state = state
                return

    def clear(self) -> None:
        """Drop all answers and the state, so that answers of any state may follow."""
        with self._lock:
            self._drop_all()
            self._state = None

    def _drop_all(self) -> None:
        self._answers.clear()
        self._by_tag.clear()
        self._size = 0

    def _drop(self, key: str) -> None:
        answer = self._answers.pop(key, None)
        if answer is None:
            return
        self._size -= _size(key, answer)
        for tag in answer.tags:
            keys = self._by_tag[tag]
            keys.discard(key)
            if not keys:
                del self._by_tag[tag]


def _size(key: str, answer: CachedAnswer) -> int:
    """Return the estimated bytes of an answer with its key.

    Without the overhead, empty answers would never fill the cache.
    """
    return answer.size + len(key) + _OVERHEAD_BYTES + _TAG_BYTES * len(answer.tags)


answers: Final = AnswerCache(settings.KEPT_ANSWERS_BYTES)
