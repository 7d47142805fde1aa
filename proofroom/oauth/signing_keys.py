"""Public keys that others sign with (JSON Web Key Sets, RFC 7517), read through the guard and kept for a while."""

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
"""Signatures with a key pair. A shared secret or none is never accepted, whatever a token says of itself."""
_KEPT_SECONDS: Final = 3600
_RENEWED_SECONDS: Final = 60
_FETCH_SECONDS: Final = 5.0
_MAX_BYTES: Final = 64 * 1024


class BadSignature(Exception):
    """A token that is not signed by whom it names, or is not meant for here. Says why."""


class ExpiredToken(BadSignature):
    """A token that was right once: it is no guess."""


def read_json(url: str) -> JsonObject:
    """Return the JSON object at an address. Raises `BadSignature` where there is none."""
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
    """Return the key of the set that the token names, or the only one of a set. Raises `BadSignature`."""
    try:
        header = jwt.get_unverified_header(token)
        known = jwt.PyJWKSet.from_dict(keys).keys
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadSignature(f"The token or the keys cannot be read: {error}") from error
    signing = [key for key in known if key.public_key_use in (None, "sig")]
    name = header.get("kid")
    if name is None:
        return signing[0] if len(signing) == 1 else None
    return next((key for key in signing if key.key_id == name), None)


def find_published_key(token: str, url: str) -> jwt.PyJWK | None:
    """The same for keys at an address. An unknown name is looked for again, at most once a minute."""
    kept, renewed = (f"oauth:keys{part}:{hash_value(url)}" for part in ("", "-renewed"))
    keys = cache.get(kept)
    key = find_key(token, keys) if keys is not None else None
    if key is None and cache.add(renewed, True, _RENEWED_SECONDS):
        keys = read_json(url)
        cache.set(kept, keys, _KEPT_SECONDS)
        key = find_key(token, keys)
    return key


def read_claims(token: str, key: jwt.PyJWK, *, audience: list[str], issuer: str) -> JsonObject:
    """Return what a token claims. Raises `BadSignature` unless it is signed, valid now, and meant for here."""
    if key.algorithm_name not in ALGORITHMS:
        raise BadSignature(f"{key.algorithm_name} is no signature with a key pair.")
    try:
        claims: JsonObject = jwt.decode(
            token,
            key,
            algorithms=[key.algorithm_name],
            audience=audience,
            issuer=issuer,
            leeway=30,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except jwt.ExpiredSignatureError as error:
        raise ExpiredToken(str(error)) from error
    except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
        raise BadSignature(str(error)) from error
    return claims
