"""Requests of visitors through WSGI, with the front cache before Django."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from cms_project.requests import Utf8WSGIHandler
from proofroom.core.caching.front_applications import FrontWSGI


@dataclass(frozen=True, slots=True)
class Answered:
    """A response. `is_kept`: it came from the front cache."""

    status: int
    headers: dict[str, str]
    content: bytes
    is_kept: bool

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return orjson.loads(self.content)


class Front:
    """The application like in `cms_project.wsgi`, counting the requests that reach Django."""

    def __init__(self) -> None:
        self.passed = 0
        self._django = Utf8WSGIHandler()
        self._application = FrontWSGI(self._pass_on)

    def post(self, address: str, body: bytes, **meta: Any) -> Answered:
        """Send a POST request like the site's pages."""
        sent = {
            "CONTENT_TYPE": "text/plain;charset=UTF-8",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        return self.get(address, method="POST", **{**sent, **meta})

    def get(self, address: str, *, method: str = "GET", **meta: Any) -> Answered:
        """Request an address. `meta`: more keys of the WSGI environment."""
        path, _, query = address.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "SCRIPT_NAME": "",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "localhost",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": io.StringIO(),
            **meta,
        }
        passed, begun = self.passed, []

        def start(status: str, headers: list[tuple[str, str]], error: Any = None) -> None:
            begun.append((status, headers))

        # Like Django's test client: the connection belongs to the test and must stay open.
        signals = (request_started, request_finished)
        for signal in signals:
            signal.disconnect(close_old_connections)
        try:
            body = self._application(environ, start)
            content = b"".join(body)
            if hasattr(body, "close"):
                body.close()
        finally:
            for signal in signals:
                signal.connect(close_old_connections)
        ((status, headers),) = begun
        assert len({name.lower() for name, _ in headers}) == len(headers), headers
        is_kept = self.passed == passed
        return Answered(int(status[:3]), dict(headers), content, is_kept)

    def _pass_on(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        self.passed += 1
        return self._django(environ, start)
