"""Clients that sign their requests with a key of their own (`private_key_jwt`, RFC 7523).

The keys stand in the document that the client names itself by, or where the document says.
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
_LONGEST_ADDRESS: Final = 500
_LONGEST_SECONDS: Final = 600
"""For how long an assertion may be valid; so long it is remembered, since each is good once."""


def keep_keys(client_id: str, document: dict[str, object]) -> None:
    """Remember with which keys the client of this document signs, and whether it must.

    Raises `BadSignature` for a client that only signs and names no keys.
    """
    offered = document.get("token_endpoint_auth_methods_supported")
    methods = [
        document.get("token_endpoint_auth_method"),
        *(offered if isinstance(offered, list) else []),
    ]
    named, keys = document.get("jwks_uri"), document.get("jwks")
    is_address = isinstance(named, str) and named.startswith("https://")
    address = str(named) if is_address and len(str(named)) <= _LONGEST_ADDRESS else ""
    has_keys = bool(address) or isinstance(keys, dict)
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
    """Return whether requests of the client are refused unless they are signed."""
    return OAuthClientKeys.objects.filter(client_id=client_id, is_required=True).exists()


def has_assertion(request: Request) -> bool:
    """Return whether the request is signed, rightly or wrongly."""
    sent = (getattr(request, name, None) for name in ("client_assertion", "client_assertion_type"))
    return any(sent)


def signing_client(request: Request) -> str:
    """Return the ID of the client that signed the request. Raises `BadSignature` for all that is not valid."""
    assertion = str(getattr(request, "client_assertion", ""))
    if getattr(request, "client_assertion_type", "") != ASSERTION_TYPE:
        raise BadSignature("client_assertion_type is not the one of RFC 7523.")
    try:
        claimed = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise BadSignature(str(error)) from error
    if not isinstance(claimed, str) or not claimed.isascii() or not claimed.isprintable():
        raise BadSignature("iss is no client.")
    client_id = claimed
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
    endpoints = [issuer() + reverse(f"oauth-{name}") for name in ("token", "revoke")]
    claims = read_claims(assertion, key, audience=[issuer(), *endpoints], issuer=client_id)
    if claims["sub"] != client_id:
        raise BadSignature("sub is not the client.")
    _use_once(claims)
    return client_id


def _use_once(claims: JsonObject) -> None:
    expires, name = claims["exp"], claims.get("jti")
    if not isinstance(expires, int | float) or expires > time.time() + _LONGEST_SECONDS:
        raise BadSignature(f"An assertion is valid for {_LONGEST_SECONDS} seconds at most.")
    if not isinstance(name, str) or not name or not name.isprintable():
        raise BadSignature("jti is missing.")
    left = expires - time.time()
    used = hash_value(f"{claims['iss']} {name}")
    if not cache.add(f"oauth:assertion:{used}", True, left + 60):
        raise BadSignature("The assertion was used before.")
