"""Login through a SAML 2.0 identity provider (`SAML_METADATA_URL`). Needs the extra `saml`.

A person is identified by the subject-id (SAML V2.0 Subject Identifier Attributes Profile 1.0) or by
`SAML_ID_ATTRIBUTE`; otherwise by the NameID, unless it is transient (SAML Core 8.3.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

from allauth.socialaccount.providers.saml.provider import SAMLProvider

if TYPE_CHECKING:
    from onelogin.saml2.auth import OneLogin_Saml2_Auth

_TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

SAML_SESSION_KEY: Final = "saml_session"
"""Session key that holds the `SamlSession`."""


class SamlSession(TypedDict):
    """The session at the identity provider, as its login response named it. A logout request repeats these values."""

    provider: str
    name: str
    name_format: str | None
    qualifiers: list[str | None]
    index: str | None


def is_named(session: SamlSession | None, request: str) -> bool:
    """Return True if a verified LogoutRequest, as XML, is about the session (SAML Core 3.3.4 and 3.7.3).

    Raises a python3-saml error if the request names no subject or cannot be parsed.
    """
    from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest

    name = LogoutRequest.get_nameid_data(request)
    indexes = LogoutRequest.get_session_indexes(request)
    if session is None or session["name"] != name["Value"]:
        return False
    requested = [name.get("Format"), name.get("NameQualifier"), name.get("SPNameQualifier")]
    expected = [session["name_format"], *session["qualifiers"]]
    # Providers may omit the format and the qualifiers in either message, so only two different values are a mismatch.
    if any(one and other and one != other for one, other in zip(requested, expected, strict=True)):
        return False
    # A request without an issuer counts as the provider's: its signature was verified before.
    if (LogoutRequest.get_issuer(request) or session["provider"]) != session["provider"]:
        return False
    # A request without a session index ends all sessions of the subject.
    return not indexes or session["index"] in indexes


class SamlProvider(SAMLProvider):
    """allauth's SAML provider, with the site's attribute mapping and stable user ids."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.app.settings["attribute_mapping"] = {
            **self.default_attribute_mapping,
            **self.app.settings["attributes"],
        }

    def extract_extra_data(self, data: OneLogin_Saml2_Auth) -> dict[str, Any]:
        """Return the data stored from the response: `attributes`, and `session`, a `SamlSession`."""
        session = SamlSession(
            provider=data.get_settings().get_idp_data()["entityId"],
            name=data.get_nameid() or "",
            name_format=data.get_nameid_format(),
            qualifiers=[data.get_nameid_nq(), data.get_nameid_spnq()],
            index=data.get_session_index(),
        )
        return {"attributes": data.get_attributes(), "session": session}

    def extract_uid(self, data: OneLogin_Saml2_Auth) -> str:
        """Return the stable id of the person. Raises `ValueError` if the response has none."""
        uid = self._extract(data).get("uid")
        # If the site names an id attribute, a NameID must not replace it: it could equal the id of another person.
        has_id_attribute = "uid" in self.app.settings["attributes"]
        if uid is None and not has_id_attribute and data.get_nameid_format() != _TRANSIENT:
            uid = data.get_nameid()
        if not uid:
            raise ValueError(
                "The identity provider sends no persistent ID of the person: set SAML_ID_ATTRIBUTE."
            )
        return str(uid)
