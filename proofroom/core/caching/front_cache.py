"""Answers that are the same for everybody, given before Django sees the request.

A view says with `keep_in_front` that its answer may be kept. The middleware keeps it with every header that it got on
its way out, and judges conditions and compression; the applications around Django answer from what is kept. They ask
nobody: the content version is relied on for a second (`version_lease`), then a request goes through to Django, which
reads it.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
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

from proofroom.core.caching.accepted_forms import Encoding, accepted_encoding, prefers_markdown
from proofroom.core.caching.answer_cache import CachedAnswer, answers
from proofroom.core.caching.hit_batches import hit_batches
from proofroom.core.caching.rate_limits import (
    RATE_LIMIT_HEADERS,
    HitCount,
    caller_address,
    is_allowed_freely,
)
from proofroom.core.caching.version_lease import LiveState, lease
from proofroom.core.middleware import STAFF_COOKIE

MIN_COMPRESSED_BYTES: Final = 600
"""Bodies below fit into a packet or two anyway."""
_GZIP_LEVEL: Final = 6
_BROTLI_QUALITY: Final = 5
_SMALLEST_WINDOW: Final = 16
_LARGEST_WINDOW: Final = 22
"""Powers of two, as RFC 7932 names them. A window larger than the body finds nothing more in it, costs time, and
makes each thread that has ever compressed keep up to 11 MiB: the allocator holds on to them for the next one."""
_READS: Final = ("GET", "HEAD")
_OF_BODIES: Final = frozenset({"content-type", "content-length", "content-encoding"})
Headers = list[tuple[str, str]]
Lines = tuple[tuple[str, str], ...]
MAX_PATHS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to one request: 200 or 304."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class FrontRequest:
    """A request as the front cache looks at it; `meta` has headers under the names that WSGI gives them."""

    scheme: str
    path: str
    meta: Mapping[str, Any]

    @cached_property
    def is_for_all(self) -> bool:
        """Whether everybody else would get the same: nobody is known by it, and it is sent nothing to read."""
        meta = self.meta
        return (
            meta.get("REQUEST_METHOD") in _READS
            and not meta.get("SCRIPT_NAME")
            and "HTTP_AUTHORIZATION" not in meta
            and not _names_somebody(meta.get("HTTP_COOKIE", ""))
            and meta.get("CONTENT_LENGTH") in (None, "", "0")
            and "HTTP_TRANSFER_ENCODING" not in meta
            and is_allowed_host(meta.get("HTTP_HOST", ""))
        )

    @property
    def query(self) -> str:
        """The query without the parameters that the answers of this path ignore, such as `utm_source`."""
        return query_parameters.query_of(self.path, self.meta.get("QUERY_STRING", ""))

    @property
    def key(self) -> str:
        form = "markdown" if prefers_markdown(self.meta.get("HTTP_ACCEPT", "")) else ""
        # With the length of the path, in which a `?` may stand that was escaped.
        return f"front {self.scheme} {form} {len(self.path)} {self.path}?{self.query}"


class QueryParameters:
    """The names of the query parameters that the answers of each path depend on, as the views declare them."""

    def __init__(self) -> None:
        self._names: dict[str, Collection[str]] = {}

    def note(self, path: str, names: Collection[str]) -> None:
        if len(self._names) >= MAX_PATHS:
            self._names.clear()
        self._names[path] = names

    def query_of(self, path: str, query: str) -> str:
        """Return a query reduced to what the path's answers depend on: all of it where nothing is known."""
        names = self._names.get(path) if query else None
        return query if names is None else reduced_query(query, names)


query_parameters: Final = QueryParameters()


def reduced_query(query: str, names: Collection[str]) -> str:
    """Return the parameters of a query that have one of these names, in the order of the names.

    `query` is as WSGI hands it over, its bytes as Latin-1.
    """
    if not query:
        return ""
    pairs = parse_qsl(query, keep_blank_values=True, encoding="latin-1")
    return urlencode(sorted((pair for pair in pairs if pair[0] in names), key=itemgetter(0)))


@dataclass(frozen=True, slots=True)
class FrontAnswer(CachedAnswer):
    """A whole answer. `lines` are its headers but for those of a limit; `scope` names the limit of its calls."""

    lines: Lines = ()
    scope: str = ""
    compressed: dict[Encoding, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: CachedAnswer, lines: Lines, scope: str, *, is_for_all: bool) -> FrontAnswer:
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
            scope=scope,
        )

    @property
    def size(self) -> int:
        # With what it will take when it is compressed, in both ways.
        return 2 * len(self.body) + sum(len(name) + len(value) for name, value in self.lines)

    def reply_to(self, meta: Mapping[str, Any], more: Mapping[str, str]) -> Reply:
        """The answer in the encoding that is accepted, or 304 to whoever has it. `more` are headers of this call."""
        encoding: Encoding = ""
        if len(self.body) >= MIN_COMPRESSED_BYTES:
            encoding = accepted_encoding(meta.get("HTTP_ACCEPT_ENCODING", ""))
        etag = f'{self.etag[:-1]}-{encoding}"' if encoding else self.etag
        headers = [*([("ETag", etag)] if self.etag else []), *more.items()]
        modified = self.modified
        if modified is not None:
            # Before this second, which can still see another change.
            modified = min(modified, int(time.time()) - 1)
            headers.append(("Last-Modified", _written_date(modified)))
        if self._is_known(meta, modified):
            kept = [line for line in self.lines if line[0].lower() not in _OF_BODIES]
            return Reply(304, [*kept, *headers], b"")
        body = self.body
        if encoding:
            body = self.compressed.get(encoding) or compress(body, encoding)
            self.compressed[encoding] = body
            headers.append(("Content-Encoding", encoding))
        return Reply(200, [*self.lines, *headers, ("Content-Length", str(len(body)))], body)

    def _is_known(self, meta: Mapping[str, Any], modified: int | None) -> bool:
        # An ETag says exactly whether the caller has this answer already, so it wins over a date. A later date may be
        # that of a change which a failover lost.
        given = meta.get("HTTP_IF_NONE_MATCH")
        if not self.etag:
            return False
        if given is not None:
            known = (f'{self.etag[:-1]}{end}"' for end in ("", "-br", "-gzip"))
            return given.strip() == "*" or any(etag in given for etag in known)
        since = parse_http_date_safe(meta.get("HTTP_IF_MODIFIED_SINCE", ""))
        return modified is not None and since == modified


