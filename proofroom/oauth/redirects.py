"""Where the answer to a consent may go: addresses of web sites, of this computer, and of known programs."""

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
"""Schemes of AI clients that have no domain of their own in them, as RFC 8252 would have it."""
_REVERSED_DOMAIN: Final = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")


def redirect_fault(uri: str) -> str:
    """Return why an address cannot be registered; empty where it can."""
    if len(uri) > LONGEST:
        return f"may have at most {LONGEST} characters"
    if not uri.isascii() or not uri.isprintable() or re.search(r"[\s\\\"<>^`{|}]", uri):
        return "holds characters that an address cannot hold"
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if "#" in uri:
        return "must not have a fragment"
    if "@" in parts.netloc:
        return "must not hold a user name"
    if parts.scheme == "https":
        return "" if host and is_host(host) else "has no host that there can be"
    if parts.scheme == "http":
        return "" if host in LOOPBACK_HOSTS else "must use https, or http on this computer"
    if parts.scheme in PROGRAM_SCHEMES or _REVERSED_DOMAIN.fullmatch(parts.scheme):
        return ""
    return "uses a scheme that no known program has"


class Destination(NamedTuple):
    """Who gets the answer: a web site by its host, this computer, or a program by its scheme."""

    kind: Literal["site", "computer", "program"]
    name: str


def destination_of(uri: str) -> Destination:
    """Return who gets what is sent to a registered address."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https"):
        return Destination("program", parts.scheme)
    return Destination("computer" if host in LOOPBACK_HOSTS else "site", host)


def with_issuer(uri: str, issuer: str) -> str:
    """The answer's address, with the one issuer that it comes from (RFC 9207)."""
    parts = urlsplit(uri)
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "iss"]
    return urlunsplit(parts._replace(query=urlencode([*kept, ("iss", issuer)])))
