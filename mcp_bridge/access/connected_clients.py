"""Access of AI clients that people connected with OAuth."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

import orjson
from django.conf import settings
from starlette.responses import JSONResponse

from mcp_bridge.access.principals import Principal, missing_scope
from mcp_bridge.access.token_holders import Account, TokenHolder
from mcp_bridge.error_responses import refusal
from proofroom.core.tools import get_tool
from proofroom.oauth.addresses import issues_tokens, resource_metadata_url
from proofroom.oauth.connections import (
    CONNECTION_PREFIX,
    ConnectedClient,
    find_connected_client,
    usable_connections,
)
from proofroom.oauth.external_server import find_external_client
from proofroom.oauth.scopes import DIAGNOSTICS, KNOWN_SCOPES, SCOPES, USUAL_SCOPES

_REALM: Final = 'Bearer realm="mcp"'


def challenge(error: str, scopes: Collection[str] = USUAL_SCOPES) -> dict[str, str]:
    """Return the header that tells clients where to request a token, and with which scopes."""
    parts = [f'{_REALM}, error="{error}"']
    if settings.CMS_ENV.mcp_oauth:
        parts += [
            f'scope="{" ".join(scopes)}"',
            f'resource_metadata="{resource_metadata_url()}"',
        ]
    return {"WWW-Authenticate": ", ".join(parts)}


def find_client_holder(token: str) -> TokenHolder | None:
    """Return the holder of an access token issued by this site for its MCP server. Records the use.

    The holder stays equal when the client refreshes its token, so that its sessions continue.
    """
    found = find_connected_client(token) if issues_tokens() else None
    return _holder_of(found) if found is not None else None


def find_external_holder(token: str) -> TokenHolder | None:
    """Return the holder of a token of the configured authorization server. Raises `BadSignature`."""
    found = find_external_client(token)
    return _holder_of(found) if found is not None else None


def has_external_server() -> bool:
    """Return True if another server than this site issues the tokens."""
    environment = settings.CMS_ENV
    return environment.mcp_oauth and environment.mcp_oauth_issuer is not None


def _holder_of(found: ConnectedClient) -> TokenHolder:
    principal = Principal(
        id=f"{CONNECTION_PREFIX}{found.id}",
        user_id=found.user_id,
        role=found.role,
        diagnostics=DIAGNOSTICS in found.scopes,
        scopes=found.scopes,
        content_scope=found.content_scope,
    )
    return TokenHolder(principal, Account(found.user_id, found.role))


def still_connected(holders: Collection[TokenHolder]) -> set[TokenHolder]:
    """Return the holders whose connection still exists with the same limits. One query."""
    ids = {one: UUID(one.principal.id.removeprefix(CONNECTION_PREFIX)) for one in holders}
    usable = usable_connections(set(ids.values())) if ids else {}
    found = set()
    for one, id_ in ids.items():
        limits, scopes = usable.get(id_, (None, frozenset[str]()))
        if limits == one.principal.content_scope and scopes.issuperset(one.principal.scopes or ()):
            found.add(one)
    return found


def refuse_missing_scope(principal: Principal, body: bytes) -> JSONResponse | None:
    """Return the response to a call of a tool outside of the client's scopes, so that the client can
    request more.

    A body that is not a call is left to the protocol.
    """
    if principal.scopes is None or principal.scopes.issuperset(SCOPES):
        return None
    try:
        message = orjson.loads(body)
        name = message["params"]["name"] if message["method"] == "tools/call" else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    tool = get_tool(name) if isinstance(name, str) else None
    scope = missing_scope(principal, tool) if tool is not None else ""
    if not scope:
        return None
    # With the scopes granted before, because the new grant replaces the old one.
    wanted = [one for one in KNOWN_SCOPES if one in principal.scopes or one == scope]
    return refusal(
        403,
        f"The person who connected this client did not allow it the scope {scope}.",
        "insufficient_scope",
        challenge("insufficient_scope", wanted),
    )
