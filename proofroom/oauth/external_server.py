"""Access tokens of an external authorization server, configured in place of this site's own.

Tokens are JWTs (RFC 9068), signed with the server's published keys, with this MCP server as audience. The claim
`MCP_OAUTH_ACCOUNT_CLAIM` identifies the account by email or username.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import jwt
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from proofroom.accounts.models import User
from proofroom.accounts.services.account_tokens import record_use
from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.oauth.addresses import resource
from proofroom.oauth.connections import ConnectedClient, describe_use, record_connected
from proofroom.oauth.models import OAuthClient, OAuthConnection, clean_name
from proofroom.oauth.scopes import KNOWN_SCOPES, add_agents
from proofroom.oauth.signing_keys import BadSignature, find_published_key, read_claims, read_json
from proofroom.oauth.token_values import hash_value

_METADATA_SECONDS: Final = 3600
_FAILED_SECONDS: Final = 30
_TYPES: Final = ("at+jwt", "application/at+jwt", "jwt")
"""Accepted values of the `typ` header. Many servers send only JWT; the audience distinguishes access tokens."""


def find_external_client(token: str) -> ConnectedClient | None:
    """Return the holder of the token. None if no account matches, or if the user blocked the client.

    Raises `BadSignature` for a token that the server did not issue for this MCP server.
    """
    issuer = str(settings.CMS_ENV.mcp_oauth_issuer)
    try:
        kind = str(jwt.get_unverified_header(token).get("typ", "jwt")).lower()
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise BadSignature(str(error)) from error
    if kind not in _TYPES:
        raise BadSignature(f"The token is {kind!r}, no access token.")
    key = find_published_key(token, _keys_url(issuer))
    if key is None:
        raise BadSignature("The authorization server has no such key.")
    claims = read_claims(token, key, audience=[resource()], issuer=issuer)
    user = _find_account(claims)
    if user is None:
        return None
    scopes = _scopes(claims)
    expires = datetime.fromtimestamp(float(str(claims["exp"])), UTC)
    connection = _find_connection(user, _client_name(claims), scopes, expires)
    if connection.ended_at is not None:
        return None
    record_use(
        OAuthConnection,
        connection.pk,
        connection.last_used_at,
        lambda: describe_use(connection),
    )
    return ConnectedClient(
        connection.pk,
        user.pk,
        user.role,
        add_agents(scopes, connection.propose_starts_agents),
        connection.client.client_id,
        expires,
        connection.scope,
    )


def _keys_url(issuer: str) -> str:
    """Return the URL of the server's keys, from its metadata (RFC 8414 or OpenID Connect Discovery)."""
    cache_key = f"oauth:issuer:{hash_value(issuer)}"
    found: str | None = cache.get(cache_key)
    if found is None:
        try:
            found = _read_keys_url(issuer)
        # Failures are cached too, so that every request does not wait for a server that is down.
        except BadSignature:
            cache.set(cache_key, "", _FAILED_SECONDS)
            raise
        cache.set(cache_key, found, _METADATA_SECONDS)
    if not found:
        raise BadSignature("The metadata of the authorization server could not be read just now.")
    return found


def _read_keys_url(issuer: str) -> str:
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    problem: BadSignature | None = None
    # RFC 8414 puts the well-known path before the issuer's path, OpenID Connect after it.
    for address in (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ):
        try:
            metadata = read_json(address)
        except BadSignature as error:
            problem = error
            continue
        keys = str(metadata.get("jwks_uri", ""))
        # Required by RFC 8414, 3.3: other metadata could name an attacker's keys.
        if metadata.get("issuer") != issuer:
            raise BadSignature(f"{address} is the metadata of {metadata.get('issuer')!r}.")
        if urlsplit(keys).scheme not in ("https", parts.scheme):
            raise BadSignature(f"{address} names no keys by https.")
        return keys
    raise problem or BadSignature("The authorization server has no metadata.")


def _find_account(claims: JsonObject) -> User | None:
    """Return the account of the person the token is about, or None. Never an agent's account."""
    value = claims.get(settings.CMS_ENV.mcp_oauth_account_claim)
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    is_address = "@" in value
    # At many providers, users can enter any address until they confirm it.
    if is_address and claims.get("email_verified", True) not in (True, "true"):
        return None
    field = Q(email__iexact=value) if is_address else Q(username=value)
    # Two rows are enough to see that the match is ambiguous, which emails in different case could be.
    found = [user for user in User.objects.filter(field)[:2] if user.can_log_in]
    return found[0] if len(found) == 1 else None


def _scopes(claims: JsonObject) -> list[str]:
    # "scp" is the claim's name at Microsoft and Okta, where it can be a list.
    scope_claim = claims.get("scope", claims.get("scp", ""))
    names = (
        scope_claim.split()
        if isinstance(scope_claim, str)
        else scope_claim
        if isinstance(scope_claim, list)
        else []
    )
    return [scope for scope in KNOWN_SCOPES if scope in names]


def _client_name(claims: JsonObject) -> str:
    # "azp" comes from OpenID Connect, "appid" from Microsoft.
    name = claims.get("client_id", claims.get("azp", claims.get("appid")))
    return clean_name(name) if isinstance(name, str) and name else "unknown"


def _find_connection(
    user: User, name: str, scopes: list[str], expires: datetime
) -> OAuthConnection:
    """Return the connection of the user with this client, updated from the token."""
    client_id = f"external:{hash_value(f'{settings.CMS_ENV.mcp_oauth_issuer} {name}')}"
    rows = OAuthConnection.objects.select_related("client")
    found = rows.filter(user=user, client__client_id=client_id).first()
    if found is None:
        return _connect(user, client_id, name, scopes, expires)
    # An older token may arrive after a newer one. Write only on changes, because this runs for every request.
    is_newer = found.expires_at is None or expires > found.expires_at
    if is_newer or (found.role, found.scopes) != (user.role, scopes):
        found.expires_at = expires if is_newer else found.expires_at
        found.role, found.scopes = user.role, scopes
        found.save(update_fields=["expires_at", "role", "scopes"])
    return found


@transaction.atomic
def _connect(
    user: User, client_id: str, name: str, scopes: list[str], expires: datetime
) -> OAuthConnection:
    client, _ = OAuthClient.objects.get_or_create(
        client_id=client_id,
        defaults={
            "name": name,
            "client_type": OAuthClient.CLIENT_PUBLIC,
            "authorization_grant_type": OAuthClient.GRANT_AUTHORIZATION_CODE,
            "client_secret": "",
        },
    )
    connection, is_new = OAuthConnection.objects.get_or_create(
        user=user,
        client=client,
        defaults={
            "role": user.role,
            "scopes": scopes,
            "connected_at": timezone.now(),
            "expires_at": expires,
        },
    )
    if is_new:
        record_connected(connection, Actor(user, "mcp"))
    return connection
