"""Authentication of HTTP requests by their headers, with a limit on wrong credentials per address.

A credential that was valid from an address is accepted there even while the address must wait, so
that one misconfigured client does not lock out others behind the same address.
"""

from __future__ import annotations

import hashlib
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

from mcp_bridge.access.connected_clients import (
    challenge,
    find_client_holder,
    find_external_holder,
    has_external_server,
)
from mcp_bridge.access.principals import (
    NO_ACCOUNT_MESSAGE,
    Principal,
    credentials_configured,
    local_principal,
)
from mcp_bridge.access.server_access import ServerAccess
from mcp_bridge.access.token_holders import TokenHolder
from mcp_bridge.access.tokens import PREFIX, find_holder, system_account
from mcp_bridge.error_responses import refusal
from mcp_bridge.worker_threads import Workers
from proofroom.core.caching.rate_limits import (
    HitCount,
    caller_address,
    is_allow_listed,
    rate_limit_key,
)
from proofroom.core.database.errors import RETRY_AFTER_SECONDS, UNAVAILABLE
from proofroom.core.validation.host_names import is_loopback_host
from proofroom.oauth.signing_keys import BadSignature, ExpiredToken
from proofroom.oauth.token_values import ACCESS_PREFIX, is_own_token

_MAX_ENTRIES: Final = 10_000


class FailedAttempts:
    """The addresses that must wait, and the credentials that were valid."""

    def __init__(self) -> None:
        # In memory, so that a blocked address costs no cache request.
        self._until: dict[str, float] = {}
        self._right: dict[tuple[str, bytes], None] = {}

    def seconds_to_wait(self, address: str, credential: bytes) -> int:
        """Return the seconds until the credential may be checked; 0 for now."""
        left = self._until.get(rate_limit_key(address), 0.0) - time.time()
        if left <= 0 or _entry_key(address, credential) in self._right:
            return 0
        return max(1, round(left))

    def record_success(self, address: str, credential: bytes) -> None:
        if len(self._right) >= _MAX_ENTRIES:
            self._right.clear()
        self._right[_entry_key(address, credential)] = None

    def record_failure(self, address: str) -> int:
        """Count a failed attempt. Return the seconds to wait after too many, otherwise 0. Uses the cache."""
        if is_allow_listed(address):
            return 0
        count = HitCount("login", f"mcp:{rate_limit_key(address)}")
        if not count.is_over:
            return 0
        if len(self._until) >= _MAX_ENTRIES:
            self._until.clear()
        self._until[rate_limit_key(address)] = time.time() + count.wait
        return count.wait


def _entry_key(address: str, credential: bytes) -> tuple[str, bytes]:
    # Hashed, so that no secret stays in memory for long.
    return rate_limit_key(address), hashlib.sha256(credential).digest()


