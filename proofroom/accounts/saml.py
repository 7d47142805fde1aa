"""Logging in through a SAML 2.0 identity provider (`SAML_METADATA_URL`). Needs the extra `saml`.

A person is who the subject-id says (SAML V2.0 Subject Identifier Attributes Profile 1.0), or `SAML_ID_ATTRIBUTE`;
else the NameID, unless it is one that changes at every login (SAML Core 8.3.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from allauth.socialaccount.providers.saml.provider import SAMLProvider

if TYPE_CHECKING:
    from onelogin.saml2.auth import OneLogin_Saml2_Auth

_TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"


class SamlProvider(SAMLProvider):
    """allauth's provider, with the attributes that the site names, and people who stay the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.app.settings["attribute_mapping"] = {
            **self.default_attribute_mapping,
            **self.app.settings["attributes"],
        }

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
