"""Login through an identity provider (OpenID Connect or SAML): its variables, and allauth's settings."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

from cms_project.env_values import FileUrl, Hosts, RoleName, RolesByValue, Url, Words, secret
from proofroom.accounts.provider_ids import OIDC, SAML


class SignInEnvironment(BaseSettings):
    """The environment variables of login."""

    oidc_server_url: Url | None = Field(
        None,
        description="OpenID Connect provider for logging in, such as https://id.example.com.",
    )
    oidc_client_id: str | None = Field(None, description="Client ID of this site at the provider.")
    oidc_client_secret: str | None = secret("Client secret.")
    oidc_scopes: Words = Field(
        ("openid", "profile", "email"), description="Scopes that the site requests."
    )
    saml_metadata_url: FileUrl | None = Field(
        None,
        description="Metadata of a SAML provider for logging in: its address, or file:///path.",
    )
    saml_entity_id: str | None = Field(None, description="Entity ID of the provider.")
    saml_id_attribute: str | None = Field(
        None,
        description="Attribute that never changes for a person. Unset: the subject-id, else a persistent NameID.",
    )
    saml_email_attribute: str | None = Field(
        None, description="Attribute with the email. Unset: the usual ones, else the NameID."
    )
    sso_name: str = Field(
        "single sign-on",
        min_length=1,
        max_length=40,
        description="Name of the provider on the button.",
    )
    sso_role_claim: str | None = Field(
        None,
        description="Claim or attribute that sets the role at every login, such as groups. Needs SSO_ROLES.",
    )
    sso_roles: RolesByValue = Field(
        (),
        description="Roles by values of the claim, such as cms-admins=admin,writers=editor. The first match counts.",
    )
    sso_default_role: RoleName | None = Field(
        None,
        description="Role of new people. Unset: they need an invitation, or a role from the claim.",
    )
    sso_confirmed_domains: Hosts = Field(
        (),
        description="Domains whose emails count as confirmed, whatever the provider says, such as example.com.",
    )
    sso_link_by_email: bool = Field(
        False,
        description="1: a confirmed email of the provider logs in to an existing account.",
    )
    password_login: bool = Field(
        True, description="0: passwords are not accepted. Needs a sign-in provider."
    )

    @model_validator(mode="after")
    def _sign_in_fits_together(self) -> SignInEnvironment:
        if (self.oidc_server_url is None) != (self.oidc_client_id is None):
            raise ValueError("set both OIDC_SERVER_URL and OIDC_CLIENT_ID, or neither")
        if (self.saml_metadata_url is None) != (self.saml_entity_id is None):
            raise ValueError("set both SAML_METADATA_URL and SAML_ENTITY_ID, or neither")
        if self.saml_metadata_url is not None and find_spec("onelogin") is None:
            raise ValueError("SAML_METADATA_URL needs the extra saml: install proofroom[saml]")
        if self.oidc_server_url is not None and self.saml_metadata_url is not None:
            raise ValueError("set only one of OIDC_SERVER_URL and SAML_METADATA_URL")
        if (self.sso_role_claim is None) != (not self.sso_roles):
            raise ValueError("set both SSO_ROLE_CLAIM and SSO_ROLES, or neither")
        if "openid" not in self.oidc_scopes:
            raise ValueError("OIDC_SCOPES must include openid")
        if not self.password_login and self.sso_provider is None:
            raise ValueError(
                "PASSWORD_LOGIN is 0, which needs OIDC_SERVER_URL or SAML_METADATA_URL"
            )
        return self

    @property
    def sso_provider(self) -> str | None:
        """The id that the provider's accounts are stored under; None without a provider."""
        if self.oidc_server_url is not None:
            return OIDC
        return SAML if self.saml_metadata_url is not None else None


def provider_apps(env: SignInEnvironment) -> list[str]:
    """Return the app of the configured provider. It loads an HTTP library, which other sites need not load."""
    apps = {OIDC: "openid_connect", SAML: "saml"}
    return [f"allauth.socialaccount.providers.{apps[env.sso_provider]}"] if env.sso_provider else []


def provider_settings(env: SignInEnvironment) -> dict[str, Any]:
    """Return the configured provider as `SOCIALACCOUNT_PROVIDERS`."""
    return {
        "openid_connect": {
            "APPS": [_oidc_app(env)] if env.sso_provider == OIDC else [],
            "SCOPE": list(env.oidc_scopes),
            "OAUTH_PKCE_ENABLED": True,
        },
        "saml": {
            "provider_class": "proofroom.accounts.saml.SamlProvider",
            "APPS": [_saml_app(env)] if env.sso_provider == SAML else [],
        },
    }


def _oidc_app(env: SignInEnvironment) -> dict[str, Any]:
    return {
        "provider_id": OIDC,
        "name": env.sso_name,
        "client_id": env.oidc_client_id,
        "secret": env.oidc_client_secret or "",
        "settings": {"server_url": env.oidc_server_url, **_trust(env)},
    }


def _saml_app(env: SignInEnvironment) -> dict[str, Any]:
    attributes = {"uid": env.saml_id_attribute, "email": env.saml_email_attribute}
    return {
        "provider_id": SAML,
        "name": env.sso_name,
        "client_id": SAML,  # the part of this site's URLs that names the provider
        "settings": {
            "idp": {"entity_id": env.saml_entity_id, "metadata_url": env.saml_metadata_url},
            "advanced": {"allow_single_label_domains": True},
            "attributes": {
                name: [attribute] for name, attribute in attributes.items() if attribute
            },
            **_trust(env),
        },
    }


def _trust(env: SignInEnvironment) -> dict[str, Any]:
    return {
        "email_authentication": env.sso_link_by_email,
        "verified_email": list(env.sso_confirmed_domains),
    }
