"""Request classes of the servers, and streaming of responses.

Requests are always decoded as UTF-8, even if the content type names another charset.

Django decodes the query string with the charset of the content type, and some charsets cannot decode text at all.
It decodes all of it as Latin-1 if a single byte is not UTF-8. Responses cached by URL would then depend on the
charset of one caller, or on a parameter that is not part of the cache key.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import IO, Any, Final, cast
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.utils.http import parse_header_parameters

_ASCII: Final = "".join(map(chr, range(128)))
_UNREADABLE: Final = "application/octet-stream"
_READ_AHEAD_BYTES: Final = 64 * 1024


def _read_content_type(meta: MutableMapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the content type and its parameters. An unreadable one is replaced by one that no view accepts."""
    try:
        return parse_header_parameters(meta.get("CONTENT_TYPE", ""))
    except (ValueError, LookupError):
        meta["CONTENT_TYPE"] = _UNREADABLE
        return _UNREADABLE, {}


def _escape_query(query: bytes) -> bytes:
    """Return a query string with its bytes beyond ASCII percent-encoded, so that each value is decoded separately."""
    return query if query.isascii() else quote(query, safe=_ASCII).encode()


class Utf8WSGIRequest(WSGIRequest):
    def __init__(self, environ: dict[str, Any]) -> None:
        query = str(environ.get("QUERY_STRING", ""))
        try:
            # WSGI servers decode the bytes as Latin-1 (PEP 3333).
            raw = query.encode("latin-1")
        except UnicodeEncodeError:
            # Some decode them as UTF-8.
            raw = query.encode("utf-8", "replace")
        environ["QUERY_STRING"] = _escape_query(raw).decode()
        super().__init__(environ)

    def _set_content_type_params(self, meta: MutableMapping[str, Any]) -> None:
        self.content_type, self.content_params = _read_content_type(meta)


class Utf8ASGIRequest(ASGIRequest):
    def __init__(self, scope: dict[str, Any], body_file: IO[bytes]) -> None:
        query = _escape_query(scope.get("query_string", b""))
        super().__init__({**scope, "query_string": query}, body_file)

    def _set_content_type_params(self, meta: MutableMapping[str, Any]) -> None:
        self.content_type, self.content_params = _read_content_type(meta)


class Utf8WSGIHandler(WSGIHandler):
    request_class = Utf8WSGIRequest


class Utf8ASGIHandler(ASGIHandler):
    """An ASGI handler that streams files and exports while they are read. Django would first read all of them."""

    request_class = Utf8ASGIRequest

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        if isinstance(response, StreamingHttpResponse) and not response.is_async:
            parts = cast("Iterator[bytes]", response.streaming_content)
            response.streaming_content = _read_in_thread(parts)
        await super().send_response(response, send)


async def _read_in_thread(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts, read in the thread of the request, which owns its database connection."""

    def read() -> bytes:
        found = bytearray()
        for part in parts:
            found += part
            if len(found) >= _READ_AHEAD_BYTES:
                break
        return bytes(found)

    read_on = sync_to_async(read)
    while block := await read_on():
        yield block
