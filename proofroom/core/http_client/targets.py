"""Addresses as people write them, read once: what was judged here is what is called."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urlsplit

import idna

from proofroom.core.errors import invalid
from proofroom.core.http_client.address_guard import Address, refuse_addresses
from proofroom.core.http_client.connection import CallRefused

LONGEST: Final = 2000
_PORTS: Final = {"http": 80, "https": 443}
_AUTHORITY: Final = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@%/\\]+)(?::(?P<port>[0-9]{0,5}))?"
)
_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_NO_HOST: Final = "The address has no host that could be called."
_KEPT: Final = "!$&'()*+,;=:@/~%"


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The target of a call. `literal` is the address that the URL gives instead of a name."""

    scheme: str
    host: str
    port: int
    path: str
    literal: Address | None

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def check_url(url: str, field: str = "url") -> None:
    """Raise `RuleViolation` on that field for an address that could never be called. Asks no name server."""
    try:
        target_of(url)
    except CallRefused as refused:
        raise invalid(field, refused.reason) from None


def target_of(url: str) -> CallTarget:
    """The parts of an address, in the one way of writing them. Raises `Refused`."""
    if not url:
        raise CallRefused("The address must begin with https:// or http://.")
    if len(url) > LONGEST:
        raise CallRefused(f"The address may have at most {LONGEST} characters.")
    if any(not character.isprintable() or character.isspace() for character in url):
        raise CallRefused("The address must not hold spaces or characters that cannot be seen.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise CallRefused(_NO_HOST) from None
    if parts.scheme not in _PORTS:
        raise CallRefused("The address must begin with https:// or http://.")
    host, port = _authority(parts.netloc)
    literal = _literal(host)
    name = str(literal) if literal is not None else _name(host)
    target = CallTarget(
        parts.scheme,
        name,
        _port(port, parts.scheme),
        _path(parts.path, parts.query),
        literal,
    )
    if literal is not None:
        refuse_addresses(name, [literal])
    elif name == "localhost" or name.endswith(".localhost"):
        refuse_addresses(name, [IPv4Address("127.0.0.1")])
    return target


def _authority(netloc: str) -> tuple[str, str]:
    if "@" in netloc:
        raise CallRefused("The address must not hold a user name or a password; use a header.")
    found = _AUTHORITY.fullmatch(netloc)
    if found is None:
        raise CallRefused(_NO_HOST)
    host = found["host"]
    return (host if host.startswith("[") else _ascii(host)), found["port"] or ""


def _ascii(host: str) -> str:
    """The host in the letters that name servers know."""
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode()
        except UnicodeError:
            raise CallRefused("The host of the address is not a valid name.") from None
    return host.lower().removesuffix(".")


def _literal(host: str) -> Address | None:
    """The address that a host writes out, in any of the ways that the system would understand."""
    try:
        if host.startswith("["):
            return IPv6Address(host[1:-1])
        if _NUMBER.fullmatch(host.rpartition(".")[2]):
            return IPv4Address(socket.inet_aton(host))
    except ValueError:
        raise CallRefused(_NO_HOST) from None
    except OSError:
        raise CallRefused("The host of the address is not a valid IP address.") from None
    return None


def _name(host: str) -> str:
    if not _NAME.fullmatch(host):
        raise CallRefused("The host of the address is not a valid name.")
    return host


def _port(port: str, scheme: str) -> int:
    number = int(port) if port else _PORTS[scheme]
    if number in _PORTS.values() or 1024 <= number <= 65535:
        return number
    raise CallRefused("The port of the address must be 80, 443, or from 1024 to 65535.")


def _path(path: str, query: str) -> str:
    told = quote(path or "/", safe=_KEPT)
    return f"{told}?{quote(query, safe=_KEPT + '?')}" if query else told
