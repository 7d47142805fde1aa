"""URLs and metadata of the authorization server, and of the MCP server that its tokens are for."""

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
    """Return the issuer identifier of this authorization server. It has no trailing slash."""
    # Clients compare issuers as strings, so a slash would make a different issuer.
    return str(settings.SITE_URL)


def issues_tokens() -> bool:
    """Return True if this site issues tokens itself, not an external server."""
    environment = settings.CMS_ENV
    return environment.mcp_oauth and environment.mcp_oauth_issuer is None


def resource() -> str:
    """Return the URL of the MCP server, the resource that every token is bound to."""
    environment = settings.CMS_ENV
    return str(environment.mcp_url or f"http://127.0.0.1:{environment.mcp_port}/mcp")


def is_resource(value: object) -> bool:
    """Return True if the value is the URL of the MCP server. A trailing slash is ignored."""
    # Some clients add the slash.
    return isinstance(value, str) and value.rstrip("/") == resource().rstrip("/")


def resource_metadata_url() -> str:
    """Return the URL of the MCP server's metadata, which error responses name (RFC 9728)."""
    parts = urlsplit(resource())
    return f"{parts.scheme}://{parts.netloc}{PROTECTED_RESOURCE_PATH}{parts.path.rstrip('/')}"


def resource_metadata() -> JsonObject:
    """Return the protected resource metadata of the MCP server (RFC 9728)."""
    return {
        "resource": resource(),
        "authorization_servers": [settings.CMS_ENV.mcp_oauth_issuer or issuer()],
        "scopes_supported": [*SCOPES],
        "bearer_methods_supported": ["header"],
        "resource_name": "Proofroom",
    }


def server_metadata() -> JsonObject:
    """Return the authorization server metadata (RFC 8414)."""
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
