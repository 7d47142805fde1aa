"""Who a request comes from: its credential, from the headers alone, and who stands behind it."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseAway
from starlette.responses import JSONResponse
from starlette.types import Scope

from core.api.throttles import caller_address, is_allowed_freely
from mcp_bridge.access.credentials import Principal, credentials_configured, local_principal
from mcp_bridge.access.holders import Account, Holder, client_holder, system_account
from mcp_bridge.access.tries import Tries
from mcp_bridge.protocol.threads import Workers
from mcp_bridge.services.tokens import PREFIX
from mcp_bridge.serving.address import is_loopback
from mcp_bridge.serving.answers import (
    nobody_behind,
    nobody_to_ask,
    too_many_tries,
    unauthenticated,
)

logger = logging.getLogger("mcp_bridge")
RawHeaders = Iterable[tuple[bytes, bytes]]
ACCOUNT_SECONDS: Final = 1.0
"""How long the system's account is believed to be as it was; a call itself reads it again."""
_FORWARDED: Final = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a request shows of its caller. `bearer` and `key` are None where they were not sent;
    `is_silent` where there was no `Authorization` of any kind either."""

    bearer: bytes | None
    key: bytes | None
    peer: str
    address: str
    is_forwarded: bool
    is_silent: bool

    @property
    def credential(self) -> bytes | None:
        """What was presented, right or wrong."""
        return self.bearer if self.bearer is not None else self.key


def shown_by(headers: RawHeaders, client: str | None) -> Shown:
    """`headers` are raw; `client` is the address that the connection came from."""
    values: dict[bytes, bytes] = {}
    for name, value in headers:
        values.setdefault(name.lower(), value.strip(b" \t"))
    scheme, _, token = values.get(b"authorization", b"").partition(b" ")
    name = (settings.CMS_ENV.mcp_auth_header_name or "").lower().encode()
    forwarded = values.get(b"x-forwarded-for", b"").decode("latin-1")
    return Shown(
        bearer=token.strip(b" ") if scheme.lower() == b"bearer" else None,
        key=values.get(name) if name else None,
        peer=client or "",
        address=caller_address(client or "", forwarded),
        is_forwarded=any(header in values for header in _FORWARDED),
        is_silent=b"authorization" not in values,
    )


def static_principal(shown: Shown) -> Principal | None:
    """The operator's credential. Compared in constant time; an unset secret matches nothing."""
    environment = settings.CMS_ENV
    if _same(shown.bearer, environment.mcp_auth_token):
        return Principal(id="token", diagnostics=environment.mcp_diagnostics)
    if _same(shown.key, environment.mcp_auth_header_value):
        return Principal(id="header", diagnostics=environment.mcp_diagnostics)
    return None


def is_local(shown: Shown) -> bool:
    """Whether the caller shows no credential, needs none here, and is on this machine itself."""
    return (
        not credentials_configured()
        and shown.is_silent
        and not shown.is_forwarded
        and is_loopback(shown.peer)
    )


def _same(given: bytes | None, expected: str | None) -> bool:
    return bool(given and expected) and hmac.compare_digest(given or b"", (expected or "").encode())


class Doorkeeper:
    """Lets requests in. `serves_local`: whether callers of this machine need no credential."""

    def __init__(self, workers: Workers, *, serves_local: bool) -> None:
        self._workers = workers
        self._serves_local = serves_local
        self._tries = Tries()
        self._account: Account | None = None
        self._look_again = 0.0

    async def admit(self, scope: Scope) -> Holder | JSONResponse:
        """Who is let in, or the answer that refuses them."""
        try:
            return await self._admitted(scope)
        except DatabaseAway as error:
            logger.error("nobody is let in while the database is away: %s", error)
            return nobody_to_ask()

    async def _admitted(self, scope: Scope) -> Holder | JSONResponse:
        client = scope.get("client")
        shown = shown_by(scope["headers"], client[0] if client else None)
        credential = shown.credential
        if credential is None:
            may_enter = self._serves_local and is_local(shown)
            return await self._behind(local_principal(), shown) if may_enter else unauthenticated()
        seconds = self._tries.wait(shown.address, credential)
        if seconds:
            return too_many_tries(seconds)
        principal = static_principal(shown)
        found = (
            await self._behind(principal, shown) if principal else await self._client(shown.bearer)
        )
        if found is None:
            seconds = await self._workers.run_apart(self._tries.was_wrong, shown.address)
            return too_many_tries(seconds) if seconds else unauthenticated()
        self._tries.was_right(shown.address, credential)
        return found if isinstance(found, JSONResponse) else _counted(found, shown)

    async def _client(self, bearer: bytes | None) -> Holder | None:
        secret = (bearer or b"").decode("latin-1")
        if not secret.startswith(PREFIX):
            return None
        return await self._workers.run_apart(client_holder, secret)

    async def _behind(self, principal: Principal, shown: Shown) -> Holder | JSONResponse:
        now = time.monotonic()
        if self._account is None or now >= self._look_again:
            self._account = await self._workers.run_apart(system_account)
            self._look_again = now + ACCOUNT_SECONDS
        if self._account is None:
            return nobody_behind()
        return _counted(Holder(principal, self._account), shown)


def _counted(holder: Holder, shown: Shown) -> Holder:
    """The holder, whose calls are not counted where they come from the allow-list."""
    if not is_allowed_freely(shown.address):
        return holder
    return replace(holder, principal=replace(holder.principal, is_counted=False))
