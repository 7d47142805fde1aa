"""Pages of the site that its processes share, in Redis: one makes a page, the others send it.

Each process keeps answers itself (`front_cache`); this is where it looks before it makes one. What is found there is
sent only where nothing that it depends on has changed since it was made, which this process knows from the content
version. How many there are is bounded, whatever is asked for: each has one of a number of slots, and takes it from
another.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import brotli
import django
import orjson
from django.apps import apps
from django.conf import settings
from django.db import close_old_connections, connection
from django.http.response import HttpResponseBase
from django.template import engines
from django.urls import Resolver404, resolve
from django.utils.crypto import salted_hmac

from proofroom.core.caching.answer_cache import LONGEST_KEY, answers
from proofroom.core.caching.content_tags import EVERYTHING
from proofroom.core.caching.content_version import (
    NO_STATE,
    RecentChanges,
    leased_state,
    recent_changes,
    tags_changed_since,
)
from proofroom.core.caching.front_cache import (
    MIN_COMPRESSED_BYTES,
    FrontAnswer,
    FrontRequest,
    compress,
    find,
)
from proofroom.core.caching.redis_cache import redis_error
from proofroom.core.caching.version_lease import LiveState, lease
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.database.replica import from_replica

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger(__name__)
SLOTS: Final = 4096
MAX_PACKED_BYTES: Final = 64 * 1024
"""Of one page, compressed: a quarter of a gigabyte is the most that all of them can take."""
LIFETIME_SECONDS: Final = 600
TIMEOUT_SECONDS: Final = 0.2
"""Making a page takes a few milliseconds: nobody waits long for one that is made."""
PAUSE_SECONDS: Final = 30.0
"""Redis is left alone for so long after it failed."""
_FORMAT: Final = 2
_SUFFIXES: Final = (".py", ".html", ".xml", ".txt", ".md", ".svg", ".mo", ".json")
_NO_PROGRAMS: Final = frozenset({"__pycache__", "migrations", "node_modules", "static", "tests"})


class SharedAnswers:
    """What is shared by processes of one site with the same programs, templates and settings."""

    def __init__(self) -> None:
        self._known = RecentChanges(NO_STATE, {})
        self._paused_until = 0.0

    def find(self, asked: FrontRequest) -> FrontAnswer | None:
        """What another process keeps for this request, which this one then keeps too. None where there is nothing.

        One question to Redis, and a query where something changed since this process last asked what did.
        """
        if not self._is_shared(asked):
            return None
        try:
            with from_replica():
                return self._find(asked, leased_state())
        except DATABASE_AWAY as error:
            logger.info("shared pages were not looked at: %s", error)
            return None
        finally:
            # As Django does after a request.
            close_old_connections()

    def keep(self, asked: FrontRequest) -> None:
        """Share what this process keeps for a request. What it does not keep, nobody else gets."""
        state = lease.current() if self._is_shared(asked) else None
        if state is None or not state.epoch or connection.in_atomic_block:
            return
        front = find(asked)
        packed = pack(asked.key, state, front) if front is not None else b""
        if packed:
            self._call("set", _slot_of(asked.key, state.epoch), packed, ex=LIFETIME_SECONDS)

    def _find(self, asked: FrontRequest, state: LiveState) -> FrontAnswer | None:
        answers.follow(state, tags_changed_since)
        found = find(asked)
        if found is not None or not state.epoch or connection.in_atomic_block:
            return found
        packed = self._call("get", _slot_of(asked.key, state.epoch))
        unpacked = unpack(asked.key, packed) if packed else None
        if unpacked is None:
            return None
        made_at, front = unpacked
        if made_at != state and self._has_changed(front, made_at, state):
            return None
        answers.put(state, asked.key, front)
        return front

    def _has_changed(self, front: FrontAnswer, made_at: LiveState, state: LiveState) -> bool:
        """Whether what was made at a state may be another answer now."""
        changes = self._known
        if changes.state != state:
            changes = self._known = recent_changes()
        changed = changes.since(made_at)
        return (
            # Another replica may be behind the one that told the state.
            EVERYTHING in changes.since(state)
            or EVERYTHING in changed
            or EVERYTHING in front.tags
            or not front.tags.isdisjoint(changed)
        )

    def _is_shared(self, asked: FrontRequest) -> bool:
        """Only pages, of which the database is asked anyway, as the checks of health must not: an answer of the API
        takes hardly longer to make than to find here."""
        return (
            bool(settings.CMS_ENV.redis_url)
            and asked.is_for_all
            and not asked.query
            and len(asked.path) <= LONGEST_KEY
            and time.monotonic() >= self._paused_until
            and _is_shared_view(asked.path, settings.ROOT_URLCONF)
        )

    def _call(self, command: str, *arguments: Any, **options: Any) -> bytes | None:
        try:
            answer = getattr(_redis(settings.CMS_ENV.redis_url), command)(*arguments, **options)
        except redis_error() as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            logger.warning("pages are not shared for %d seconds: %s", PAUSE_SECONDS, error)
            return None
        return answer if isinstance(answer, bytes) else None


shared_answers: Final = SharedAnswers()


def share_answers(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Mark a view whose answers take long to make, so that processes share them."""
    view.shares_answers = True  # type: ignore[attr-defined]
    return view


