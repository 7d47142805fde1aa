"""Endpoints that are answered before Django, for a WSGI application, as long as nothing about a call is unusual.

An app registers one for a path. What an endpoint does not take goes on to Django, which knows why and says it.

The first call of each process goes on to Django: what it answers with 200 shows which headers an answer has.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from django.db import Error, close_old_connections

from proofroom.core.caching.front_cache import Headers, Reply, is_allowed_host
from proofroom.core.caching.hit_batches import hit_batches
from proofroom.core.caching.rate_limits import (
    RATE_LIMIT_HEADERS,
    HitCount,
    caller_address,
    is_allowed_freely,
)
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.observability.middleware import REQUEST_ID_HEADER
from proofroom.core.observability.operations import (
    MeasuredOperation,
    OperationKind,
    operation_ended,
)

logger = logging.getLogger(__name__)
_PLAIN_TYPES: Final = frozenset(
    {
        kind + charset
        for kind in ("application/json", "text/plain")
        for charset in ("", ";charset=utf-8", "; charset=utf-8")
    }
)
_OF_ONE_CALL: Final = frozenset(
    name.lower() for name in (*RATE_LIMIT_HEADERS, REQUEST_ID_HEADER, "Content-Length")
)
_NEVER_KEPT: Final = frozenset({"set-cookie", "server-timing", "vary"})
"""An answer with one of them is not what everybody else would get."""


@dataclass(slots=True)
class FrontCall:
    """A call with its body. Hits are counted in this process, and told to others in batches."""

    meta: MutableMapping[str, Any]
    body: bytes
    address: str
    counts: list[tuple[HitCount, int]] = field(default_factory=list)

    def count(self, scope: str, hits: int = 1, max_untold: int | None = None) -> bool:
        """Count hits of the caller's address; whether the limit lets them pass."""
        if is_allowed_freely(self.address):
            return True
        counting = partial(hit_batches.count, max_untold=max_untold)
        count = HitCount(scope, self.address, hits, count=counting)
        if count.key:
            self.counts.append((count, hits))
        return not count.is_over

    def hand_over(self) -> None:
        """Leave the counting of this call to Django."""
        for count, hits in self.counts:
            hit_batches.hand_over(count.key, hits)
        self.counts.clear()


class FrontEndpoint(Protocol):
    """Takes the posts of a path. `scope` names the limit of its calls."""

    path: str
    scope: str
    max_body_bytes: int

    def answer(self, call: FrontCall) -> bytes | None:
        """The JSON to answer with 200; None where Django must judge. Then nothing may have been kept."""


front_endpoints: Final[ExtensionPoint[FrontEndpoint]] = ExtensionPoint()
"""Registered by the name of their path."""


class FrontPosts:
    """Answers the posts of endpoints for one application."""

    def __init__(self) -> None:
        self._headers: dict[tuple[str, str], Headers] = {}

    def answer(
        self, endpoint: FrontEndpoint, environ: dict[str, Any], scheme: str, request_id: str
    ) -> Reply | None:
        """The answer; None where Django must give it. The body can be read again then."""
        started = time.perf_counter()
        headers = self._headers.get((endpoint.path, scheme))
        if headers is None or not _is_usual(environ, endpoint.max_body_bytes):
            return None
        length = int(environ["CONTENT_LENGTH"])
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        forwarded = str(environ.get("HTTP_X_FORWARDED_FOR", ""))
        address = caller_address(str(environ.get("REMOTE_ADDR", "")), forwarded)
        call = FrontCall(environ, body, address)
        content = None
        if len(body) == length and call.count(endpoint.scope):
            content = _ask(endpoint, call)
        if content is None:
            call.hand_over()
            return None
        limits = call.counts[0][0].headers if call.counts else {}
        of_call = {
            **limits, REQUEST_ID_HEADER: request_id, "Content-Length": str(len(content)),
        }  # fmt: skip
        operation_ended(
            MeasuredOperation(
                OperationKind.REQUEST,
                endpoint.path.removeprefix("/"),
                outcome="200",
                method="POST",
                seconds=time.perf_counter() - started,
            )
        )
        return Reply(200, [*headers, *of_call.items()], content)

    def remembering(
        self, endpoint: FrontEndpoint, scheme: str, start_response: Callable[..., Any]
    ) -> Callable[..., Any]:
        """A `start_response` that learns which headers the endpoint's answers have."""

        def start(status: str, headers: Iterable[tuple[str, str]], *error: Any) -> Any:
            lines = list(headers)
            names = {name.lower() for name, _ in lines}
            if status.startswith("200 ") and not names & _NEVER_KEPT:
                kept = [line for line in lines if line[0].lower() not in _OF_ONE_CALL]
                self._headers[endpoint.path, scheme] = kept
            return start_response(status, lines, *error)

        return start


def _is_usual(meta: MutableMapping[str, Any], max_bytes: int) -> bool:
    length = str(meta.get("CONTENT_LENGTH") or "")
    return (
        not meta.get("SCRIPT_NAME")
        and "HTTP_TRANSFER_ENCODING" not in meta
        and length.isascii()
        and length.isdecimal()
        and len(length) < 10
        and 0 < int(length) <= max_bytes
        and str(meta.get("CONTENT_TYPE", "")).lower() in _PLAIN_TYPES
        and is_allowed_host(meta.get("HTTP_HOST", ""))
    )


def _ask(endpoint: FrontEndpoint, call: FrontCall) -> bytes | None:
    try:
        return endpoint.answer(call)
    except Error as error:
        logger.info("a call of %s goes on to Django: %s", endpoint.path, error)
        return None
    finally:
        # As Django does after a request.
        close_old_connections()