def keep_in_front(
    response: HttpResponse,
    state: LiveState,
    answer: CachedAnswer,
    *,
    scope: str = "",
    is_for_all: bool = True,
    parameters: Collection[str] | None = None,
) -> HttpResponse:
    """Have the middleware judge the conditions of a 200, and keep it where it is the same for all who ask.

    `parameters` are the names of the query parameters that answers of this path depend on; None for all of them.
    """
    response.kept_in_front = (state, answer, scope, is_for_all, parameters)  # type: ignore[attr-defined]
    return response


Tell = Callable[[Callable[[], None]], object]


def count_call(
    scope: str, meta: Mapping[str, Any], tell: Tell = lambda task: task()
) -> HitCount | None:
    """Count a call against the limit of a scope, in this process; None where nothing limits it.

    Who leaves a call to Django has to hand its count over.
    """
    address = _limited_address(scope, meta)
    if address is None:
        return None
    return HitCount(scope, address, count=partial(hit_batches.count, tell=tell))


def _limited_address(scope: str, meta: Mapping[str, Any]) -> str | None:
    """The address that calls are counted by; None where nothing limits them."""
    if not scope:
        return None
    forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", ""))
    address = caller_address(str(meta.get("REMOTE_ADDR", "")), forwarded)
    return None if is_allowed_freely(address) else address


def keep_answer(
    asked: FrontRequest,
    state: LiveState,
    front: FrontAnswer,
    more: Mapping[str, str],
    *,
    is_kept: bool,
) -> Reply:
    """Keep an answer that just left Django, and reply to the caller."""
    meta = asked.meta
    if is_kept:
        answers.put(state, asked.key, front)
    elif "HTTP_ACCEPT_ENCODING" in meta:
        # Nobody else would get what is compressed here.
        meta = {name: value for name, value in meta.items() if name != "HTTP_ACCEPT_ENCODING"}
    return front.reply_to(meta, more)


@sync_and_async_middleware
def front_cache(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """The outermost middleware: what leaves here is what a kept answer must be."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            return _finish(request, await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _finish(request, get_response(request))

    return answer


def find(request: FrontRequest) -> FrontAnswer | None:
    """Return what is kept for a request, as long as it is known to be what Django would answer."""
    if not request.is_for_all:
        return None
    state = lease.current()
    found = answers.get(state, request.key) if state is not None else None
    return found if isinstance(found, FrontAnswer) else None


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    kept = getattr(response, "kept_in_front", None)
    if kept is None or not isinstance(response, HttpResponse):
        return response
    state, answer, scope, is_for_all, parameters = kept
    is_for_all = is_for_all and not response.cookies
    limits = {name: response.headers[name] for name in RATE_LIMIT_HEADERS if name in response}
    apart = {"Content-Length", "ETag", *limits}
    lines = tuple(line for line in response.items() if line[0] not in apart)
    asked = FrontRequest(request.scheme or "", request.path_info, request.META)
    if parameters is not None:
        query_parameters.note(asked.path, parameters)
    front = FrontAnswer.of(answer, lines, scope, is_for_all=is_for_all)
    reply = keep_answer(asked, state, front, limits, is_kept=is_for_all and asked.is_for_all)
    response.status_code = reply.status
    if reply.body is not answer.body:
        response.content = reply.body
    if reply.status == HTTPStatus.NOT_MODIFIED:
        for name in _OF_BODIES:
            response.headers.pop(name, None)
    present = dict(response.items())
    for name, value in reply.headers:
        if present.get(name) != value:
            response.headers[name] = value
    return response


def _names_somebody(cookies: str) -> bool:
    """Return whether cookies may say who somebody is; those of others, of which there are many, say nothing here."""
    return bool(cookies) and any(
        name in cookies for name in (settings.SESSION_COOKIE_NAME, STAFF_COOKIE)
    )


def is_allowed_host(host: str) -> bool:
    """Return whether the site answers under this name."""
    return _is_allowed_host(host, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=256)
def _is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, list(allowed))


@lru_cache(maxsize=1024)
def _written_date(seconds: int) -> str:
    return http_date(seconds)


def compress(body: bytes, encoding: Encoding) -> bytes:
    """A body in one of the encodings that an answer is kept in; `encoding` is not empty."""
    if encoding == "br":
        window = min(max(len(body).bit_length(), _SMALLEST_WINDOW), _LARGEST_WINDOW)
        return bytes(brotli.compress(body, quality=_BROTLI_QUALITY, lgwin=window))
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)
