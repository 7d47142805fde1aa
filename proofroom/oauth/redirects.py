"""Rules for redirect URIs: web sites, this computer, and known programs."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from proofroom.core.validation.host_names import is_host

LONGEST: Final = 500
LOOPBACK_HOSTS: Final = frozenset({"127.0.0.1", "::1", "localhost"})
PROGRAM_SCHEMES: Final = frozenset(
    {"cursor", "vscode", "vscode-insiders", "windsurf", "zed", "claude"}
)
"""Schemes of AI clients that are not reversed domain names, which RFC 8252 would require."""
_REVERSED_DOMAIN: Final = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")


def redirect_uri_error(uri: str) -> str:
    """Return the fault of a redirect URI as a phrase; empty if it can be registered."""
    if len(uri) > LONGEST:
        return f"may have at most {LONGEST} characters"
    if not uri.isascii() or not uri.isprintable() or re.search(r"[\s\\\"<>^`{|}]", uri):
        return "holds characters that an address cannot hold"
    try:
        parts = urlsplit(uri)
        # Reading the port raises `ValueError` for an invalid one.
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if "#" in uri:
        return "must not have a fragment"
    if "@" in parts.netloc:
        return "must not hold a user name"
    if parts.scheme == "https":
        return "" if host and is_host(host) else "has no host that there can be"
    # On the same computer, no network can read the code. Native clients cannot have a certificate (RFC 8252, 7.3).
    if parts.scheme == "http":
        return "" if host in LOOPBACK_HOSTS else "must use https, or http on this computer"
    if parts.scheme in PROGRAM_SCHEMES or _REVERSED_DOMAIN.fullmatch(parts.scheme):
        return ""
    return "uses a scheme that no known program has"


class Destination(NamedTuple):
    """The receiver of a redirect: a web site by its host, this computer, or a program by its scheme."""

    kind: Literal["site", "computer", "program"]
    name: str


def destination_of(uri: str) -> Destination:
    """Return the receiver of a registered redirect URI."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https"):
        return Destination("program", parts.scheme)
    return Destination("computer" if host in LOOPBACK_HOSTS else "site", host)


def with_issuer(uri: str, issuer: str) -> str:
    """Return the redirect URI with exactly one issuer parameter (RFC 9207)."""
    parts = urlsplit(uri)
    # Remove an `iss` that the client registered in its own redirect URI.
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "iss"]
    return urlunsplit(parts._replace(query=urlencode([*kept, ("iss", issuer)])))
