"""Whole answers of the delivery API and the site, kept in the process until what they depend on changes."""

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
from proofroom.core.caching.version_lease import LiveState
from proofroom.core.json import Json

LONGEST_KEY: Final = 500
_EACH: Final = 300
_EACH_TAG: Final = 150


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A body with its ETag, the headers that go with it, and the second since when it is the answer.

    `tags` name what it depends on. One without an ETag is sent whole to whoever asks for it again.
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
    """The ETag of a body, as one of the forms that an address has."""
    digest = hashlib.sha256(body).hexdigest()[:24]
    return f'"{digest}-{name}"' if name else f'"{digest}"'


class AnswerCache:
    """The most recently used answers of one state of the content, bounded in bytes.

    `follow` takes it to the next state, and drops what depends on what changed until there.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._size = 0
        self._state: LiveState | None = None
        self._kept: OrderedDict[str, CachedAnswer] = OrderedDict()
        self._by_tag: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = Lock()

    def get(self, state: LiveState, key: str) -> CachedAnswer | None:
        with self._lock:
            if state != self._state:
                return None
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, state: LiveState, key: str, answer: CachedAnswer) -> None:
        """Keep an answer that was read at the state that the cache is at; what was read at another one may be old."""
        with self._lock:
            self._state = self._state or state
            if state != self._state or len(key) > LONGEST_KEY:
                return
            self._drop(key)
            self._kept[key] = answer
            self._size += _size(key, answer)
            for tag in answer.tags:
                self._by_tag[tag].add(key)
            while self._size > self.most_bytes and self._kept:
                self._drop(next(iter(self._kept)))

    def get_value(self, state: LiveState, key: str) -> Json:
        """A value that `put_value` kept; None where there is none."""
        kept = self.get(state, key)
        return None if kept is None else cast(Json, orjson.loads(kept.body))

    def put_value(self, state: LiveState, key: str, value: Json, tag: str) -> None:
        """Keep what an answer is made with, such as a number that takes long to count, until the tag changes."""
        self.put(state, key, CachedAnswer(orjson.dumps(value), etag="", tags=frozenset({tag})))

    def follow(
        self, state: LiveState, tags_changed_since: Callable[[LiveState], Collection[str]]
    ) -> None:
        """Take the cache to a state. Asks for the tags that changed only where there is something to drop.

        Everything is dropped where the database no longer knows the state that the cache is at.
        """
        while True:
            with self._lock:
                known, is_empty = self._state, not self._kept
            if state == known:
                return
            changed = () if is_empty or known is None else tags_changed_since(known)
            with self._lock:
                # Another thread may have been as far, or have kept the first answer meanwhile.
                if self._state != known or (is_empty and self._kept):
                    continue
                if EVERYTHING in changed:
                    self._drop_all()
                elif known is not None and state.version < known.version and not is_empty:
                    return  # it was read before what the cache knows
                for tag in (EVERYTHING, *changed):
                    for key in tuple(self._by_tag.get(tag, ())):
                        self._drop(key)
                self._state = state
                return

    def clear(self) -> None:
        """Forget the state too: whatever comes next may be kept."""
        with self._lock:
            self._drop_all()
            self._state = None

    def _drop_all(self) -> None:
        self._kept.clear()
        self._by_tag.clear()
        self._size = 0

    def _drop(self, key: str) -> None:
        answer = self._kept.pop(key, None)
        if answer is None:
            return
        self._size -= _size(key, answer)
        for tag in answer.tags:
            keys = self._by_tag[tag]
            keys.discard(key)
            if not keys:
                del self._by_tag[tag]


def _size(key: str, answer: CachedAnswer) -> int:
    """Return what an answer takes, with its address: of empty answers there could else be any number."""
    return answer.size + len(key) + _EACH + _EACH_TAG * len(answer.tags)


answers: Final = AnswerCache(settings.KEPT_ANSWERS_BYTES)
