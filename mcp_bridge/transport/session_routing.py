"""Sessions of other processes: an id starts with the key of its process, and other processes forward
requests to it.

So a load balancer may send each request to any process. Streams, cancellations and answers of
clients arrive where the session is, which copies of the session could not guarantee.
"""

from __future__ import annotations

import ipaddress
import logging
import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import uuid4

import anyio
import httpx2
from django.core import signing
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from mcp_bridge.error_responses import refusal
from mcp_bridge.models import McpProcess
from mcp_bridge.worker_threads import Workers
from proofroom.core.database.errors import RETRY_AFTER_SECONDS, UNAVAILABLE
from proofroom.core.validation.host_names import is_loopback_host

logger = logging.getLogger("mcp_bridge")
REPORT_SECONDS: Final = 10.0
ALIVE: Final = timedelta(seconds=35)
"""A process without a report for this time counts as gone."""
_ADDRESSES_SECONDS: Final = 5.0
_PASSED_ON: Final = b"x-mcp-passed-on"
"""Header with the original client of a forwarded request, signed by the installation."""
_PASSED_ON_SALT: Final = "mcp-passed-on"
_BELIEVED_SECONDS: Final = 60
"""Maximum age of the signature in seconds: longer than the forwarding and the clock difference of two machines."""
WAS_PASSED_ON: Final = "mcp_was_passed_on"
"""Key in the scope of a forwarded request, which must not be forwarded again."""
_OF_ONE_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"te", b"upgrade"}
)
_CONNECT_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 60.0
"""Read timeout in seconds. Streams send something every 15 seconds."""
_KEPT_SECONDS: Final = 2.0
"""Shorter than the server's keep-alive, so that no connection is used while the server closes it."""


def own_address(host: str, port: int) -> str:
    """Return the address at which other processes reach a server that binds `host` and `port`.

    For a wildcard host, it is the local address of the route to the database.
    """
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        # The fallback, if the database is local or has no network address.
        host = "127.0.0.1"
        database = connection.settings_dict.get("HOST") or ""
        if database and not database.startswith("/") and not is_loopback_host(database):
            with suppress(OSError):
                found = socket.getaddrinfo(database, 1, type=socket.SOCK_DGRAM)[0]
                with socket.socket(found[0], socket.SOCK_DGRAM) as probe:
                    probe.connect(found[4])  # sends nothing
                    host = probe.getsockname()[0]
    with suppress(ValueError):
        if ipaddress.ip_address(host).version == 6:
            host = f"[{host}]"
    return f"{host}:{port}"


def report_running(key: str, address: str) -> None:
    """Report that the process runs. One statement after the first time."""
    now = timezone.now()
    if not McpProcess.objects.filter(pk=key).update(seen_at=now):
        # A process with the same address replaces one that was killed.
        gone = Q(seen_at__lt=now - timedelta(days=1)) | Q(address=address)
        McpProcess.objects.filter(gone).delete()
        McpProcess.objects.create(pk=key, address=address, seen_at=now)


def report_stopped(key: str) -> None:
    McpProcess.objects.filter(pk=key).delete()


def running_processes() -> dict[str, str]:
    """Return the addresses of the running processes, by key."""
    alive = McpProcess.objects.filter(seen_at__gte=timezone.now() - ALIVE)
    return dict(alive.values_list("pk", "address"))


