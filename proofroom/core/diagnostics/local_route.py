"""Shows what a visitor without an account gets at a path of this site, answered in this process.

Nothing is sent over the network. Database writes are rolled back, and the request is not counted.
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import unquote_to_bytes, urlsplit

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection, transaction
from django.http.response import HttpResponseBase
from django.utils import translation

from proofroom.core.actor import Actor
from proofroom.core.bots import TRIAL
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.progress import check_cancelled
from proofroom.core.redaction import SecretRedactor

Method = Literal["GET", "HEAD"]
ROUTE_TIMEOUT_SECONDS: Final = 10.0
BODY_BYTES: Final = 20_000
LONGEST_PATH: Final = 2_000
_SECRET_MAX: Final = 2_000
_VISITOR_ADDRESS: Final = "192.0.2.1"
"""An address of TEST-NET-1 (RFC 5737), which no visitor has."""
_TEXTS: Final = ("text/", "application/json", "application/xml", "application/javascript")
_TEXT_ENDINGS: Final = ("+json", "+xml")
_HIDDEN_HEADERS: Final = frozenset({"set-cookie"})


class _TooLong(BaseException):
    """The time is over.

    Derived from `BaseException`, because Django's handler turns any `Exception` into a response.
    """


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """The answer at a path.

    `body` is None for HEAD and for responses that are not text. `size` is None for a stream.
    """

    status: int
    headers: Mapping[str, str]
    location: str | None
    body: str | None
    size: int | None
    is_cut: bool
    ms: int


def local_answer(*, path: str, method: Method = "GET", actor: Actor) -> LocalAnswer:
    """Return the response at a path of this site. Redirects are shown, not followed.

    Raises `RuleViolation` on `path`, or with the code `too_slow`.
    """
    actor.require_diagnosis("settings.manage")
    environ = _environ(_check_path(path), method)
    started = time.perf_counter()
    try:
        with _time_limit(), translation.override(settings.LANGUAGE_CODE), _rolled_back():
            answer = _read(_handler().get_response(WSGIRequest(environ)), method)
    except _TooLong:
        raise RuleViolation(
            f"{path[:200]} did not answer within {ROUTE_TIMEOUT_SECONDS:.0f} seconds.",
            code="too_slow",
        ) from None
    return answer(round((time.perf_counter() - started) * 1000))


def _check_path(path: str) -> str:
    path = path.partition("#")[0]
    if not path.startswith("/") or path.startswith("//") or "\\" in path:
        raise invalid(
            "path",
            "path must be a path of this site such as /blog/x: it begins with a single / and has no host.",
        )
    if len(path) > LONGEST_PATH or not path.isprintable() or " " in path:
        raise invalid(
            "path",
            f"path can have at most {LONGEST_PATH:,} characters, without spaces or control characters.",
        )
    return path


def _environ(path: str, method: Method) -> dict[str, Any]:
    """Return the environment of a request without cookies and credentials."""
    site = urlsplit(settings.SITE_URL)
    place, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(place).decode("latin-1"),
        "QUERY_STRING": query.encode().decode("latin-1"),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": site.hostname or "localhost",
        "SERVER_PORT": str(site.port or (443 if site.scheme == "https" else 80)),
        "REMOTE_ADDR": _VISITOR_ADDRESS,
        "HTTP_HOST": site.netloc.rpartition("@")[2],
        "HTTP_X_FORWARDED_PROTO": site.scheme,
        "HTTP_ACCEPT": "text/html,application/json;q=0.9,*/*;q=0.8",
        "HTTP_USER_AGENT": "test_local_route",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": site.scheme,
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        TRIAL: True,
    }


@cache
def _handler() -> BaseHandler:
    """Return a handler with all middleware. Cached, because it scans the static files."""
    handler = BaseHandler()
    handler.load_middleware()
    return handler


@contextmanager
def _rolled_back() -> Iterator[None]:
    """Roll back the block's writes, so that `on_commit` callbacks don't run either."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    # `true` limits the setting to this transaction.
                    "SELECT set_config('statement_timeout', %s, true)",
                    [f"{ROUTE_TIMEOUT_SECONDS:.0f}s"],
                )
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def _time_limit() -> Iterator[None]:
    """Check the time before each query.

    Slow views here run many queries; a single slow one hits the statement timeout.
    """
    ends = time.monotonic() + ROUTE_TIMEOUT_SECONDS

    def check_time(execute: Callable[..., Any], *arguments: Any) -> Any:
        if time.monotonic() > ends:
            raise _TooLong
        check_cancelled()
        return execute(*arguments)

    with connection.execute_wrapper(check_time):
        yield


def _read(response: HttpResponseBase, method: Method) -> Callable[[int], LocalAnswer]:
    """Read the beginning of the response and close it."""
    try:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        is_text = kind.startswith(_TEXTS) or kind.endswith(_TEXT_ENDINGS)
        read = b""
        if method != "HEAD" and is_text:
            # Read a stream up to the limit; other responses are in memory anyway.
            parts = response if response.streaming else [response.content]  # type: ignore[attr-defined]  # a streaming or a plain response
            for part in parts:
                read += part
                if len(read) > BODY_BYTES + _SECRET_MAX:
                    break
    finally:
        # `close()` sends the signal `request_finished`, whose receivers end the connections of their thread: not
        # this thread, whose request goes on.
        closing = threading.Thread(target=response.close)
        closing.start()
        closing.join()
    redactor, charset = SecretRedactor(), response.charset or "utf-8"
    body = None
    if method == "GET" and is_text:
        # Cut after redacting: a cut secret would not be recognised.
        text = read[: BODY_BYTES + _SECRET_MAX].decode(charset, "replace")
        # An error page may show values from memory and is fully redacted. Other pages are public,
        # so only known secrets are.
        is_fault = response.status_code >= 500
        body = (redactor.text(text) if is_fault else redactor.known(text))[:BODY_BYTES]
    visible_headers = {
        name: redactor.known(value)
        for name, value in response.headers.items()
        if name.lower() not in _HIDDEN_HEADERS
    }
    size = None if response.streaming else len(response.content)  # type: ignore[attr-defined]  # a plain response
    is_cut, location = len(read) > BODY_BYTES, visible_headers.get("Location")
    return lambda ms: LocalAnswer(
        response.status_code, visible_headers, location, body, size, is_cut, ms
    )
