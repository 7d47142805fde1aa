"""Encryption of secrets that the site must read again, with a key derived from `SECRET_KEY`."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings


def _key(secret: str) -> Fernet:
    # The prefix separates this key from other uses of SECRET_KEY.
    digest = hashlib.sha256(b"proofroom.core.encryption:" + secret.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def _keys() -> MultiFernet:
    """Return the keys, the newest first. Older ones still decrypt."""
    return MultiFernet(
        [_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def encrypt(text: str) -> str:
    """Encrypt a text for the database."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Decrypt a result of `encrypt`. Raises `cryptography.fernet.InvalidToken` if its key is gone."""
    return _keys().decrypt(encrypted.encode()).decode()
