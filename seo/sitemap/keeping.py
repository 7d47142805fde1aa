"""The sitemap that was made, kept in the cache for each of the site's names, and made by one at a time."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from django.core.cache import cache
from redis.exceptions import RedisError

from core.events import content_version
from seo.sitemap.addresses import entry_of, escaped
from seo.sitemap.rows import listed_posts
from seo.sitemap.writing import Document, Limits, index_of, parts_of

FRESH_SECONDS: Final = 300
_KEPT_SECONDS: Final = 3600
"""An old one is still answered while a new one is made, and stays where nothing changed."""
_LOCKED_SECONDS: Final = 120
_WAIT_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05
LIMITS = Limits()


class NotReady(Exception):
    """Somebody else makes it and takes long, or nothing can be kept: ask again later."""


@dataclass(frozen=True, slots=True)
class Build:
    """A sitemap as it was made. `digests` are those of its files, `/sitemap.xml` first."""

    id: str
    urls: int
    built_at: float
    fresh_until: float
    version: int
    digests: tuple[str, ...]

    @property
    def parts(self) -> int:
        """Files that hold addresses: one, or those that the index names."""
        return max(1, len(self.digests) - 1)

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(int(self.built_at), UTC)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the sitemap, packed."""

    packed: bytes
    digest: str
    built_at: datetime


def kept(origin: str) -> Build | None:
    """What is kept, be it old."""
    found = cache.get(_key(origin))
    return Build(**found) if found else None


def is_fresh(build: Build) -> bool:
    return time.time() < build.fresh_until


def current(origin: str) -> Build:
    """The sitemap, made now unless it is kept. Raises `NotReady`."""
    build = kept(origin)
    if build is not None and (is_fresh(build) or _renewed(build, origin)):
        return build
    try:
        with _alone(origin) as is_mine:
            if is_mine:
                return _made(origin)
        return build or _awaited(origin)
    except RedisError as error:
        raise NotReady from error


def rebuilt(origin: str) -> Build:
    """A new sitemap, whatever is kept; the one that somebody else is making just now will do."""
    drop(origin)
    return current(origin)


def drop(origin: str) -> None:
    """Forget what is kept under a name."""
    cache.delete(_key(origin))


def file_of(origin: str, number: int) -> File | None:
    """A file of the sitemap, 0 being `/sitemap.xml`; None where it has no such part. Raises `NotReady`."""
    for _ in range(2):
        build = current(origin)
        if number >= len(build.digests):
            return None
        packed = cache.get(_file_key(build.id, number))
        if packed is not None:
            return File(packed, build.digests[number], build.moment)
        drop(origin)  # the cache made room for something else
    raise NotReady


def _renewed(build: Build, origin: str) -> bool:
    """Whether nothing changed since: the old one is a new one then, for one query."""
    if build.version != content_version():
        return False
    _keep(origin, replace(build, fresh_until=time.time() + FRESH_SECONDS), build.built_at)
    return True


def _made(origin: str) -> Build:
    version, now, id_ = content_version(), time.time(), uuid4().hex
    digests: list[str] = []
    urls, first = 0, None
    entries = (entry_of(post, origin) for post in listed_posts())
    for number, part in enumerate(parts_of(entries, LIMITS), 1):
        _keep_file(id_, number, part)
        digests.append(part.digest)
        urls += part.urls
        first = first or part
    if len(digests) > 1 or first is None:
        numbers = range(1, len(digests) + 1)
        moment = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%SZ}"
        first = index_of((escaped(f"{origin}/sitemap-{n}.xml") for n in numbers), moment)
        digests.insert(0, first.digest)
    else:
        cache.delete(_file_key(id_, 1))
    _keep_file(id_, 0, first)
    build = Build(id_, urls, now, now + FRESH_SECONDS, version, tuple(digests))
    _keep(origin, build, now)
    return build


def _keep(origin: str, build: Build, since: float) -> None:
    # The files go some time after what names them.
    left = int(since + _KEPT_SECONDS - time.time())
    if left > 0:
        cache.set(_key(origin), asdict(build), left)


def _keep_file(build_id: str, number: int, document: Document) -> None:
    cache.set(_file_key(build_id, number), document.packed, _KEPT_SECONDS + FRESH_SECONDS)


def _awaited(origin: str) -> Build:
    """What somebody else is making; made here where they gave up."""
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        build = kept(origin)
        if build is not None:
            return build
        with _alone(origin) as is_mine:
            if is_mine:
                return kept(origin) or _made(origin)
    raise NotReady


@contextmanager
def _alone(origin: str) -> Iterator[bool]:
    """Whether it is for this one to make the sitemap of a name; nobody else does, while the block runs."""
    key = f"{_key(origin)}:made"
    is_mine = bool(cache.add(key, 1, _LOCKED_SECONDS))
    try:
        yield is_mine
    finally:
        if is_mine:
            cache.delete(key)


def _key(origin: str) -> str:
    return f"sitemap:{hashlib.sha256(origin.encode()).hexdigest()[:24]}"


def _file_key(build_id: str, number: int) -> str:
    return f"sitemap:file:{build_id}:{number}"
