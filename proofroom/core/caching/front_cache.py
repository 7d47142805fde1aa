"""Answers that are the same for all visitors, served before Django sees the request.

A view marks its answer with `mark_cacheable`. The middleware stores it with all of its final headers and handles
conditional requests and compression. The applications around Django answer from this cache without any query: the
content version is trusted for a second (`content_version_cache`), then a request goes to Django, which reads it.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from http import HTTPStatus
from operator import itemgetter
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import brotli
from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.http import http_date, parse_http_date_safe

from proofroom.core.caching.answer_cache import LONGEST_KEY, CachedAnswer, answers
from proofroom.core.caching.content_negotiation import Encoding, accepted_encoding, prefers_markdown
from proofroom.core.caching.content_version_cache import LiveState, lease
from proofroom.core.caching.rate_limits import RATE_LIMIT_HEADERS
from proofroom.core.middleware import STAFF_COOKIE

MIN_COMPRESSED_BYTES: Final = 600
"""Smaller bodies fit into one or two packets anyway."""
_GZIP_LEVEL: Final = 6
_BROTLI_QUALITY: Final = 5
_SMALLEST_WINDOW: Final = 16
_LARGEST_WINDOW: Final = 22
"""The smallest and largest exponent of two for brotli's window (RFC 7932).

A window larger than the body does not compress better and costs time. It
also makes each thread that ever compressed hold up to 11 MiB, because the allocator does not return them.
"""
_READS: Final = ("GET", "HEAD")
_BODY_HEADERS: Final = frozenset({"content-type", "content-length", "content-encoding"})
Headers = list[tuple[str, str]]
Lines = tuple[tuple[str, str], ...]
MAX_PATHS: Final = 10_000
LONGEST_HOST: Final = 300
"""Characters of the `Host` header: a name has at most 253, and there may be a port."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to one request: 200 or 304."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class FrontRequest:
    """A request as the front cache needs it. `meta` has headers under their WSGI names."""

    scheme: str
    path: str
    meta: Mapping[str, Any]

    @cached_property
    def is_for_all(self) -> bool:
        """True if the answer is the same for all visitors: the request has no credentials and no body."""
        meta = self.meta
        return (
            meta.get("REQUEST_METHOD") in _READS
            and not meta.get("SCRIPT_NAME")
            and "HTTP_AUTHORIZATION" not in meta
            and not _may_identify(meta.get("HTTP_COOKIE", ""))
            and meta.get("CONTENT_LENGTH") in (None, "", "0")
            and "HTTP_TRANSFER_ENCODING" not in meta
            and is_allowed_host(meta.get("HTTP_HOST", ""))
        )

    @property
    def query(self) -> str:
        """The query string without parameters that the answers of this path ignore, such as `utm_source`."""
        return query_parameters.query_of(self.path, self.meta.get("QUERY_STRING", ""))

    @property
    def key(self) -> str:
        form = "markdown" if prefers_markdown(self.meta.get("HTTP_ACCEPT", "")) else ""
        # The length of the path shows where the query string begins, because the path may contain an escaped `?`.
        return f"front {self.scheme} {form} {len(self.path)} {self.path}?{self.query}"


class QueryParameters:
    """The query parameters that the answers of each path depend on, as their views declare them."""

    def __init__(self) -> None:
        self._names: dict[str, Collection[str]] = {}

    def note(self, path: str, names: Collection[str]) -> None:
        # Answers at longer addresses are not stored.
        if len(path) > LONGEST_KEY:
            return
        # Visitors may request any number of paths, so start again instead of growing.
        if len(self._names) >= MAX_PATHS:
            self._names.clear()
        self._names[path] = names

    def query_of(self, path: str, query: str) -> str:
        """Return the relevant part of a query string; all of it for unknown paths."""
        names = self._names.get(path) if query else None
        return query if names is None else reduced_query(query, names)


query_parameters: Final = QueryParameters()


def reduced_query(query: str, names: Collection[str]) -> str:
    """Return the parameters with these names, sorted by name.

    `query` is a WSGI string: bytes decoded as Latin-1.
    """
    if not query:
        return ""
    pairs = parse_qsl(query, keep_blank_values=True, encoding="latin-1")
    return urlencode(sorted((pair for pair in pairs if pair[0] in names), key=itemgetter(0)))


