"""Access tokens of an authorization server that the operator names in place of this site's own.

They are signed (JWT access tokens, RFC 9068) by keys that the server publishes, for this MCP server. Whose account is
meant says their claim `MCP_OAUTH_ACCOUNT_CLAIM`, by e-mail address or user name.
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
from proofroom.oauth.scopes import SCOPES, add_agents
from proofroom.oauth.signing_keys import BadSignature, find_published_key, read_claims, read_json
from proofroom.oauth.token_values import hash_value

_METADATA_SECONDS: Final = 3600
_FAILED_SECONDS: Final = 30
_TYPES: Final = ("at+jwt", "application/at+jwt", "jwt")
"""Many servers say only that it is a JWT; whom it is for tells it from other tokens of theirs."""


def find_external_client(token: str) -> ConnectedClient | None:
    """Return whom the token stands for; None where no account here is meant, or the person ended the client.

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
    user = _account(claims)
    if user is None:
        return None
    scopes = _scopes(claims)
    expires = datetime.fromtimestamp(float(str(claims["exp"])), UTC)
    connection = _connection(user, _client_name(claims), scopes, expires)
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
    """Where the keys of the server are, by its metadata (RFC 8414, or that of OpenID Connect)."""
    kept = f"oauth:issuer:{hash_value(issuer)}"
    found: str | None = cache.get(kept)
    if found is None:
        try:
            found = _read_keys_url(issuer)
        except BadSignature:
            cache.set(kept, "", _FAILED_SECONDS)
            raise
        cache.set(kept, found, _METADATA_SECONDS)
    if not found:
        raise BadSignature("The metadata of the authorization server could not be read just now.")
    return found


def _read_keys_url(issuer: str) -> str:
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    problem: BadSignature | None = None
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
        if metadata.get("issuer") != issuer:
            raise BadSignature(f"{address} is the metadata of {metadata.get('issuer')!r}.")
        if urlsplit(keys).scheme not in ("https", parts.scheme):
            raise BadSignature(f"{address} names no keys by https.")
        return keys
    raise problem or BadSignature("The authorization server has no metadata.")


def _account(claims: JsonObject) -> User | None:
    """The account of the person that the token is about; never that of an agent."""
    value = claims.get(settings.CMS_ENV.mcp_oauth_account_claim)
    if not isinstance(value, str) or not value or not value.isprintable():
        return None
    is_address = "@" in value
    if is_address and claims.get("email_verified", True) not in (True, "true"):
        return None
    field = Q(email__iexact=value) if is_address else Q(username=value)
    found = [user for user in User.objects.filter(field)[:2] if user.can_log_in]
    return found[0] if len(found) == 1 else None


def _scopes(claims: JsonObject) -> list[str]:
    said = claims.get("scope", claims.get("scp", ""))
    names = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    return [scope for scope in SCOPES if scope in names]


def _client_name(claims: JsonObject) -> str:
    name = claims.get("client_id", claims.get("azp", claims.get("appid")))
    return clean_name(name) if isinstance(name, str) and name else "unknown"


def _connection(user: User, name: str, scopes: list[str], expires: datetime) -> OAuthConnection:
    """The connection of this person with this client, as the newest token says. Written only where it says more."""
    client_id = f"external:{hash_value(f'{settings.CMS_ENV.mcp_oauth_issuer} {name}')}"
    rows = OAuthConnection.objects.select_related("client")
    found = rows.filter(user=user, client__client_id=client_id).first()
    if found is None:
        return _connect(user, client_id, name, scopes, expires)
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
