"""Request classes of the servers, and streaming of responses.

Requests are always decoded as UTF-8, even if the content type names another charset.

Django decodes the query string with the charset of the content type, and some charsets cannot decode text at all.
Responses cached by URL would then depend on the charset of one caller.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any, Final, cast

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.utils.http import parse_header_parameters

_UNREADABLE: Final = "application/octet-stream"
_READ_AHEAD_BYTES: Final = 64 * 1024


def _read_content_type(meta: MutableMapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the content type and its parameters. An unreadable one is replaced by one that no view accepts."""
    try:
        return parse_header_parameters(meta.get("CONTENT_TYPE", ""))
    except (ValueError, LookupError):
        meta["CONTENT_TYPE"] = _UNREADABLE
        return _UNREADABLE, {}


class Utf8WSGIRequest(WSGIRequest):
    def _set_content_type_params(self, meta: MutableMapping[str, Any]) -> None:
        self.content_type, self.content_params = _read_content_type(meta)


class Utf8ASGIRequest(ASGIRequest):
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
