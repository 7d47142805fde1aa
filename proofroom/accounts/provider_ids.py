"""Provider ids stored with connected accounts. They stay the same if the provider's name or client changes."""

from __future__ import annotations

from typing import Final

OIDC: Final = "oidc"
SAML: Final = "saml"
