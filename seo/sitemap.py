"""The sitemap: written in parts, cached under each of the site's names, and made by one process at a time."""

from __future__ import annotations

import gzip
import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from html import escape
from io import BytesIO
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.caching.content_tags import ANY_TYPE, EVERYTHING, tag_of_list
from proofroom.core.caching.content_version import (
    leased_state,
    live_state,
    parse_state,
    tags_changed_since,
)
from proofroom.core.caching.redis_cache import redis_error
from proofroom.core.errors import Conflict
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import absolute
from seo.sitemap_query import SitemapPost, listed_posts

FRESH_SECONDS: Final = 300
_KEPT_SECONDS: Final = 3600
"""An old one is still answered while a new one is made, and stays where nothing changed."""
_LOCKED_SECONDS: Final = 120
_POSTS: Final = frozenset({EVERYTHING, tag_of_list(ANY_TYPE)})
"""The tags of changes that may change what is listed."""
_WAIT_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.05
MAX_URLS: Final = 50_000
MAX_BYTES: Final = 50 * 1024 * 1024
MAX_ADDRESS_LENGTH: Final = 2048
_XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_HEAD: Final = (
    f'{_XML}<urlset xmlns="{_NAMESPACE}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'.encode()
)
_FOOT: Final = b"</urlset>\n"
_PLAIN_ADDRESS: Final = re.compile(r"[A-Za-z0-9/_.~:-]*", re.ASCII)


class NotReady(Exception):
    """Somebody else makes it and takes long, or nothing can be kept: ask again later."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most addresses and bytes of one part."""

    urls: int = MAX_URLS
    size: int = MAX_BYTES


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class SitemapBuild:
    """A sitemap as it was made. `digests` are those of its files, `/sitemap.xml` first."""

    id: str
    urls: int
    built_at: float
    fresh_until: float
    version: str
    digests: tuple[str, ...]

    @property
    def parts(self) -> int:
        """The number of files that hold addresses: one, or those that the index names."""
        return max(1, len(self.digests) - 1)

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(int(self.built_at), UTC)

    @property
    def is_fresh(self) -> bool:
        return time.time() < self.fresh_until


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """A file of the sitemap, packed."""

    packed: bytes
    digest: str
    built_at: datetime


def origin_of(request: HttpRequest) -> str:
    """`scheme://host` of the request where the settings name that host; else that of `SITE_URL`.

    Only so many exist: a wildcard of `ALLOWED_HOSTS` or a made-up port has no answers of its own to keep.
    """
    # In lower case, and without the dot that a name may end with.
    name, port = split_domain_port(request.get_host())
    site = urlsplit(settings.SITE_URL)
    ports = {"", str(settings.CMS_ENV.port), str(site.port or "")}
    if name in settings.ALLOWED_HOSTS and port in ports and not name.startswith((".", "*")):
        return f"{request.scheme}://{name}:{port}" if port else f"{request.scheme}://{name}"
    return str(settings.SITE_URL)


def rebuild_sitemap(*, origin: str, actor: Actor) -> SitemapBuild:
    """Forget the sitemap that is kept under a name of the site, and make it now."""
    actor.require_person("have the sitemap made anew")
    actor.require("seo.manage")
    drop_sitemap(origin)
    try:
        # One that somebody else is making just now will do.
        build = current_sitemap(origin)
    except NotReady:
        message = _(
            "The sitemap is already being generated, or cannot be saved. Try again in a minute."
        )
        raise Conflict(message, code="sitemap_busy") from None
    payload: JsonObject = {"urls": build.urls, "parts": build.parts}
    outbox.record("sitemap.rebuilt", actor=actor, payload=payload)
    return build


def kept_sitemap(origin: str) -> SitemapBuild | None:
    """The sitemap that is kept, be it old."""
    found = cache.get(cache_key(origin))
    return SitemapBuild(**found) if found else None


def drop_sitemap(origin: str) -> None:
    """Forget what is kept under a name."""
    cache.delete(cache_key(origin))


def _has_changed(build: SitemapBuild) -> bool:
    """Return whether a post changed after a build. One query."""
    try:
        state = parse_state(build.version)
    except ValueError:
        return True  # of an earlier version of the product
    return not _POSTS.isdisjoint(tags_changed_since(state))


def current_sitemap(origin: str) -> SitemapBuild:
    """The sitemap, made now unless it is kept. Raises `NotReady`."""
    build = kept_sitemap(origin)
    if build is not None:
        # As of a second ago: no post that was withdrawn is named for longer.
        version = str(leased_state())
        if build.version == version and build.is_fresh:
            return build
        if build.version == version or not _has_changed(build):
            # No post changed since: the old one is a new one then.
            fresh_until = time.time() + FRESH_SECONDS
            build = replace(build, version=version, fresh_until=fresh_until)
            keep_build(origin, build, build.built_at)
            return build
    try:
        with build_lock(origin) as is_mine:
            if is_mine:
                return make_sitemap(origin)
        if build is not None:
            return build
        until = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            build = kept_sitemap(origin)
            if build is not None:
                return build
            with build_lock(origin) as is_mine:  # whoever was making it gave up
                if is_mine:
                    return kept_sitemap(origin) or make_sitemap(origin)
    except redis_error() as error:
        raise NotReady from error
    raise NotReady


def sitemap_file(origin: str, number: int) -> SitemapFile | None:
    """A file of the sitemap, 0 being `/sitemap.xml`; None where it has no such part. Raises `NotReady`."""
    for _attempt in range(2):
        build = current_sitemap(origin)
        if number >= len(build.digests):
            return None
        packed = cache.get(file_key(build.id, number))
        if packed is not None:
            return SitemapFile(packed, build.digests[number], build.moment)
        drop_sitemap(origin)  # the cache made room for something else
    raise NotReady


