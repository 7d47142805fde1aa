"""Public keys of other servers and clients (JSON Web Key Sets, RFC 7517), fetched and cached."""

from __future__ import annotations

from typing import Final

import jwt
import orjson
from django.core.cache import cache

from proofroom.core.errors import CmsError
from proofroom.core.http_client import fetch
from proofroom.core.http_client.connection import Unreachable
from proofroom.core.json import JsonObject
from proofroom.oauth.token_values import hash_value

ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""Accepted signature algorithms, all with a key pair. Symmetric ones and "none" are never accepted."""
_CACHE_SECONDS: Final = 3600
_REFETCH_SECONDS: Final = 60
_FETCH_SECONDS: Final = 5.0
_MAX_BYTES: Final = 64 * 1024


class BadSignature(Exception):
    """The token is not signed by its issuer, or is not for this server. The message gives the reason."""


class ExpiredToken(BadSignature):
    """The token was valid but has expired. It does not count as a guess."""


def read_json(url: str) -> JsonObject:
    """Return the JSON object at the URL. Raises `BadSignature` if it cannot be read."""
    try:
        found = fetch(
            "GET",
            url,
            headers={"Accept": "application/json"},
            seconds=_FETCH_SECONDS,
            max_bytes=_MAX_BYTES,
        )
        read = orjson.loads(found.body) if found.status == 200 and not found.note else None
    except (CmsError, Unreachable, orjson.JSONDecodeError) as error:
        raise BadSignature(f"{url} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise BadSignature(f"{url} answers {found.status} {found.note or 'without an object'}.")
    return read


def find_key(token: str, keys: JsonObject) -> jwt.PyJWK | None:
    """Return the key that the token names, or the only key of the set. Raises `BadSignature`."""
    try:
        header = jwt.get_unverified_header(token)
        known = jwt.PyJWKSet.from_dict(keys).keys
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadSignature(f"The token or the keys cannot be read: {error}") from error
    # Keys for encryption must not verify signatures (RFC 7517, 4.2).
    signing = [key for key in known if key.public_key_use in (None, "sig")]
    name = header.get("kid")
    if name is None:
        return signing[0] if len(signing) == 1 else None
    return next((key for key in signing if key.key_id == name), None)


def find_published_key(token: str, url: str) -> jwt.PyJWK | None:
    """Return the key from the set at the URL. For an unknown key id, fetch the set again, at most once a minute."""
    cache_key, refetch_key = (f"oauth:keys{part}:{hash_value(url)}" for part in ("", "-renewed"))
    keys = cache.get(cache_key)
    # Servers change their keys at any time. The limit stops a caller with invented key ids from causing requests.
    key = find_key(token, keys) if keys is not None else None
    if key is None and cache.add(refetch_key, True, _REFETCH_SECONDS):
        keys = read_json(url)
        cache.set(cache_key, keys, _CACHE_SECONDS)
        key = find_key(token, keys)
    return key


def read_claims(token: str, key: jwt.PyJWK, *, audience: list[str], issuer: str) -> JsonObject:
    """Return the verified claims.

    Raises `BadSignature` unless the token is signed, valid now, and for this audience.
    """
    if key.algorithm_name not in ALGORITHMS:
        raise BadSignature(f"{key.algorithm_name} is no signature with a key pair.")
    try:
        claims: JsonObject = jwt.decode(
            token,
            key,
            # Only the algorithm of the key: with others, a public key could be misused as a shared secret.
            algorithms=[key.algorithm_name],
            audience=audience,
            issuer=issuer,
            # Seconds by which the clocks may differ.
            leeway=30,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except jwt.ExpiredSignatureError as error:
        raise ExpiredToken(str(error)) from error
    except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
        raise BadSignature(str(error)) from error
    return claims
