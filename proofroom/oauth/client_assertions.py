"""Client authentication by signed assertions (`private_key_jwt`, RFC 7523).

The keys are in the client's metadata document or at the URL it names.
"""

from __future__ import annotations

import time
from typing import Final

import jwt
from django.core.cache import cache
from django.urls import reverse
from oauthlib.common import Request

from proofroom.core.json import JsonObject
from proofroom.oauth.addresses import issuer
from proofroom.oauth.models import OAuthClientKeys
from proofroom.oauth.signing_keys import BadSignature, find_key, find_published_key, read_claims
from proofroom.oauth.token_values import hash_value

METHOD: Final = "private_key_jwt"
ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_MAX_URL_LENGTH: Final = 500
_MAX_VALIDITY_SECONDS: Final = 600
"""Longest validity of an assertion, in seconds. Its id is stored for as long, because it may be used only once."""


def store_client_keys(client_id: str, document: dict[str, object]) -> None:
    """Store the keys of the client from its document, and whether it must sign its requests.

    Raises `BadSignature` if the client only signs but names no keys.
    """
    offered = document.get("token_endpoint_auth_methods_supported")
    methods = [
        document.get("token_endpoint_auth_method"),
        *(offered if isinstance(offered, list) else []),
    ]
    keys_url, keys = document.get("jwks_uri"), document.get("jwks")
    is_address = isinstance(keys_url, str) and keys_url.startswith("https://")
    address = str(keys_url) if is_address and len(str(keys_url)) <= _MAX_URL_LENGTH else ""
    has_keys = bool(address) or isinstance(keys, dict)
    # A client that also offers "none" may call without a signature.
    is_required = METHOD in methods and "none" not in methods
    if is_required and not has_keys:
        raise BadSignature("the document says private_key_jwt and names no keys")
    if METHOD not in methods or not has_keys:
        OAuthClientKeys.objects.filter(client_id=client_id).delete()
        return
    OAuthClientKeys.objects.update_or_create(
        client_id=client_id,
        defaults={
            "jwks_uri": address,
            "jwks": keys if isinstance(keys, dict) and not address else {},
            "is_required": is_required,
        },
    )


def must_sign(client_id: str) -> bool:
    """Return True if unsigned requests of the client are refused."""
    return OAuthClientKeys.objects.filter(client_id=client_id, is_required=True).exists()


def has_assertion(request: Request) -> bool:
    """Return True if the request has an assertion, valid or not."""
    sent = (getattr(request, name, None) for name in ("client_assertion", "client_assertion_type"))
    return any(sent)


def signing_client(request: Request) -> str:
    """Return the client ID of a signed request. Raises `BadSignature` if anything is invalid."""
    assertion = str(getattr(request, "client_assertion", ""))
    if getattr(request, "client_assertion_type", "") != ASSERTION_TYPE:
        raise BadSignature("client_assertion_type is not the one of RFC 7523.")
    # Not verified yet: the client ID is needed to find the key that verifies the assertion.
    try:
        client_id_claim = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise BadSignature(str(error)) from error
    # PostgreSQL refuses NUL characters in a query.
    if (
        not isinstance(client_id_claim, str)
        or not client_id_claim.isascii()
        or not client_id_claim.isprintable()
    ):
        raise BadSignature("iss is no client.")
    client_id = client_id_claim
    if request.client_id and request.client_id != client_id:
        raise BadSignature("The assertion is of another client.")
    row = OAuthClientKeys.objects.filter(client_id=client_id).first()
    if row is None:
        raise BadSignature("The client has named no keys.")
    key = (
        find_published_key(assertion, row.jwks_uri)
        if row.jwks_uri
        else find_key(assertion, row.jwks)
    )
    if key is None:
        raise BadSignature("The client has no such key.")
    # RFC 7523 allows the token endpoint as audience. Clients also send the issuer, or the endpoint they call.
    endpoints = [issuer() + reverse(f"oauth-{name}") for name in ("token", "revoke")]
    claims = read_claims(assertion, key, audience=[issuer(), *endpoints], issuer=client_id)
    if claims["sub"] != client_id:
        raise BadSignature("sub is not the client.")
    _require_unused(claims)
    return client_id


def _require_unused(claims: JsonObject) -> None:
    # `jti` is optional in RFC 7523. Here it is required, so that an intercepted assertion cannot be replayed.
    expires, name = claims["exp"], claims.get("jti")
    if not isinstance(expires, int | float) or expires > time.time() + _MAX_VALIDITY_SECONDS:
        raise BadSignature(f"An assertion is valid for {_MAX_VALIDITY_SECONDS} seconds at most.")
    if not isinstance(name, str) or not name or not name.isprintable():
        raise BadSignature("jti is missing.")
    seconds_left = expires - time.time()
    used_key = hash_value(f"{claims['iss']} {name}")
    # Longer than the assertion is valid, because `read_claims` accepts clocks that differ.
    if not cache.add(f"oauth:assertion:{used_key}", True, seconds_left + 60):
        raise BadSignature("The assertion was used before.")
