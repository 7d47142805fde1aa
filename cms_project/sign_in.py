"""Sign-in through a provider of identities (OpenID Connect): its variables, and allauth's settings for it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

from cms_project.env_values import Hosts, RoleName, RolesByValue, Url, Words, secret

PROVIDER_ID: Final = "oidc"
"""What accounts of the provider are stored under: another client or name of it changes nothing."""


class SignInEnvironment(BaseSettings):
    """The variables of sign-in that `Environment` reads."""

    oidc_server_url: Url | None = Field(
        None,
        description="OpenID Connect provider that people log in with, such as https://id.example.com.",
    )
    oidc_client_id: str | None = Field(None, description="What the provider calls this site.")
    oidc_client_secret: str | None = secret("Secret that goes with it.")
    oidc_name: str = Field(
        "single sign-on",
        min_length=1,
        max_length=40,
        description="What the button calls the provider.",
    )
    oidc_scopes: Words = Field(
        ("openid", "profile", "email"), description="Scopes that are asked for."
    )
    oidc_role_claim: str | None = Field(
        None,
        description="Claim that says the role at every login, such as groups. Needs OIDC_ROLES.",
    )
    oidc_roles: RolesByValue = Field(
        (),
        description="Roles by values of that claim, such as cms-admins=admin,writers=editor. The first that fits.",
    )
    oidc_default_role: RoleName | None = Field(
        None,
        description="Role of people without account. Unset: they need an invitation, or a role by the claim.",
    )
    oidc_confirmed_domains: Hosts = Field(
        (),
        description="Domains whose emails count as confirmed, whatever the provider says, such as example.com.",
    )
    oidc_link_by_email: bool = Field(
        False,
        description="1 lets the provider log in to accounts that are there, by confirmed email.",
    )
    password_login: bool = Field(
        True, description="0 turns off logging in with a password. Needs OIDC_SERVER_URL."
    )

    @model_validator(mode="after")
    def _sign_in_fits_together(self) -> SignInEnvironment:
        if (self.oidc_server_url is None) != (self.oidc_client_id is None):
            raise ValueError("OIDC_SERVER_URL and OIDC_CLIENT_ID go together; one is missing")
        if (self.oidc_role_claim is None) != (not self.oidc_roles):
            raise ValueError("OIDC_ROLE_CLAIM and OIDC_ROLES go together; one is missing")
        if "openid" not in self.oidc_scopes:
            raise ValueError("OIDC_SCOPES must have openid")
        if not self.password_login and self.oidc_server_url is None:
            raise ValueError("PASSWORD_LOGIN is 0, which needs OIDC_SERVER_URL")
        return self


def provider_settings(env: SignInEnvironment) -> dict[str, Any]:
    """The providers as `SOCIALACCOUNT_PROVIDERS`: none, or the one of the variables."""
    if env.oidc_server_url is None:
        return {}
    app = {
        "provider_id": PROVIDER_ID,
        "name": env.oidc_name,
        "client_id": env.oidc_client_id,
        "secret": env.oidc_client_secret or "",
        "settings": {
            "server_url": env.oidc_server_url,
            "email_authentication": env.oidc_link_by_email,
            "verified_email": list(env.oidc_confirmed_domains),
        },
    }
    return {
        "openid_connect": {
            "APPS": [app],
            "SCOPE": list(env.oidc_scopes),
            "OAUTH_PKCE_ENABLED": True,
        }
    }
