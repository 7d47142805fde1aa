"""Valid host names: one rule for URLs from users, clients and settings."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

import idna

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
"""Labels may contain underscores, which names of services in networks have."""
_MAX_LENGTH: Final = 253


def is_host(host: str) -> bool:
    """Return whether a host is a possible DNS name, or an IP address without brackets."""
    try:
        if ":" in host:
            return not IPv6Address(host).scope_id
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
        labels = name.lower().removesuffix(".").split(".")
        if labels[-1].isdigit():
            return bool(IPv4Address(name))
    except ValueError:  # from an IP address or from IDNA
        return False
    return len(name) <= _MAX_LENGTH and all(_LABEL.fullmatch(label) for label in labels)


def has_valid_host(address: str) -> bool:
    """Return whether an http(s) URL has a valid host. True for other values, such as paths."""
    if not address.lower().startswith(("http:", "https:")):
        return True
    try:
        parts = urlsplit(address)
        return parts.hostname is not None and is_host(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_loopback_host(host: str) -> bool:
    """Return whether a host, with or without brackets, is a loopback name or address."""
    host = host.strip("[]").lower()
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
