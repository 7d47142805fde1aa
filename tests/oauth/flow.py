"""The authorization flow of an AI client, request by request."""

from __future__ import annotations

import hashlib
import html
import re
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from tests import make

RESOURCE = "http://127.0.0.1:8787/mcp"
VERIFIER = "v" * 64
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
SITE_REDIRECT = "https://client.example/callback"
LOCAL_REDIRECT = "http://127.0.0.1/callback"


def person(role: str = "editor") -> Client:
    """Return a logged-in browser with CSRF checks."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(make.user(role))
    return browser


def register(client: Client | None = None, **metadata: Any) -> dict[str, Any]:
    """Register a new client, by default a public one on a personal computer."""
    body = {
        "client_name": "Sample client",
        "redirect_uris": [LOCAL_REDIRECT],
        "token_endpoint_auth_method": "none",
        **metadata,
    }
    answer = (client or Client()).post("/oauth/register", body, content_type="application/json")
    return {"status": answer.status_code, **answer.json()}


def authorize_url(client_id: str, **changes: Any) -> str:
    """Return the authorization URL. Parameters that are None are omitted."""
    asked = {
        "client_id": client_id,
        "redirect_uri": "http://127.0.0.1:50123/callback",
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "scope": "read propose",
        "state": "the-state",
        "resource": RESOURCE,
        **changes,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return f"/admin/oauth/authorize/?{urlencode(given, doseq=True)}"


def consent(
    browser: Client,
    url: str,
    decision: str = "allow",
    grant: tuple[str, ...] = ("propose",),
    *,
    secure: bool = False,
    **limits: list[str],
) -> Any:
    """Submit the consent form at that URL, with a content scope. `secure`: use HTTPS."""
    page = browser.get(url, secure=secure)
    assert page.status_code == 200, page.content.decode()
    found = re.search('name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())
    assert found is not None
    body = {
        "csrfmiddlewaretoken": html.unescape(found[1]),
        "decision": decision,
        "grant": list(grant),
        **limits,
    }
    return browser.post(url, body, secure=secure)


def answer_of(response: Any) -> dict[str, str]:
    """Return the parameters of the client's redirect URL."""
    assert response.status_code == 302, response.content.decode()
    return {
        name: values[0] for name, values in parse_qs(urlsplit(response["Location"]).query).items()
    }


def code_of(browser: Client, client_id: str, **changes: Any) -> str:
    return answer_of(consent(browser, authorize_url(client_id, **changes)))["code"]


def ask_token(**body: Any) -> Any:
    """Return the token endpoint's response to a form."""
    return Client().post("/oauth/token", {n: v for n, v in body.items() if v is not None})


def redeem(client_id: str, code: str, /, **changes: Any) -> Any:
    return ask_token(
        **{
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": code,
            "redirect_uri": "http://127.0.0.1:50123/callback",
            "code_verifier": VERIFIER,
            "resource": RESOURCE,
            **changes,
        }
    )


def refresh(client_id: str, refresh_token: str, **changes: Any) -> Any:
    return ask_token(
        grant_type="refresh_token", client_id=client_id, refresh_token=refresh_token, **changes
    )


def connected(role: str = "editor", **changes: Any) -> dict[str, Any]:
    """Connect a client as a user of the role. Return its id and tokens."""
    client_id = register()["client_id"]
    tokens = redeem(client_id, code_of(person(role), client_id, **changes))
    assert tokens.status_code == 200, tokens.content
    return {"client_id": client_id, **tokens.json()}
