"""The address guard: parses the URL of a call and checks whether its addresses may be called.

The call connects to exactly the addresses that were checked, so that DNS rebinding has no effect.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final
from urllib.parse import quote, urlsplit

import idna
from django.conf import settings

from proofroom.core.errors import CmsError, invalid
from proofroom.core.validation.host_names import is_host
from proofroom.core.validation.limits import URL_MAX

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Listed here, because `ipaddress` lacks some of these networks, depending on the Python version.
_NETWORKS_BY_KIND: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("a metadata", ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192")),
    ("a metadata", ("fd00:ec2::254", "fd20:ce::254")),
    ("a loopback", ("127.0.0.0/8", "::1")),
    ("an unspecified", ("0.0.0.0/8", "::")),
    ("a link-local", ("169.254.0.0/16", "fe80::/10")),
    ("a private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")),
    ("a private", ("fc00::/7", "fec0::/10", "64:ff9b:1::/48")),
    ("a multicast", ("224.0.0.0/4", "ff00::/8")),
    ("a tunnel", ("192.88.99.0/24", "2002::/16", "2001::/32")),
    ("a reserved", ("192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24")),
    ("a reserved", ("203.0.113.0/24", "240.0.0.0/4")),
    ("a reserved", ("2001::/23", "2001:db8::/32", "3fff::/20")),
)
_FORBIDDEN_NETWORKS: Final = tuple(
    (kind, ip_network(network)) for kind, networks in _NETWORKS_BY_KIND for network in networks
)
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")


class CallRefused(CmsError):
    """The rules forbid this call. A retry does not help."""

    status = 422
    code = "outgoing_refused"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Allowed:
    """Private addresses that the operator allows."""

    hosts: frozenset[str]
    networks: tuple[Network, ...]

    def has(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def allowed_hosts() -> Allowed:
    """Return the hosts and networks of OUTGOING_ALLOWED_HOSTS."""
    return _allowed(tuple(settings.CMS_ENV.outgoing_allowed_hosts))


@lru_cache(maxsize=16)
def _allowed(entries: tuple[str, ...]) -> Allowed:
    hosts: set[str] = set()
    networks: list[Network] = []
    for entry in entries:
        bare = entry.strip().strip("[]").lower().rstrip(".")
        try:
            networks.append(ip_network(bare, strict=False))
        except ValueError:
            hosts.add(bare)
    return Allowed(frozenset(hosts), tuple(networks))


def refuse_addresses(host: str, addresses: Iterable[Address]) -> None:
    """Raise `CallRefused` if any address of a host is forbidden."""
    rules = allowed_hosts()
    if host in rules.hosts:
        return
    # One forbidden address is enough: a host with a public and a private address may hope that the
    # second is used.
    for address in addresses:
        inner = _embedded_ipv4(address)
        kind = blocked_kind(inner)
        if kind and not rules.has(address) and not rules.has(inner):
            leads = "is" if str(address) == host else "leads to"
            raise CallRefused(
                f"{host} {leads} {kind} address, which this site does not call. "
                "OUTGOING_ALLOWED_HOSTS can allow it."
            )


def blocked_kind(address: Address) -> str:
    """Return the kind of a forbidden address with its article; empty for an allowed one."""
    for kind, network in _FORBIDDEN_NETWORKS:
        if address in network:
            return kind
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return "a reserved"
    return "" if address.is_global else "a reserved"


def _embedded_ipv4(address: Address) -> Address:
    """Return the IPv4 address inside a mapped or NAT64 IPv6 address; otherwise the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


_PORTS: Final = {"http": 80, "https": 443}
_AUTHORITY: Final = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@%/\\]+)(?::(?P<port>[0-9]{0,5}))?"
)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_NO_HOST: Final = "The address has no host that could be called."
# With the percent sign, so that existing percent-encoding stays.
_SAFE_CHARACTERS: Final = "!$&'()*+,;=:@/~%"


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The target of a call. `literal` is set if the URL has an IP address instead of a name."""

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
    """Raise `RuleViolation` on `field` for a URL that can never be called. Makes no DNS query."""
    try:
        target_of(url)
    except CallRefused as refused:
        raise invalid(field, refused.reason) from None


def target_of(url: str) -> CallTarget:
    """Parse and normalise a URL. Raises `CallRefused`."""
    if not url:
        raise CallRefused("The address must begin with https:// or http://.")
    if len(url) > URL_MAX:
        raise CallRefused(f"The address may have at most {URL_MAX} characters.")
    if any(not character.isprintable() or character.isspace() for character in url):
        raise CallRefused("The address must not contain spaces or invisible characters.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise CallRefused(_NO_HOST) from None
    if parts.scheme not in _PORTS:
        raise CallRefused("The address must begin with https:// or http://.")
    host, port = _authority(parts.netloc)
    literal = _literal(host)
    name = host if literal is None else str(literal)
    if literal is None and not is_host(name):
        raise CallRefused("The host of the address is not a valid name.")
    number = int(port) if port else _PORTS[parts.scheme]
    if number not in _PORTS.values() and not 1024 <= number <= 65535:
        raise CallRefused("The port of the address must be 80, 443, or from 1024 to 65535.")
    path = quote(parts.path or "/", safe=_SAFE_CHARACTERS)
    if parts.query:
        path = f"{path}?{quote(parts.query, safe=_SAFE_CHARACTERS + '?')}"
    target = CallTarget(parts.scheme, name, number, path, literal)
    if literal is not None:
        refuse_addresses(name, [literal])
    elif name == "localhost" or name.endswith(".localhost"):
        # These names are always loopback (RFC 6761), whatever a resolver answers.
        refuse_addresses(name, [IPv4Address("127.0.0.1")])
    return target


def _authority(netloc: str) -> tuple[str, str]:
    if "@" in netloc:
        raise CallRefused("The address must not contain a user name or a password; use a header.")
    found = _AUTHORITY.fullmatch(netloc)
    if found is None:
        raise CallRefused(_NO_HOST)
    host, port = found["host"], found["port"] or ""
    if host.startswith("["):
        return host, port
    if not host.isascii():
        # DNS needs the ASCII form.
        try:
            host = idna.encode(host, uts46=True).decode()
        except UnicodeError:
            raise CallRefused("The host of the address is not a valid name.") from None
    return host.lower().removesuffix("."), port


def _literal(host: str) -> Address | None:
    """Return the IP address of a host, in any notation that the system's resolver accepts; None for a name."""
    try:
        if host.startswith("["):
            return IPv6Address(host[1:-1])
        # A last label that is a number makes it an address, as in 127.1, 0x7f000001 or 2130706433.
        if _NUMBER.fullmatch(host.rpartition(".")[2]):
            return IPv4Address(socket.inet_aton(host))
    except ValueError:
        raise CallRefused(_NO_HOST) from None
    except OSError:
        raise CallRefused("The host of the address is not a valid IP address.") from None
    return None
