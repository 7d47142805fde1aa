"""Judges which addresses may be reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

from django.conf import settings

from proofroom.core.http_client.connection import CallRefused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# What Python's own lists of special networks leave out in some of its versions, or never had.
_KINDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
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
_REFUSED: Final = tuple(
    (kind, ip_network(network)) for kind, networks in _KINDS for network in networks
)
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The private addresses that the operator lets through."""

    hosts: frozenset[str]
    networks: tuple[Network, ...]

    def has(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def allowed_hosts() -> Allowed:
    """Return what OUTGOING_ALLOWED_HOSTS names."""
    return _allowed(tuple(settings.CMS_ENV.outgoing_allowed_hosts))


@lru_cache(maxsize=16)
def _allowed(words: tuple[str, ...]) -> Allowed:
    hosts: set[str] = set()
    networks: list[Network] = []
    for word in words:
        bare = word.strip().strip("[]").lower().rstrip(".")
        try:
            networks.append(ip_network(bare, strict=False))
        except ValueError:
            hosts.add(bare)
    return Allowed(frozenset(hosts), tuple(networks))


def refuse_addresses(host: str, addresses: Iterable[Address]) -> None:
    """Raise `Refused` if any of the addresses behind a host may not be reached.

    One is enough: who answers with a public and a private address hopes for the second to be taken.
    """
    rules = allowed_hosts()
    if host in rules.hosts:
        return
    for address in addresses:
        inner = _inner(address)
        kind = blocked_kind(inner)
        if kind and not rules.has(address) and not rules.has(inner):
            leads = "is" if str(address) == host else "leads to"
            raise CallRefused(
                f"{host} {leads} {kind} address, which this site does not call. "
                "OUTGOING_ALLOWED_HOSTS can allow it."
            )


def blocked_kind(address: Address) -> str:
    """Return what keeps an address from being called, with its article; empty for a public one."""
    for kind, network in _REFUSED:
        if address in network:
            return kind
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return "a reserved"
    return "" if address.is_global else "a reserved"


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address is another way of writing; otherwise the address."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
