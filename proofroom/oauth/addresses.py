"""The addresses of the authorization server, and of the MCP server that its tokens are for."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse

from proofroom.core.json import JsonObject
from proofroom.oauth.scopes import SCOPES
from proofroom.oauth.signing_keys import ALGORITHMS

PROTECTED_RESOURCE_PATH: Final = "/.well-known/oauth-protected-resource"


def issuer() -> str:
    """The name of this authorization server. Clients compare it letter by letter, so it has no slash at its end."""
    return str(settings.SITE_URL)


def issues_tokens() -> bool:
    """Return whether this site itself lets AI clients in; else nobody does, or another server."""
    environment = settings.CMS_ENV
    return environment.mcp_oauth and environment.mcp_oauth_issuer is None


def resource() -> str:
    """The address of the MCP server, which every token is bound to."""
    environment = settings.CMS_ENV
    return str(environment.mcp_url or f"http://127.0.0.1:{environment.mcp_port}/mcp")


def is_resource(value: object) -> bool:
    """Return whether a client means the MCP server. Some write a slash at its end."""
    return isinstance(value, str) and value.rstrip("/") == resource().rstrip("/")


def resource_metadata_url() -> str:
    """Where the metadata of the MCP server is, which refusals name (RFC 9728)."""
    parts = urlsplit(resource())
    return f"{parts.scheme}://{parts.netloc}{PROTECTED_RESOURCE_PATH}{parts.path.rstrip('/')}"


def resource_metadata() -> JsonObject:
    """What the MCP server says of itself: who issues tokens for it, and for what (RFC 9728)."""
    return {
        "resource": resource(),
        "authorization_servers": [settings.CMS_ENV.mcp_oauth_issuer or issuer()],
        "scopes_supported": [*SCOPES],
        "bearer_methods_supported": ["header"],
        "resource_name": "Proofroom",
    }


def server_metadata() -> JsonObject:
    """What the authorization server says of itself (RFC 8414)."""
    methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
    base = issuer()
    found: JsonObject = {
        "issuer": base,
        "authorization_endpoint": base + reverse("admin:oauth-authorize"),
        "token_endpoint": base + reverse("oauth-token"),
        "revocation_endpoint": base + reverse("oauth-revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [*methods],
        "token_endpoint_auth_signing_alg_values_supported": [*ALGORITHMS],
        "revocation_endpoint_auth_methods_supported": [*methods],
        "revocation_endpoint_auth_signing_alg_values_supported": [*ALGORITHMS],
        "scopes_supported": [*SCOPES],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "protected_resources": [resource()],
    }
    if settings.CMS_ENV.mcp_oauth_registration:
        found["registration_endpoint"] = base + reverse("oauth-register")
    if settings.CMS_ENV.mcp_oauth_introspection:
        found["introspection_endpoint"] = base + reverse("oauth-introspect")
        found["introspection_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    return found