@lru_cache(maxsize=10_000)
def _is_shared_view(path: str, urls: str) -> bool:
    try:
        return getattr(resolve(path, urls).func, "shares_answers", False)
    except Resolver404:
        return False


def pack(key: str, state: LiveState, front: FrontAnswer) -> bytes:
    """An answer in bytes; none for one that is too long."""
    about = {
        "format": _FORMAT,
        "key": key,
        "state": str(state),
        "etag": front.etag,
        "headers": dict(front.headers),
        "modified": front.modified,
        "tags": sorted(front.tags),
        "lines": front.lines,
        "scope": front.scope,
    }
    body = front.compressed.get("br") or compress(front.body, "br")
    packed = orjson.dumps(about) + b"\n" + body
    return packed if len(packed) <= MAX_PACKED_BYTES else b""


def unpack(key: str, packed: bytes) -> tuple[LiveState, FrontAnswer] | None:
    """The state that an answer was made at, and the answer; None where the slot holds another key's."""
    line, _, compressed = packed.partition(b"\n")
    about = orjson.loads(line)
    if (about["format"], about["key"]) != (_FORMAT, key):
        return None
    body = brotli.decompress(compressed)
    front = FrontAnswer(
        body=body,
        etag=about["etag"],
        headers=about["headers"],
        modified=about["modified"],
        tags=frozenset(about["tags"]),
        lines=tuple((name, value) for name, value in about["lines"]),
        scope=about["scope"],
        compressed={"br": compressed} if len(body) >= MIN_COMPRESSED_BYTES else {},
    )
    return LiveState.parse(about["state"]), front


def _slot_of(key: str, epoch: str) -> str:
    """Where an answer is. What another program makes of the same content has slots of its own."""
    return f"pages:{_maker(epoch)}:{crc32(key.encode()) % SLOTS}"


@lru_cache(maxsize=4)
def _maker(epoch: str) -> str:
    return salted_hmac("core.shared_answers", f"{epoch} {program_digest()}").hexdigest()[:24]


def program_digest() -> str:
    """What answers depend on besides content: settings, and programs, templates and words by their files' time."""
    digest = blake2b(settings.CMS_ENV.model_dump_json().encode(), digest_size=16)
    for path in _files():
        found = path.stat()
        digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    libraries = Path(django.__file__).parent.parent
    yield libraries  # changes with what is installed in it, so that nothing of it needs to be looked at
    yield from settings.STATIC_ROOT.glob("staticfiles.json")
    templates = [folder for engine in engines.all() for folder in engine.template_dirs]
    programs = [config.path for config in apps.get_app_configs()]
    seen = libraries
    for folder in sorted(map(Path, (*templates, *programs, *settings.LOCALE_PATHS))):
        if folder.is_relative_to(libraries) or folder.is_relative_to(seen):
            continue
        seen = folder
        for root, folders, names in os.walk(folder):
            folders[:] = sorted(set(folders) - _NO_PROGRAMS)
            yield from (Path(root, name) for name in sorted(names) if name.endswith(_SUFFIXES))


@lru_cache(maxsize=1)
def _redis(url: str) -> Redis:
    from redis import Redis

    return Redis.from_url(
        url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
    )
