"""The values of tokens and codes. Only their hashes are stored."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

ACCESS_PREFIX: Final = "cmsoauth_"
_REFRESH_PREFIX: Final = "cmsrefresh_"
_SIGNATURE_LENGTH: Final = 12


def hash_value(value: str) -> str:
    """Return the SHA-256 hash of a value, as stored."""
    # Each value holds 256 random bits, so it cannot be guessed from a fast hash.
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def make_access_token(request: object) -> str:
    return _sign(ACCESS_PREFIX)


def make_refresh_token(request: object) -> str:
    return _sign(_REFRESH_PREFIX)


def is_own_token(token: str) -> bool:
    """Return True if this site made the token, even if it expired or was revoked since."""
    # Clients send expired tokens. These are not guesses, so they must not use up the limit of the address, which
    # other clients may share.
    value, signature = token[:-_SIGNATURE_LENGTH], token[-_SIGNATURE_LENGTH:]
    return any(
        constant_time_compare(_signature(value, key), signature)
        # Tokens made before the secret key was rotated.
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )


def _sign(prefix: str) -> str:
    value = prefix + secrets.token_urlsafe(32)
    return value + _signature(value, settings.SECRET_KEY)


def _signature(value: str, key: str) -> str:
    return salted_hmac("oauth.token", value, secret=key).hexdigest()[:_SIGNATURE_LENGTH]
