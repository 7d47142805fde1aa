"""The text of tokens and codes. Only its hash is stored."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

ACCESS_PREFIX: Final = "cmsoauth_"
_REFRESH_PREFIX: Final = "cmsrefresh_"
_SEAL_LENGTH: Final = 12


def hash_value(value: str) -> str:
    """Return what is stored. Each value holds 256 random bits, so a fast hash tells nothing."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def make_access_token(request: object) -> str:
    return _sealed(ACCESS_PREFIX)


def make_refresh_token(request: object) -> str:
    return _sealed(_REFRESH_PREFIX)


def was_issued(token: str) -> bool:
    """Return whether this site made the token, whatever became of it since.

    Clients show tokens that have expired; such a token is no guess, and must not keep out others that share the
    client's address.
    """
    value, seal = token[:-_SEAL_LENGTH], token[-_SEAL_LENGTH:]
    return any(
        constant_time_compare(_seal(value, key), seal)
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )


def _sealed(prefix: str) -> str:
    value = prefix + secrets.token_urlsafe(32)
    return value + _seal(value, settings.SECRET_KEY)


def _seal(value: str, key: str) -> str:
    return salted_hmac("oauth.token", value, secret=key).hexdigest()[:_SEAL_LENGTH]