def receive_passed_on(scope: Scope) -> Scope:
    """Return the original scope of a request forwarded by another process, with the original client.

    A mark that this installation did not sign is removed.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    marks = [value for name, value in headers if name == _PASSED_ON]
    if not marks:
        return scope
    scope = {**scope, "headers": [one for one in headers if one[0] != _PASSED_ON]}
    with suppress(signing.BadSignature):
        sender: str | None = signing.loads(
            marks[0].decode("latin-1"), salt=_PASSED_ON_SALT, max_age=_BELIEVED_SECONDS
        )
        scope.update({"client": (sender, 0) if sender else None, WAS_PASSED_ON: True})
    return scope


def sign_passed_on(scope: Scope) -> bytes:
    """Return the signed client of a request, for another process of the installation."""
    client = scope.get("client")
    return signing.dumps(client[0] if client else None, salt=_PASSED_ON_SALT).encode()


class SessionRouter:
    """One process among others. `address` is where they reach it; without one it is alone."""

    def __init__(self, workers: Workers, address: str | None) -> None:
        # Random, so that a restarted process is not taken for its predecessor.
        self.key = secrets.token_hex(4)
        self._workers = workers
        self._address = address
        self._known: Mapping[str, str] = {}
        self._known_until = 0.0
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=_KEPT_SECONDS),
            # Requests between processes must not go through a proxy of the environment.
            trust_env=False,
            verify=False,  # only plain HTTP is used, and loading certificates is slow
        )

    def new_session_id(self) -> str:
        """Return a random UUID that starts with the key of this process."""
        return self.key + uuid4().hex[len(self.key) :]

    async def start(self) -> None:
        """Register this process, before the first session is opened."""
        await self._report()

    async def run(self) -> None:
        """Repeat the report until cancelled."""
        try:
            while self._address is not None:
                await anyio.sleep(REPORT_SECONDS)
                await self._report()
        finally:
            with anyio.CancelScope(shield=True):
                await self._client.aclose()
                if self._address is not None:
                    with suppress(DatabaseError):
                        await self._workers.run_apart(report_stopped, self.key)

    async def pass_on(self, session_id: str, scope: Scope, receive: Receive, send: Send) -> bool:
        """Forward the request to the process that holds the session. Return False if this process must answer."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if WAS_PASSED_ON in scope:
            return False
        address = await self._find_address(session_id[: len(self.key)])
        if address is None:
            return False
        first: Message = await receive() if scope["method"] == "POST" else {}
        query = scope.get("query_string", b"").decode("latin-1")
        try:
            request = self._client.build_request(
                scope["method"],
                f"http://{address}{scope['path']}{'?' if query else ''}{query}",
                headers=[
                    *((name, value) for name, value in headers if name not in _OF_ONE_CONNECTION),
                    (_PASSED_ON, sign_passed_on(scope)),
                ],
                content=first.get("body", b""),
            )
        except httpx2.InvalidURL:
            await refusal(400, "The address cannot be read.", "invalid_address")(
                scope, receive, send
            )
            return True
        async with anyio.create_task_group() as tasks:

            async def hang_up() -> None:
                while (await receive())["type"] != "http.disconnect":
                    continue
                tasks.cancel_scope.cancel()

            tasks.start_soon(hang_up)
            refused = await self._relay(request, send)
            if refused is not None:
                await refused(scope, receive, send)
            tasks.cancel_scope.cancel()
        return True

    async def _relay(self, request: httpx2.Request, send: Send) -> JSONResponse | None:
        """Stream the answer of the other process, or return an error response if it gives none.

        If nothing listens at its address any more, the session is lost. A process that is only busy
        still holds it.
        """
        try:
            response = await self._client.send(request, stream=True)
        except httpx2.TransportError as error:
            logger.info("cannot reach the process of a session: %r", error)
            if _is_refused(error):
                gone = "The process that held this session has ended. Begin a new one."
                return refusal(404, gone, "not_found")
            return refusal(
                503,
                "The process that holds this session does not answer just now, and may still do what was asked. "
                "Try again in a moment.",
                UNAVAILABLE,
                {"Retry-After": str(RETRY_AFTER_SECONDS)},
            )
        try:
            head = [one for one in response.headers.raw if one[0].lower() not in _ENDS_HERE]
            status = response.status_code
            await send({"type": "http.response.start", "status": status, "headers": head})
            with suppress(
                httpx2.TransportError
            ):  # it was killed; the part already sent cannot be changed
                async for part in response.aiter_raw():
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
        return None

    async def _find_address(self, key: str) -> str | None:
        """Return the address of the process with the key; None for this one and for an unknown one."""
        if key == self.key or self._address is None:
            return None
        if key not in self._known or time.monotonic() >= self._known_until:
            with suppress(DatabaseError):  # during an outage the last known addresses are used
                self._known = await self._workers.run_apart(running_processes)
                self._known_until = time.monotonic() + _ADDRESSES_SECONDS
        address = self._known.get(key)
        return None if address == self._address else address  # an earlier process at this address

    async def _report(self) -> None:
        if self._address is None:
            return
        try:
            await self._workers.run_apart(report_running, self.key, self._address)
        except DatabaseError as error:
            logger.error("cannot announce this process to the other MCP processes: %s", error)


def _is_refused(error: BaseException | None) -> bool:
    """Return True if the error or one of its causes is a refused connection."""
    while error is not None and not isinstance(error, ConnectionRefusedError):
        error = error.__cause__ or error.__context__
    return error is not None


_ENDS_HERE: Final = _OF_ONE_CONNECTION - {b"content-length"}
