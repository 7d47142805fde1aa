"""What accounts of a provider of identities are stored under: another client or name of it changes nothing."""

from __future__ import annotations

from typing import Final

OIDC: Final = "oidc"
SAML: Final = "saml"
