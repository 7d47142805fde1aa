"""Pages of the site that processes share through Redis: one process renders a page, the others send it.

Each process has its own cache (`front_cache`) and looks here before it renders. A shared page is sent only if none of
its dependencies has changed since, which the process knows from the content version. The number of pages is bounded:
each page has one of a fixed number of slots and may overwrite another.
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
from proofroom.core.caching.content_version_cache import LiveState, lease
from proofroom.core.caching.front_cache import (
    MIN_COMPRESSED_BYTES,
    FrontAnswer,
    FrontRequest,
    compress,
    find,
)
from proofroom.core.caching.redis_cache import redis_error
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.database.replica import from_replica

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger(__name__)
SLOTS: Final = 4096
MAX_PACKED_BYTES: Final = 64 * 1024
"""Bytes of one compressed page. All slots together take at most 256 MiB."""
LIFETIME_SECONDS: Final = 600
TIMEOUT_SECONDS: Final = 0.2
"""Short, because rendering a page takes only a few milliseconds."""
PAUSE_SECONDS: Final = 30.0
"""Pause after an error of Redis."""
_FORMAT: Final = 3
_SUFFIXES: Final = (".py", ".html", ".xml", ".txt", ".md", ".svg", ".mo", ".json")
_SKIPPED_FOLDERS: Final = frozenset(
    {"__pycache__", "migrations", "node_modules", "static", "tests"}
)


class SharedAnswers:
    """Answers shared by processes of one site with the same code, templates and settings."""

    def __init__(self) -> None:
        self._known = RecentChanges(NO_STATE, {})
        self._paused_until = 0.0

    def find(self, front_request: FrontRequest) -> FrontAnswer | None:
        """Return the shared answer of this request and store it in this process, too. None if there is none.

        Calls Redis once, and runs a query if the content changed since the last call.
        """
        if not self._is_shared(front_request):
            return None
        try:
            with from_replica():
                return self._find(front_request, leased_state())
        except DATABASE_UNREACHABLE as error:
            logger.info("no shared pages while the database cannot be reached: %s", error)
            return None
        finally:
            # The front cache runs outside of Django's request cycle, which would do this.
            close_old_connections()

    def keep(self, front_request: FrontRequest) -> None:
        """Share the answer that this process has cached for a request, if any."""
        state = lease.current() if self._is_shared(front_request) else None
        # Without an epoch, another history's state could look the same. A transaction may still be
        # rolled back, so what it reads must not be shared.
        if state is None or not state.epoch or connection.in_atomic_block:
            return
        front = find(front_request)
        packed = pack(front_request.key, state, front) if front is not None else b""
        if packed:
            self._call("set", _slot_of(front_request.key, state.epoch), packed, ex=LIFETIME_SECONDS)

    def _find(self, front_request: FrontRequest, state: LiveState) -> FrontAnswer | None:
        answers.follow(state, tags_changed_since)
        found = find(front_request)
        if found is not None or not state.epoch or connection.in_atomic_block:
            return found
        packed = self._call("get", _slot_of(front_request.key, state.epoch))
        unpacked = self._unpack(front_request.key, packed) if packed else None
        if unpacked is None:
            return None
        made_at, front = unpacked
        if made_at != state and self._has_changed(front, made_at, state):
            return None
        answers.put(state, front_request.key, front)
        return front

    @staticmethod
    def _unpack(key: str, packed: bytes) -> tuple[LiveState, FrontAnswer] | None:
        try:
            return unpack(key, packed)
        # Whatever is in Redis must not fail a page that can be rendered.
        except (ValueError, TypeError, LookupError, brotli.error):
            logger.warning("a shared page cannot be read", exc_info=True)
            return None

    def _has_changed(self, front: FrontAnswer, made_at: LiveState, state: LiveState) -> bool:
        """Return whether an answer created at a state may be outdated."""
        changes = self._known
        if changes.state != state:
            changes = self._known = recent_changes()
        changed = changes.since(made_at)
        return (
            # Another replica may be behind the one that returned the state.
            EVERYTHING in changes.since(state)
            or EVERYTHING in changed
            or EVERYTHING in front.tags
            or not front.tags.isdisjoint(changed)
        )

    def _is_shared(self, front_request: FrontRequest) -> bool:
        """Return whether the answer is shared.

        Only pages are: answers of the API are rendered as fast as they are found here, and health checks must not use
        the database.
        """
        return (
            bool(settings.CMS_ENV.redis_url)
            and front_request.is_for_all
            and not front_request.query
            and len(front_request.path) <= LONGEST_KEY
            and time.monotonic() >= self._paused_until
            and _is_shared_view(front_request.path, settings.ROOT_URLCONF)
        )

    def _call(self, command: str, *arguments: Any, **options: Any) -> bytes | None:
        try:
            answer = getattr(_redis(settings.CMS_ENV.redis_url), command)(*arguments, **options)
        except redis_error() as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            logger.warning("processes share no pages for %d seconds: %s", PAUSE_SECONDS, error)
            return None
        return answer if isinstance(answer, bytes) else None


shared_answers: Final = SharedAnswers()


def share_answers(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Mark a view whose answers are slow to render, so that processes share them."""
    view.shares_answers = True  # type: ignore[attr-defined]
    return view


