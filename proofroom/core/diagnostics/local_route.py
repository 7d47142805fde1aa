"""Traces what a visitor without any account gets at an address of this site, answered in this process.

Nothing is sent anywhere, and nothing is left behind: what the answer would write is undone, and it is not counted.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
_LONGEST_SECRET: Final = 2_000
_NOBODY: Final = "192.0.2.1"
"""An address that no visitor has: what counts visitors by theirs takes none for this one."""
_TEXTS: Final = ("text/", "application/json", "application/xml", "application/javascript")
_TEXT_ENDINGS: Final = ("+json", "+xml")
_LEFT_OUT: Final = frozenset({"set-cookie"})


class _TooLong(BaseException):
    """The time is over. No `Exception`, which the handler would make an answer of."""


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """`body` is None where there is none to read: for HEAD, and for what is no text. `size` is None where it is not
    known without reading all of it."""

    status: int
    headers: Mapping[str, str]
    location: str | None
    body: str | None
    size: int | None
    is_cut: bool
    ms: int


def local_answer(*, path: str, method: Method = "GET", actor: Actor) -> LocalAnswer:
    """The answer at a path of this site, and no further one: where it leads is shown, not followed.

    Raises `RuleViolation` on `path`, or `too_slow`.
    """
    actor.require_diagnosis("settings.manage")
    environ = _environ(_checked(path), method)
    started = time.perf_counter()
    try:
        with _in_time(), translation.override(settings.LANGUAGE_CODE), _undone():
            answer = _read(_handler().get_response(WSGIRequest(environ)), method)
    except _TooLong:
        raise RuleViolation(
            f"{path[:200]} did not answer within {ROUTE_TIMEOUT_SECONDS:.0f} seconds.",
            code="too_slow",
        ) from None
    return answer(round((time.perf_counter() - started) * 1000))


def _checked(path: str) -> str:
    path = path.partition("#")[0]
    if not path.startswith("/") or path.startswith("//") or "\\" in path:
        raise invalid(
            "path",
            "path is a path of this site such as /blog/x: it begins with one /, and names no host.",
        )
    if len(path) > LONGEST_PATH or not path.isprintable() or " " in path:
        raise invalid(
            "path",
            f"path has at most {LONGEST_PATH:,} characters, none of them a space or a control character.",
        )
    return path


def _environ(path: str, method: Method) -> dict[str, Any]:
    """A request as a server makes it, with no cookie and no credential."""
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
        "REMOTE_ADDR": _NOBODY,
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
    """With all middleware of the site: made once, for it looks for the static files."""
    handler = BaseHandler()
    handler.load_middleware()
    return handler


@contextmanager
def _undone() -> Iterator[None]:
    """What is written inside is taken back, and what waits for the commit never happens."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true)",
                    [f"{ROUTE_TIMEOUT_SECONDS:.0f}s"],
                )
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def _in_time() -> Iterator[None]:
    """The time is looked at before each query: what takes long here asks the database often, or once for long."""
    ends = time.monotonic() + ROUTE_TIMEOUT_SECONDS

    def look(execute: Callable[..., Any], *arguments: Any) -> Any:
        if time.monotonic() > ends:
            raise _TooLong
        check_cancelled()
        return execute(*arguments)

    with connection.execute_wrapper(look):
        yield


def _read(response: HttpResponseBase, method: Method) -> Callable[[int], LocalAnswer]:
    """The beginning of the answer, which is closed."""
    try:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        is_text = kind.startswith(_TEXTS) or kind.endswith(_TEXT_ENDINGS)
        read = b""
        if method != "HEAD" and is_text:
            # A page that comes in parts, to its end or as far as it is shown; any other is at hand whole.
            parts = response if response.streaming else [response.content]  # type: ignore[attr-defined]  # it is one of those
            for part in parts:
                read += part
                if len(read) > BODY_BYTES + _LONGEST_SECRET:
                    break
    finally:
        for closer in response._resource_closers:  # type: ignore[attr-defined]  # kept to itself
            with suppress(Exception):
                closer()
    redactor, charset = SecretRedactor(), response.charset or "utf-8"
    body = None
    if method == "GET" and is_text:
        # Cut after it was looked through: nobody knows a part of a secret for one.
        text = read[: BODY_BYTES + _LONGEST_SECRET].decode(charset, "replace")
        # What went wrong may show what stood in memory; a page is there for everybody.
        is_fault = response.status_code >= 500
        body = (redactor.text(text) if is_fault else redactor.known(text))[:BODY_BYTES]
    shown = {
        name: redactor.known(value)
        for name, value in response.headers.items()
        if name.lower() not in _LEFT_OUT
    }
    size = None if response.streaming else len(response.content)  # type: ignore[attr-defined]  # it is one of those
    is_cut, location = len(read) > BODY_BYTES, shown.get("Location")
    return lambda ms: LocalAnswer(response.status_code, shown, location, body, size, is_cut, ms)