def make_sitemap(origin: str) -> SitemapBuild:
    """Write the sitemap of a name of the site, and keep it."""
    version, now, id_ = str(live_state()), time.time(), uuid4().hex
    digests: list[str] = []
    urls, first = 0, None
    kept_seconds = _KEPT_SECONDS + FRESH_SECONDS
    entries = (url_element(post, origin) for post in listed_posts())
    for number, part in enumerate(write_parts(entries, LIMITS), 1):
        cache.set(file_key(id_, number), part.packed, kept_seconds)
        digests.append(part.digest)
        urls += part.urls
        first = first or part
    if len(digests) > 1 or first is None:
        index = _Writer(f'{_XML}<sitemapindex xmlns="{_NAMESPACE}">\n'.encode())
        moment = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%SZ}"
        for number in range(1, len(digests) + 1):
            address = _escape_address(f"{origin}/sitemap-{number}.xml")
            line = f"<sitemap><loc>{address}</loc><lastmod>{moment}</lastmod></sitemap>\n"
            index.write(line.encode())
        first = index.end(b"</sitemapindex>\n")
        digests.insert(0, first.digest)
    else:
        cache.delete(file_key(id_, 1))
    cache.set(file_key(id_, 0), first.packed, kept_seconds)
    build = SitemapBuild(id_, urls, now, now + FRESH_SECONDS, version, tuple(digests))
    keep_build(origin, build, now)
    return build


def keep_build(origin: str, build: SitemapBuild, since: float) -> None:
    """Cache a build, not longer than the files that it names."""
    left = int(since + _KEPT_SECONDS - time.time())
    if left > 0:
        cache.set(cache_key(origin), asdict(build), left)


@contextmanager
def build_lock(origin: str) -> Iterator[bool]:
    """Yield whether the caller may make the sitemap of a name; nobody else may while the block runs."""
    key = f"{cache_key(origin)}:made"
    is_mine = bool(cache.add(key, 1, _LOCKED_SECONDS))
    try:
        yield is_mine
    finally:
        if is_mine:
            cache.delete(key)


def cache_key(origin: str) -> str:
    """The cache's key of the build of a name."""
    return f"sitemap:2:{hashlib.sha256(origin.encode()).hexdigest()[:24]}"


def file_key(build_id: str, number: int) -> str:
    """The cache's key of a file of a build."""
    return f"sitemap:file:{build_id}:{number}"


@dataclass(frozen=True, slots=True)
class PackedPart:
    """A written file; `digest` is of its text before packing, `size` its bytes then."""

    packed: bytes
    digest: str
    urls: int
    size: int


class _Writer:
    """One file that is being written."""

    def __init__(self, head: bytes) -> None:
        self._file = BytesIO()
        # Without the time in it, so that the same words make the same bytes.
        self._packer = gzip.GzipFile(fileobj=self._file, mode="wb", mtime=0, compresslevel=6)
        self._hash = hashlib.sha256()
        self.urls = self.size = 0
        self.write(head)

    def write(self, text: bytes) -> None:
        self._packer.write(text)
        self._hash.update(text)
        self.size += len(text)

    def end(self, foot: bytes) -> PackedPart:
        self.write(foot)
        self._packer.close()
        return PackedPart(self._file.getvalue(), self._hash.hexdigest()[:24], self.urls, self.size)


def write_parts(entries: Iterable[str], limits: Limits) -> Iterator[PackedPart]:
    """The entries in as few files as hold them, one after the other; one without entries where there are none."""
    writer = _Writer(_HEAD)
    for entry in entries:
        text = entry.encode()
        if not text:
            continue
        is_full = writer.size + len(text) + len(_FOOT) > limits.size
        if writer.urls and (is_full or writer.urls >= limits.urls):
            yield writer.end(_FOOT)
            writer = _Writer(_HEAD)
        writer.write(text)
        writer.urls += 1
    yield writer.end(_FOOT)


def url_element(post: SitemapPost, origin: str) -> str:
    """The `url` element of a post; empty where its address is too long for the protocol."""
    location = address_of(post.path, post.canonical, origin)
    if len(location) > MAX_ADDRESS_LENGTH:
        return ""
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{locale}" href="{_escape_address(address)}"/>'
        for locale, address in alternates_of(post, origin)
    )
    escaped = _escape_address(location)
    return f"<url><loc>{escaped}</loc><lastmod>{post.changed}</lastmod>{links}</url>\n"


def address_of(path: str, canonical: str, origin: str) -> str:
    """The canonical address where the post has one, else its path under the name that was asked for."""
    address = canonical or path
    uri = address if _PLAIN_ADDRESS.fullmatch(address) else str(iri_to_uri(address))
    return uri if canonical else origin + uri


def alternates_of(post: SitemapPost, origin: str) -> Sequence[tuple[str, str]]:
    """The languages of a post with their addresses, itself among them; none where it has only one.

    A page that names another one as the original offers no languages, and is offered as none.
    """
    if not post.translations or post.canonical not in ("", absolute(post.path)):
        return ()
    found = {
        item.locale: address_of(item.path, item.canonical, origin)
        for item in post.translations
        if item.canonical in ("", absolute(item.path))
    }
    if len(found) < 2:
        return ()
    links = [(locale, found[locale]) for locale in settings.CMS_ENV.locales if locale in found]
    default = found.get(settings.CMS_ENV.default_locale, links[0][1])
    return [*links, ("x-default", default)]


def _escape_address(address: str) -> str:
    # Most addresses need none, and the look is quicker than the escaping.
    return address if _PLAIN_ADDRESS.fullmatch(address) else escape(address)
