"""The certificate must match the host name, although the connection is made to an IP address."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from proofroom.core.http_client import Client, HttpResult, Unreachable, fetch
from proofroom.core.http_client.connection import trusted
from tests.receiver import reach, serving

HOST = "hooks.example"


class Authority:
    """A certificate authority of this test, and its certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
        self.file = folder / "authority.pem"
        own = self._certificate(self.key, self.name, [], is_authority=True)
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def serves(self, *hosts: str, days: int = 1) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        file = self.folder / "server.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + self._certificate(key, name, hosts, days=days).public_bytes(
                serialization.Encoding.PEM
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _certificate(
        self,
        key: ec.EllipticCurvePrivateKey,
        name: x509.Name,
        hosts: Any,
        *,
        is_authority: bool = False,
        days: int = 1,
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=30))
            .not_valid_after(now + dt.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if hosts:
            names = [_general_name(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@pytest.fixture
def authority(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """Resolve every name to this machine, which the operator allows."""
    reach(settings)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
    return Authority(tmp_path)


async def call(url: str, authority: Authority) -> HttpResult:
    async with Client(tls=ssl.create_default_context(cafile=authority.file)) as client:
        await client.send("POST", url, body=b"first")
        return await client.send("POST", url, body=b"second")


def refused(url: str, authority: Authority) -> str:
    with pytest.raises(Unreachable) as caught:
        asyncio.run(call(url, authority))
    return caught.value.reason


def test_the_server_is_asked_for_by_its_name_and_checked_by_it(authority: Authority) -> None:
    with serving(tls=authority.serves(HOST)) as receiver:
        answer = asyncio.run(call(receiver.url("/hook", host=HOST), authority))

        assert (answer.status, receiver.names) == (200, [HOST])
        assert [seen.body for seen in receiver.requests] == [b"first", b"second"]
        assert receiver.requests[0].headers["host"] == f"{HOST}:{receiver.port}"


def test_a_certificate_may_be_that_of_a_literal_address(authority: Authority) -> None:
    with serving(tls=authority.serves("127.0.0.1")) as receiver:
        assert asyncio.run(call(receiver.url("/hook"), authority)).status == 200


def test_threat_53_a_certificate_of_another_name_is_refused(authority: Authority) -> None:
    with serving(tls=authority.serves("other.example", "127.0.0.1")) as receiver:
        reason = refused(receiver.url("/?token=hidden", host=HOST), authority)

        assert reason == (
            f"The certificate of {HOST} is not valid: "
            f"Hostname mismatch, certificate is not valid for '{HOST}'."
        )
        assert receiver.requests == []


def test_a_certificate_that_has_expired_is_refused(authority: Authority) -> None:
    with serving(tls=authority.serves(HOST, days=-1)) as receiver:
        reason = refused(receiver.url(host=HOST), authority)

        assert reason == f"The certificate of {HOST} is not valid: certificate has expired."
        assert receiver.requests == []


def test_an_authority_that_nobody_knows_is_refused(authority: Authority) -> None:
    with serving(tls=authority.serves(HOST)) as receiver:
        with pytest.raises(Unreachable) as caught:
            fetch("POST", receiver.url(host=HOST))

        assert caught.value.reason == (
            f"The certificate of {HOST} is not valid: unable to get local issuer certificate."
        )
        assert receiver.requests == []


def test_what_speaks_no_tls_is_refused(authority: Authority) -> None:
    with serving() as receiver:
        reason = refused(receiver.url(host=HOST).replace("http://", "https://"), authority)

        assert reason == f"{HOST} does not speak TLS that this site could use."
        assert receiver.requests == []


def test_certificates_are_always_checked() -> None:
    assert (trusted().verify_mode, trusted().check_hostname) == (ssl.CERT_REQUIRED, True)
