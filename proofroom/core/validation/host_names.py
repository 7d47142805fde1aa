"""Which hosts an address may name: one rule for the addresses that people, clients and settings give."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

import idna

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
"""With underscores, which names of services within a network have."""
_LONGEST: Final = 253


def is_host(host: str) -> bool:
    """Return whether it is a name that a name server could know, or an IP address without brackets."""
    try:
        if ":" in host:
            return not IPv6Address(host).scope_id
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
        labels = name.lower().removesuffix(".").split(".")
        if labels[-1].isdigit():
            return bool(IPv4Address(name))
    except ValueError:  # of an address, and of a name in other letters
        return False
    return len(name) <= _LONGEST and all(_LABEL.fullmatch(label) for label in labels)


def has_valid_host(address: str) -> bool:
    """Return whether an address of the web names a host that can be one. Others, such as paths, name none."""
    if not address.lower().startswith(("http:", "https:")):
        return True
    try:
        parts = urlsplit(address)
        return parts.hostname is not None and is_host(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_loopback_host(host: str) -> bool:
    """Return whether a name or address, with or without brackets, is this machine's own."""
    host = host.strip("[]").lower()
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
