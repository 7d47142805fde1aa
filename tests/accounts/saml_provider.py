"""A SAML 2.0 identity provider following the standard, to test sign-in.

It reads the request for a login (HTTP-Redirect binding) and answers with a signed assertion
(HTTP-POST binding).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from lxml import etree
from lxml.builder import ElementMaker

ENTITY: Final = "https://idp.example.com/saml"
LOGIN: Final = "https://idp.example.com/login"
LOGOUT: Final = "https://idp.example.com/logout"
PERSISTENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
SIGNED_BY: Final = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
_SAML: Final = "urn:oasis:names:tc:SAML:2.0:assertion"
_SAMLP: Final = "urn:oasis:names:tc:SAML:2.0:protocol"
_METADATA: Final = "urn:oasis:names:tc:SAML:2.0:metadata"
_saml = ElementMaker(namespace=_SAML, nsmap={"saml": _SAML})
_samlp = ElementMaker(namespace=_SAMLP, nsmap={"samlp": _SAMLP, "saml": _SAML})


@dataclass(frozen=True)
class LoginRequest:
    """The site's request to the provider."""

    id: str
    issuer: str
    answer_to: str

    @classmethod
    def read(cls, address: str) -> LoginRequest:
        """Parse the URL of the redirect to the provider."""
        sent = parse_qs(urlsplit(address).query)["SAMLRequest"][0]
        root = etree.fromstring(zlib.decompress(base64.b64decode(sent), -15))
        issuer = root.findtext(f"{{{_SAML}}}Issuer")
        assert issuer is not None
        return cls(root.attrib["ID"], issuer, root.attrib["AssertionConsumerServiceURL"])


@dataclass
class SamlProvider:
    key: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    def certificate(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp.example.com")])
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.key.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .sign(self.key, hashes.SHA256())
        )

    def write_metadata(self, path: Path) -> str:
        """Write the provider's metadata for the site; return its address."""
        der = base64.b64encode(self.certificate().public_bytes(Encoding.DER)).decode()
        path.write_text(
            f'<EntityDescriptor xmlns="{_METADATA}" entityID="{ENTITY}">'
            f'<IDPSSODescriptor protocolSupportEnumeration="{_SAMLP}"><KeyDescriptor use="signing">'
            '<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>'
            f"<X509Certificate>{der}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>"
            f'<SingleLogoutService Location="{LOGOUT}" '
            'Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"/>'
            f'<SingleSignOnService Location="{LOGIN}" '
            'Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"/>'
            "</IDPSSODescriptor></EntityDescriptor>"
        )
        return path.as_uri()

    def assertion(
        self,
        request: LoginRequest,
        subject: str,
        attributes: Mapping[str, Sequence[str]],
        *,
        name_format: str = PERSISTENT,
        index: str | None = "session-1",
        audience: str | None = None,
        ends: timedelta = timedelta(minutes=5),
    ) -> etree._Element:
        """Return the unsigned assertion about a user, for the requesting site."""
        now = datetime.now(UTC)
        until = _time(now + ends)
        return _saml.Assertion(
            _saml.Issuer(ENTITY),
            _saml.Subject(
                _saml.NameID(subject, Format=name_format),
                _saml.SubjectConfirmation(
                    _saml.SubjectConfirmationData(
                        InResponseTo=request.id, Recipient=request.answer_to, NotOnOrAfter=until
                    ),
                    Method="urn:oasis:names:tc:SAML:2.0:cm:bearer",
                ),
            ),
            _saml.Conditions(
                _saml.AudienceRestriction(_saml.Audience(audience or request.issuer)),
                NotBefore=_time(now - timedelta(hours=1)),
                NotOnOrAfter=until,
            ),
            _saml.AuthnStatement(
                _saml.AuthnContext(
                    _saml.AuthnContextClassRef("urn:oasis:names:tc:SAML:2.0:ac:classes:Password")
                ),
                AuthnInstant=_time(now),
                **({"SessionIndex": index} if index else {}),
            ),
            _saml.AttributeStatement(
                *(
                    _saml.Attribute(*map(_saml.AttributeValue, values), Name=name)
                    for name, values in attributes.items()
                )
            ),
            ID=f"_{uuid4().hex}",
            Version="2.0",
            IssueInstant=_time(now),
        )

    def sign(self, assertion: etree._Element) -> etree._Element:
        """Sign an assertion with an enveloped signature (XML Signature), after its issuer."""
        signature = xmlsec.template.create(
            assertion, xmlsec.constants.TransformExclC14N, xmlsec.constants.TransformRsaSha256
        )
        assertion.insert(1, signature)
        reference = xmlsec.template.add_reference(
            signature, xmlsec.constants.TransformSha256, uri=f"#{assertion.attrib['ID']}"
        )
        xmlsec.template.add_transform(reference, xmlsec.constants.TransformEnveloped)
        xmlsec.template.add_transform(reference, xmlsec.constants.TransformExclC14N)
        xmlsec.tree.add_ids(assertion, ["ID"])
        context = xmlsec.SignatureContext()
        pem = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        context.key = xmlsec.Key.from_memory(pem, xmlsec.constants.KeyDataFormatPem)
        context.sign(signature)
        return assertion

    def logout(
        self,
        subject: str,
        *indexes: str,
        name_format: str = PERSISTENT,
        issuer: str = ENTITY,
        kind: str = "SAMLRequest",
    ) -> dict[str, str]:
        """Return the signed LogoutRequest or LogoutResponse that a browser brings after the provider
        ended its session.
        """
        now = datetime.now(UTC)
        stamp = {"ID": f"_{uuid4().hex}", "Version": "2.0", "IssueInstant": _time(now)}
        if kind == "SAMLRequest":
            message = _samlp.LogoutRequest(
                _saml.Issuer(issuer),
                _saml.NameID(subject, Format=name_format),
                *map(_samlp.SessionIndex, indexes),
                **stamp,
            )
        else:
            success = _samlp.StatusCode(Value="urn:oasis:names:tc:SAML:2.0:status:Success")
            message = _samlp.LogoutResponse(
                _saml.Issuer(issuer), _samlp.Status(success), InResponseTo="_x", **stamp
            )
        deflate = zlib.compressobj(wbits=-15)
        packed = deflate.compress(etree.tostring(message)) + deflate.flush()
        signed = {
            kind: base64.b64encode(packed).decode(),
            "RelayState": "here",
            "SigAlg": SIGNED_BY,
        }
        signature = self.key.sign(urlencode(signed).encode(), PKCS1v15(), hashes.SHA256())
        return {**signed, "Signature": base64.b64encode(signature).decode()}

    def answer(self, request: LoginRequest, *assertions: etree._Element) -> str:
        """Return the `SAMLResponse` that the provider's page posts to the site."""
        response = _samlp.Response(
            _saml.Issuer(ENTITY),
            _samlp.Status(_samlp.StatusCode(Value="urn:oasis:names:tc:SAML:2.0:status:Success")),
            *assertions,
            ID=f"_{uuid4().hex}",
            Version="2.0",
            IssueInstant=_time(datetime.now(UTC)),
            Destination=request.answer_to,
            InResponseTo=request.id,
        )
        return base64.b64encode(etree.tostring(response)).decode()


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
