"""Unsafe settings of a public site: short secrets, and settings that open too much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from proofroom.core.validation.host_names import is_loopback_host

MIN_SECRET_LENGTH: Final = 32
MIN_CHARACTERS: Final = 5
"""Minimum number of different characters in a secret, as Django requires for SECRET_KEY."""
SECRETS: Final = (
    "secret_key_fallbacks",
    "agent_trigger_secret",
    "agent_secret",
    "agent_secret_previous",
    "mcp_auth_token",
    "mcp_auth_header_value",
    "mcp_oauth_introspection",
    "metrics_token",
)
"""Secrets chosen by the operator. The length of secrets from other services is not checked."""
_SHORTEST_PREFIXES: Final = {4: 8, 6: 7}
"""The shortest prefix length of a private network, by IP version."""


def is_weak_secret(value: str) -> bool:
    return len(value) < MIN_SECRET_LENGTH or len(set(value)) < MIN_CHARACTERS


def weak_secrets() -> list[str]:
    """Return the variables with a short secret. SECRET_KEY has its own check in Django."""
    return [name.upper() for name in SECRETS if any(map(is_weak_secret, _secrets_in(name)))]


def _secrets_in(name: str) -> list[str]:
    value: Any = getattr(settings.CMS_ENV, name)
    if isinstance(value, Mapping):
        return [*value.values()]
    return [value] if isinstance(value, str) else [*(value or ())]


@register(Tags.security)
def check_secrets(**kwargs: object) -> Iterator[CheckMessage]:
    """Yield secrets that can be guessed: errors, or warnings with DEBUG."""
    for name in weak_secrets():
        kind = Warning if settings.DEBUG else Error
        yield kind(
            f"{name} is too short: it needs {MIN_SECRET_LENGTH} random characters.",
            hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            id="proofroom.secrets",
        )


def open_settings() -> Iterator[tuple[str, str]]:
    """Yield what is too open for a public site, each with advice."""
    env = settings.CMS_ENV
    if settings.DEBUG:
        yield "DEBUG is on", "unset DEBUG"
    if "*" in settings.ALLOWED_HOSTS:
        yield "ALLOWED_HOSTS=* answers under every name", "name the hosts of the site"
    if "*" in env.mcp_allowed_hosts:
        yield "MCP_ALLOWED_HOSTS=* answers under every name", "name the hosts of the MCP server"
    if env.throttle_login == "off":
        yield "THROTTLE_LOGIN=off lets passwords be guessed", "set it to a rate such as 10/minute"
    if wide := [name for name in env.outgoing_allowed_hosts if _is_wide(name)]:
        found = f"OUTGOING_ALLOWED_HOSTS={','.join(wide)} lets calls reach every machine inside"
        yield found, "leave in it only what webhooks are meant to reach"
    if wide := [name for name in env.throttle_allow_ips if _is_wide(name)]:
        found = f"THROTTLE_ALLOW_IPS={','.join(wide)} limits nobody"
        yield found, "leave in it only addresses that you know"
    address = urlsplit(env.site_url or "")
    if address.scheme == "http" and not is_loopback_host(address.hostname or ""):
        yield "SITE_URL is not https: passwords and cookies can be read on the way", "use https"


def _is_wide(name: str) -> bool:
    try:
        network = ip_network(name, strict=False)
    except ValueError:  # a host name
        return name.startswith("*")
    return network.prefixlen < _SHORTEST_PREFIXES[network.version]
