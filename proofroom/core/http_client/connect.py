"""From a name to a connection: resolved once, judged, and connected to what was judged."""

from __future__ import annotations

import asyncio
import ssl
from functools import lru_cache
from typing import Final

import certifi

from proofroom.core.http_client.address_guard import Address, refuse_addresses
from proofroom.core.http_client.connection import HttpConnection
from proofroom.core.http_client.dns import Names
from proofroom.core.http_client.results import Unreachable
from proofroom.core.http_client.targets import CallTarget

CONNECT_SECONDS: Final = 3.0


@lru_cache(maxsize=1)
def trusted() -> ssl.SSLContext:
    """Certificates are checked against the machine's authorities, or the shipped ones where it has none."""
    known = ssl.get_default_verify_paths()
    context = ssl.create_default_context(
        cafile=None if known.cafile or known.capath else certifi.where()
    )
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(target: CallTarget, names: Names, tls: ssl.SSLContext) -> HttpConnection:
    """A connection to the first address that takes it. The certificate has to be that of the name.

    Raises `Refused` before any connection if one address is forbidden, `Unreachable` if none answers.
    """
    addresses = [target.literal] if target.literal else await names.addresses(target.host)
    refuse_addresses(target.host, addresses)
    end = asyncio.get_running_loop().time() + CONNECT_SECONDS
    failure = Unreachable(f"The name {target.host} has no address.")
    for place, address in enumerate(addresses):
        left = end - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(left / (len(addresses) - place)):
                return await _open(target, address, tls)
        except (OSError, TimeoutError) as error:
            failure = Unreachable(_why(target.host, error))
    raise failure


async def _open(target: CallTarget, address: Address, tls: ssl.SSLContext) -> HttpConnection:
    secure = target.scheme == "https"
    _, line = await asyncio.get_running_loop().create_connection(
        HttpConnection,
        # The address, never the name: a second question could be answered otherwise.
        str(address),
        target.port,
        ssl=tls if secure else None,
        server_hostname=target.host if secure else None,
    )
    return line


def _why(host: str, error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid: {error.verify_message.rstrip('.')}."
    if isinstance(error, ssl.SSLError):
        return f"{host} does not speak TLS that this site could use."
    if isinstance(error, TimeoutError):
        return f"{host} did not take the connection within {CONNECT_SECONDS:g} s."
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection."
    return f"{host} could not be connected to."
