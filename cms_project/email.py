"""Django's mail settings from `EMAIL_URL`."""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import parse_qs, unquote, urlsplit

from cms_project.env_values import port_of

TIMEOUT_SECONDS = 10


class EmailSettings(TypedDict):
    """Django's settings by name."""

    EMAIL_BACKEND: str
    EMAIL_HOST: str
    EMAIL_PORT: int
    EMAIL_HOST_USER: str
    EMAIL_HOST_PASSWORD: str
    EMAIL_USE_TLS: bool
    EMAIL_USE_SSL: bool


def email_settings(url: str | None) -> EmailSettings:
    """Return the settings for a URL such as `smtp://user:password@host:587/?tls=true`. None disables mail."""
    parts = urlsplit(url or "")
    backend = {"smtp": "smtp", "smtps": "smtp", "console": "console"}.get(parts.scheme, "dummy")
    is_ssl = parts.scheme == "smtps"
    wants_tls = parse_qs(parts.query).get("tls", ["false"])[-1].lower() in ("true", "1", "yes")
    return {
        "EMAIL_BACKEND": f"django.core.mail.backends.{backend}.EmailBackend",
        "EMAIL_HOST": parts.hostname or "localhost",
        "EMAIL_PORT": port_of(parts) or (465 if is_ssl else 587 if wants_tls else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": wants_tls and not is_ssl,
        "EMAIL_USE_SSL": is_ssl,
    }
