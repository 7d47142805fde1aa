"""Logging in through a SAML 2.0 identity provider (`SAML_METADATA_URL`). Needs the extra `saml`.

A person is who the subject-id says (SAML V2.0 Subject Identifier Attributes Profile 1.0), or `SAML_ID_ATTRIBUTE`;
else the NameID, unless it is one that changes at every login (SAML Core 8.3.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

from allauth.socialaccount.providers.saml.provider import SAMLProvider

if TYPE_CHECKING:
    from onelogin.saml2.auth import OneLogin_Saml2_Auth

_TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

SAML_SESSION_KEY: Final = "saml_session"
"""Where the session of a browser keeps its `SamlSession`."""


class SamlSession(TypedDict):
    """A session at the identity provider, as its answer named it: a log-out names the same."""

    provider: str
    name: str
    name_format: str | None
    qualifiers: list[str | None]
    index: str | None


def is_named(session: SamlSession | None, request: str) -> bool:
    """Return whether a checked LogoutRequest, as XML, is about the session (SAML Core 3.3.4 and 3.7.3).

    Raises an error of python3-saml where it names nobody, or in a way that cannot be read.
    """
    from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest

    name = LogoutRequest.get_nameid_data(request)
    indexes = LogoutRequest.get_session_indexes(request)
    if session is None or session["name"] != name["Value"]:
        return False
    said = [name.get("Format"), name.get("NameQualifier"), name.get("SPNameQualifier")]
    kept = [session["name_format"], *session["qualifiers"]]
    if any(one and other and one != other for one, other in zip(said, kept, strict=True)):
        return False
    if (LogoutRequest.get_issuer(request) or session["provider"]) != session["provider"]:
        return False
    return not indexes or session["index"] in indexes


class SamlProvider(SAMLProvider):
    """allauth's provider, with the attributes that the site names, and people who stay the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.app.settings["attribute_mapping"] = {
            **self.default_attribute_mapping,
            **self.app.settings["attributes"],
        }

    def extract_extra_data(self, data: OneLogin_Saml2_Auth) -> dict[str, Any]:
        """What is read of the answer before it is forgotten: `attributes`, and `session`, a `SamlSession`."""
        session = SamlSession(
            provider=data.get_settings().get_idp_data()["entityId"],
            name=data.get_nameid() or "",
            name_format=data.get_nameid_format(),
            qualifiers=[data.get_nameid_nq(), data.get_nameid_spnq()],
            index=data.get_session_index(),
        )
        return {"attributes": data.get_attributes(), "session": session}

    def extract_uid(self, data: OneLogin_Saml2_Auth) -> str:
        """Raise `ValueError` where nothing says for good who it is."""
        uid = self._extract(data).get("uid")
        # Where the site names an attribute, a NameID could be the id of somebody else.
        is_named = "uid" in self.app.settings["attributes"]
        if uid is None and not is_named and data.get_nameid_format() != _TRANSIENT:
            uid = data.get_nameid()
        if not uid:
            raise ValueError("The identity provider names nobody for good: set SAML_ID_ATTRIBUTE.")
        return str(uid)
