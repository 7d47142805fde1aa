"""WSGI and ASGI applications around Django that answer from the front cache.

The WSGI application, which serves the site in production, also reads answers of other processes (`shared_answers`).
The ASGI application doesn't, because the event loop must not wait for Redis.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings

from proofroom.core.caching.content_version_cache import lease
from proofroom.core.caching.front_cache import (
    FrontAnswer,
    FrontRequest,
    Reply,
    find,
)
from proofroom.core.caching.shared_answers import shared_answers
from proofroom.core.observability.middleware import REQUEST_ID_HEADER
from proofroom.core.observability.operations import (
    MeasuredOperation,
    OperationKind,
    operation_ended,
)
from proofroom.core.observability.work_ids import choose_request_id

Meta = Mapping[str, Any]
Scope = dict[str, Any]
_REASONS: Final = {status: f"{status.value} {status.phrase}" for status in HTTPStatus}
_WSGI_NAMES: Final = {
    name.lower().replace("_", "-").encode(): f"HTTP_{name}"
    for name in (
        "ACCEPT", "ACCEPT_ENCODING", "AUTHORIZATION", "COOKIE", "HOST", "IF_MODIFIED_SINCE",
        "IF_NONE_MATCH", "TRANSFER_ENCODING", "X_FORWARDED_FOR", "X_FORWARDED_PROTO",
        "X_REQUEST_ID",
    )
} | {b"content-length": "CONTENT_LENGTH"}  # fmt: skip
"""ASGI headers with their WSGI names."""


class FrontWSGI:
    """Django's WSGI application behind the front cache.

    With `is_listening` it listens to changes by other processes from its first request on. Answers are shared with
    other processes if there is a Redis (`shared_answers`).
    """

    def __init__(
        self, application: Callable[..., Iterable[bytes]], *, is_listening: bool = False
    ) -> None:
        self._application = application
        self._is_listening = is_listening

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if self._is_listening:
            lease.subscribe_to_invalidation()
        try:
            path = str(environ.get("PATH_INFO") or "/")
            # WSGI servers decode the bytes of the path as Latin-1 (PEP 3333).
            path = path if path.isascii() else path.encode("latin-1").decode()
        except UnicodeError:
            return self._application(environ, start_response)
        scheme = _scheme_of(environ, str(environ.get("wsgi.url_scheme", "")))
        request_id = _request_id(environ)
        front_request = FrontRequest(scheme, path, environ)
        reply = _reply(
            front_request, find(front_request) or shared_answers.find(front_request), request_id
        )
        if reply is None:
            body = self._application(environ, start_response)
            shared_answers.keep(front_request)
            return body
        start_response(_REASONS[HTTPStatus(reply.status)], reply.headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [reply.body]


class FrontASGI:
    """Django's ASGI application behind the front cache. It never blocks."""

    def __init__(
        self, application: Callable[..., Awaitable[None]], *, is_listening: bool = False
    ) -> None:
        self._application = application
        self._is_listening = is_listening

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        reply = None
        if scope["type"] == "http":
            if self._is_listening:
                lease.subscribe_to_invalidation()
            meta = _meta(scope)
            scheme = _scheme_of(meta, str(scope.get("scheme", "http")))
            front_request = FrontRequest(scheme, scope["path"], meta)
            reply = _reply(front_request, find(front_request), _request_id(meta))
        if reply is None:
            await self._application(scope, receive, send)
            return
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in reply.headers
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else reply.body
        await send({"type": "http.response.body", "body": body})


def _reply(front_request: FrontRequest, found: FrontAnswer | None, request_id: str) -> Reply | None:
    """Return the cached answer with the headers of this call; None if Django must answer it."""
    if found is None:
        return None
    started = time.perf_counter()
    meta = front_request.meta
    reply = found.reply_to(meta, {REQUEST_ID_HEADER: request_id})
    operation_ended(
        MeasuredOperation(
            OperationKind.REQUEST,
            "front cache",
            outcome=str(reply.status),
            method=str(meta["REQUEST_METHOD"]),
            seconds=time.perf_counter() - started,
        )
    )
    return reply


def _request_id(meta: Meta) -> str:
    """Return the request id of a trusted proxy, otherwise a new one."""
    given = meta.get("HTTP_X_REQUEST_ID") if settings.CMS_ENV.trusted_proxies else None
    return choose_request_id(given)


def _scheme_of(meta: Meta, scheme: str) -> str:
    """Return the scheme of a request, as Django determines it behind a trusted proxy."""
    if settings.SECURE_PROXY_SSL_HEADER:
        header, secure = settings.SECURE_PROXY_SSL_HEADER
        given = meta.get(header)
        if given is not None:
            return "https" if str(given).split(",", 1)[0].strip() == secure else "http"
    return scheme


def _meta(scope: Scope) -> dict[str, Any]:
    client = scope.get("client")
    meta: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": scope.get("root_path", ""),
        "QUERY_STRING": scope.get("query_string", b"").decode("latin-1"),
        "REMOTE_ADDR": client[0] if client else "",
    }
    for name, value in scope["headers"]:
        known = _WSGI_NAMES.get(name)
        if known is not None:
            text = value.decode("latin-1")
            # Repeated headers are joined, as in Django's ASGI handler.
            meta[known] = f"{meta[known]},{text}" if known in meta else text
    return meta
