"""Secrets that the site has to read again, encrypted in the database with a key made from `SECRET_KEY`."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings


def _key(secret: str) -> Fernet:
    digest = hashlib.sha256(b"proofroom.core.encryption:" + secret.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def _keys() -> MultiFernet:
    """The newest key first: what was written with an older one is still read."""
    return MultiFernet(
        [_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    )


def encrypt(text: str) -> str:
    """Encrypt a text for the database."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Read what `encrypt` returned. Raises `cryptography.fernet.InvalidToken` without its key."""
    return _keys().decrypt(encrypted.encode()).decode()