@lru_cache(maxsize=10_000)
def _is_shared_view(path: str, urls: str) -> bool:
    try:
        return getattr(resolve(path, urls).func, "shares_answers", False)
    except Resolver404:
        return False


def pack(key: str, state: LiveState, front: FrontAnswer) -> bytes:
    """Return an answer as bytes; empty if it is too long."""
    about = {
        "format": _FORMAT,
        "key": key,
        "state": str(state),
        "etag": front.etag,
        "headers": dict(front.headers),
        "modified": front.modified,
        "tags": sorted(front.tags),
        "lines": front.lines,
    }
    body = front.compressed.get("br") or compress(front.body, "br")
    packed = orjson.dumps(about) + b"\n" + body
    return packed if len(packed) <= MAX_PACKED_BYTES else b""


def unpack(key: str, packed: bytes) -> tuple[LiveState, FrontAnswer] | None:
    """Return the state and the answer in a slot; None if the slot has another key's answer."""
    line, _, compressed = packed.partition(b"\n")
    about = orjson.loads(line)
    # Slots are chosen by a checksum, so different keys may share one.
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
        compressed={"br": compressed} if len(body) >= MIN_COMPRESSED_BYTES else {},
    )
    return LiveState.parse(about["state"]), front


def _slot_of(key: str, epoch: str) -> str:
    """Return the slot of an answer. Other versions of the code use other slots."""
    return f"pages:{_namespace(epoch)}:{crc32(key.encode()) % SLOTS}"


@lru_cache(maxsize=4)
def _namespace(epoch: str) -> str:
    return salted_hmac("core.shared_answers", f"{epoch} {program_digest()}").hexdigest()[:24]


def program_digest() -> str:
    """Return a digest of what answers depend on besides the content: settings, code, templates and translations.

    Files count by path, size and modification time.
    """
    digest = blake2b(settings.CMS_ENV.model_dump_json().encode(), digest_size=16)
    for path in _files():
        found = path.stat()
        digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    libraries = Path(django.__file__).parent.parent
    yield libraries  # installing a package changes this folder's time, so its files need not be checked
    yield from settings.STATIC_ROOT.glob("staticfiles.json")
    templates = [folder for engine in engines.all() for folder in engine.template_dirs]
    programs = [config.path for config in apps.get_app_configs()]
    seen = libraries
    for folder in sorted(map(Path, (*templates, *programs, *settings.LOCALE_PATHS))):
        # The folders are sorted, so a subfolder follows the folder that already covers it.
        if folder.is_relative_to(libraries) or folder.is_relative_to(seen):
            continue
        seen = folder
        for root, folders, names in os.walk(folder):
            folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
            yield from (Path(root, name) for name in sorted(names) if name.endswith(_SUFFIXES))


@lru_cache(maxsize=1)
def _redis(url: str) -> Redis:
    from redis import Redis

    return Redis.from_url(
        url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
    )