@dataclass(frozen=True, slots=True)
class FrontAnswer(CachedAnswer):
    """A whole answer. `lines` are its headers without the rate limit's: calls that it answers are not counted."""

    lines: Lines = ()
    compressed: dict[Encoding, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: CachedAnswer, lines: Lines, *, is_for_all: bool) -> FrontAnswer:
        if is_for_all and len(answer.body) >= MIN_COMPRESSED_BYTES:
            varied = [text for name, text in lines if name == "Vary"]
            vary = ", ".join([*varied, "Accept-Encoding"])
            lines = (*(line for line in lines if line[0] != "Vary"), ("Vary", vary))
        return cls(
            body=answer.body,
            etag=answer.etag,
            modified=answer.modified,
            tags=answer.tags,
            lines=lines,
        )

    @property
    def size(self) -> int:
        # The compressed bodies, which are added later, count as a second copy.
        return 2 * len(self.body) + sum(len(name) + len(value) for name, value in self.lines)

    def reply_to(self, meta: Mapping[str, Any], more: Mapping[str, str]) -> Reply:
        """Return the answer in an accepted encoding, or 304. `more` are headers of this call."""
        encoding: Encoding = ""
        if len(self.body) >= MIN_COMPRESSED_BYTES:
            encoding = accepted_encoding(meta.get("HTTP_ACCEPT_ENCODING", ""))
        etag = f'{self.etag[:-1]}-{encoding}"' if encoding else self.etag
        headers = [*([("ETag", etag)] if self.etag else []), *more.items()]
        modified = self.modified
        if modified is not None:
            # Not the current second: another change may still happen in it.
            modified = min(modified, int(time.time()) - 1)
            headers.append(("Last-Modified", _format_date(modified)))
        if self._is_known(meta, modified):
            kept = [line for line in self.lines if line[0].lower() not in _BODY_HEADERS]
            return Reply(304, [*kept, *headers], b"")
        body = self.body
        if encoding:
            body = self.compressed.get(encoding) or compress(body, encoding)
            self.compressed[encoding] = body
            headers.append(("Content-Encoding", encoding))
        return Reply(200, [*self.lines, *headers, ("Content-Length", str(len(body)))], body)

    def _is_known(self, meta: Mapping[str, Any], modified: int | None) -> bool:
        # An ETag identifies the answer exactly, so it wins over a date. Dates must be equal: a
        # later one may come from a change that a failover lost.
        given = meta.get("HTTP_IF_NONE_MATCH")
        if not self.etag:
            return False
        if given is not None:
            # The caller may have the answer in any encoding.
            known = (f'{self.etag[:-1]}{end}"' for end in ("", "-br", "-gzip"))
            return given.strip() == "*" or any(etag in given for etag in known)
        since = parse_http_date_safe(meta.get("HTTP_IF_MODIFIED_SINCE", ""))
        return modified is not None and since == modified


def mark_cacheable(
    response: HttpResponse,
    state: LiveState,
    answer: CachedAnswer,
    *,
    parameters: Collection[str],
    is_for_all: bool = True,
    on_not_modified: Callable[[], None] | None = None,
) -> HttpResponse:
    """Mark a 200 for conditional handling and, if it is the same for all visitors, for the front cache.

    `parameters` are the query parameters that answers of this path depend on. `on_not_modified` is called if the
    caller gets a 304.
    """
    response.kept_in_front = (  # type: ignore[attr-defined]
        state, answer, is_for_all, parameters, on_not_modified,
    )  # fmt: skip
    return response


def keep_answer(
    asked: FrontRequest,
    state: LiveState,
    front: FrontAnswer,
    more: Mapping[str, str],
    *,
    is_kept: bool,
) -> Reply:
    """Store an answer that just left Django, and return the reply to the caller."""
    meta = asked.meta
    if is_kept:
        answers.put(state, asked.key, front)
    elif "HTTP_ACCEPT_ENCODING" in meta:
        # Don't compress: the result would not be reused.
        meta = {name: value for name, value in meta.items() if name != "HTTP_ACCEPT_ENCODING"}
    return front.reply_to(meta, more)


@sync_and_async_middleware
def front_cache(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """The outermost middleware, so that it sees the final headers of answers."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            return _finish(request, await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _finish(request, get_response(request))

    return answer


def find(request: FrontRequest) -> FrontAnswer | None:
    """Return the cached answer of a request, if it is still valid."""
    if not request.is_for_all:
        return None
    state = lease.current()
    found = answers.get(state, request.key) if state is not None else None
    return found if isinstance(found, FrontAnswer) else None


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    kept = getattr(response, "kept_in_front", None)
    if kept is None or not isinstance(response, HttpResponse):
        return response
    state, answer, is_for_all, parameters, on_not_modified = kept
    # A cookie is for one visitor.
    is_for_all = is_for_all and not response.cookies
    limits = {name: response.headers[name] for name in RATE_LIMIT_HEADERS if name in response}
    apart = {"Content-Length", "ETag", *limits}
    lines = tuple(line for line in response.items() if line[0] not in apart)
    asked = FrontRequest(request.scheme or "", request.path_info, request.META)
    query_parameters.note(asked.path, parameters)
    front = FrontAnswer.of(answer, lines, is_for_all=is_for_all)
    reply = keep_answer(asked, state, front, limits, is_kept=is_for_all and asked.is_for_all)
    response.status_code = reply.status
    if reply.body is not answer.body:
        response.content = reply.body
    if reply.status == HTTPStatus.NOT_MODIFIED:
        if on_not_modified is not None:
            on_not_modified()
        for name in _BODY_HEADERS:
            response.headers.pop(name, None)
    present = dict(response.items())
    for name, value in reply.headers:
        if present.get(name) != value:
            response.headers[name] = value
    return response


def _may_identify(cookies: str) -> bool:
    """Return whether cookies may identify the visitor. Substrings are enough; cookies of other tools don't matter."""
    return bool(cookies) and any(
        name in cookies for name in (settings.SESSION_COOKIE_NAME, STAFF_COOKIE)
    )


def is_allowed_host(host: str) -> bool:
    """Return whether the host is in `ALLOWED_HOSTS`."""
    return len(host) <= LONGEST_HOST and _is_allowed_host(host, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=256)
def _is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, list(allowed))


@lru_cache(maxsize=1024)
def _format_date(seconds: int) -> str:
    return http_date(seconds)


def compress(body: bytes, encoding: Encoding) -> bytes:
    """Compress a body. `encoding` is not empty."""
    if encoding == "br":
        window = min(max(len(body).bit_length(), _SMALLEST_WINDOW), _LARGEST_WINDOW)
        return bytes(brotli.compress(body, quality=_BROTLI_QUALITY, lgwin=window))
    # Without a time stamp, equal bodies compress to equal bytes.
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)