logger = logging.getLogger("mcp_bridge")
RawHeaders = Iterable[tuple[bytes, bytes]]
ACCOUNT_CACHE_SECONDS: Final = 1.0
"""Maximum age of a cached credential, if no change is notified."""
_FORWARDED: Final = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The credentials of a request. `bearer` and `key` are None if not sent; `is_silent` if there was
    no `Authorization` header of any kind.
    """

    bearer: bytes | None
    key: bytes | None
    peer: str
    address: str
    is_forwarded: bool
    is_silent: bool

    @property
    def credential(self) -> bytes | None:
        """The presented credential, valid or not."""
        return self.bearer if self.bearer is not None else self.key


def read_credentials(headers: RawHeaders, client: str | None) -> RequestCredentials:
    """Read the credentials from raw `headers`; `client` is the address of the connection."""
    values: dict[bytes, bytes] = {}
    for name, value in headers:
        # The first of repeated headers counts.
        values.setdefault(name.lower(), value.strip(b" \t"))
    scheme, _, token = values.get(b"authorization", b"").partition(b" ")
    name = (settings.CMS_ENV.mcp_auth_header_name or "").lower().encode()
    forwarded = values.get(b"x-forwarded-for", b"").decode("latin-1")
    return RequestCredentials(
        bearer=token.strip(b" ") if scheme.lower() == b"bearer" else None,
        key=values.get(name) if name else None,
        peer=client or "",
        address=caller_address(client or "", forwarded),
        is_forwarded=any(header in values for header in _FORWARDED),
        is_silent=b"authorization" not in values,
    )


def static_principal(shown: RequestCredentials) -> Principal | None:
    """Return the principal of the static credential. Compared in constant time; an unset secret matches nothing."""
    environment = settings.CMS_ENV
    if _matches(shown.bearer, environment.mcp_auth_token):
        return Principal(id="token", diagnostics=environment.mcp_diagnostics)
    if _matches(shown.key, environment.mcp_auth_header_value):
        return Principal(id="header", diagnostics=environment.mcp_diagnostics)
    return None


def is_local(shown: RequestCredentials) -> bool:
    """Return True if the caller is on this machine, sends no credential and needs none."""
    return (
        not credentials_configured()
        and shown.is_silent
        and not shown.is_forwarded
        # Requests through a proxy on this machine also come from a loopback address.
        and is_loopback_host(shown.peer)
    )


def _matches(given: bytes | None, expected: str | None) -> bool:
    return bool(given and expected) and hmac.compare_digest(given or b"", (expected or "").encode())


class Authenticator:
    """Authenticates requests. `serves_local`: callers of this machine need no credential."""

    def __init__(self, workers: Workers, access: ServerAccess, *, serves_local: bool) -> None:
        self._workers = workers
        self._access = access
        self._serves_local = serves_local
        self._attempts = FailedAttempts()

    async def admit(self, scope: Scope) -> TokenHolder | JSONResponse:
        """Return the holder of the credential, or the response that rejects the request."""
        try:
            return await self.authenticate(scope)
        except DatabaseAway as error:
            logger.error("requests are refused while the database is unavailable: %s", error)
            return refusal(
                503,
                "Credentials cannot be checked just now. Try again in a moment.",
                UNAVAILABLE,
                {"Retry-After": str(RETRY_AFTER_SECONDS)},
            )

    async def authenticate(self, scope: Scope) -> TokenHolder | JSONResponse:
        client = scope.get("client")
        credentials = read_credentials(scope["headers"], client[0] if client else None)
        credential = credentials.credential
        if credential is None:
            may_enter = self._serves_local and is_local(credentials)
            if not may_enter:
                return unauthenticated()
            return await self.holder_of(local_principal(), credentials)
        known = self._access.known
        # The header is part of the key, because a token is not valid in the other header.
        key = credentials.address, credential, credentials.bearer is None
        holder: TokenHolder | None = known.find(key)
        if holder is not None:
            return holder
        seconds = self._attempts.seconds_to_wait(credentials.address, credential)
        if seconds:
            return too_many_attempts(seconds)
        principal = static_principal(credentials)
        found: TokenHolder | JSONResponse | None = None
        secret = (credentials.bearer or b"").decode("latin-1")
        if principal:
            found = await self.holder_of(principal, credentials)
        elif secret.startswith(PREFIX):
            found = await self._workers.run_apart(find_holder, secret)
        elif secret.startswith(ACCESS_PREFIX) and is_own_token(secret):
            found = await self._workers.run_apart(find_client_holder, secret)
            if found is None:  # issued here but ended, so it is no guess to count as a failure
                return unauthenticated()
        # A JWT has three parts (RFC 7519); other strings are not sent to the verifier.
        elif has_external_server() and secret.count(".") == 2:
            try:
                found = await self._workers.run_apart(find_external_holder, secret)
            except BadSignature as error:
                logger.info("a token of an AI client was refused: %s", error)
                if isinstance(error, ExpiredToken):
                    return unauthenticated()
            else:
                if found is None:  # the subject has no account here, or disconnected the client
                    return unauthenticated()
        if found is None:
            seconds = await self._workers.run_apart(
                self._attempts.record_failure, credentials.address
            )
            return too_many_attempts(seconds) if seconds else unauthenticated()
        self._attempts.record_success(credentials.address, credential)
        if isinstance(found, JSONResponse):
            return found
        holder = _without_rate_limit_if_allowed(found, credentials)
        known.keep(key, holder, ACCOUNT_CACHE_SECONDS)
        return holder

    async def holder_of(
        self, principal: Principal, shown: RequestCredentials
    ) -> TokenHolder | JSONResponse:
        known = self._access.known
        account = known.find("system account")
        if account is None:
            account = await self._workers.run_apart(system_account)
            if account is None:
                return refusal(401, NO_ACCOUNT_MESSAGE, "no_account", challenge("invalid_token"))
            known.keep("system account", account, ACCOUNT_CACHE_SECONDS)
        return _without_rate_limit_if_allowed(TokenHolder(principal, account), shown)


def unauthenticated() -> JSONResponse:
    """Return the response to missing and wrong credentials."""
    return refusal(
        401,
        "No valid credential: send `Authorization: Bearer <token>` or the configured header.",
        "not_authenticated",
        challenge("invalid_token"),
    )


def too_many_attempts(seconds: int) -> JSONResponse:
    return refusal(
        429,
        f"Too many wrong credentials from this address. Wait {seconds} seconds.",
        "too_many_attempts",
        {"Retry-After": str(seconds)},
    )


def _without_rate_limit_if_allowed(holder: TokenHolder, shown: RequestCredentials) -> TokenHolder:
    """Return the holder, with uncounted calls if the address is on the allow-list."""
    if not is_allow_listed(shown.address):
        return holder
    return replace(holder, principal=replace(holder.principal, is_counted=False))
