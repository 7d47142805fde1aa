"""An external authorization server: its tokens open the MCP server, no others do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from django.core.cache import cache
from django.test import Client

from proofroom.accounts.services.users import change_user
from proofroom.core.http_client import HttpResult
from proofroom.core.models import Event
from proofroom.oauth import connections, signing_keys
from proofroom.oauth.models import OAuthConnection
from tests import make
from tests.mcp.inside import bearer
from tests.oauth import flow
from tests.oauth.test_client_assertions import CURVE_KEY, KEY, OTHER_KEY, public
from tests.oauth.test_flow import ask, call

pytestmark = pytest.mark.django_db
ISSUER = "https://login.example/realms/press"
WELL_KNOWN = "https://login.example/.well-known/oauth-authorization-server/realms/press"
KEYS_URL = "https://login.example/realms/press/keys"


@pytest.fixture
def web(
    monkeypatch: pytest.MonkeyPatch, settings: Any, environment: Callable[..., None]
) -> dict[str, Any]:
    """Serve the metadata of the operator's server."""
    settings.MCP_DB_EXECUTOR = "sensitive"
    environment(mcp_oauth_issuer=ISSUER)
    cache.clear()
    answers: dict[str, Any] = {
        WELL_KNOWN: {"issuer": ISSUER, "jwks_uri": KEYS_URL},
        KEYS_URL: {"keys": [public(KEY, "one"), public(CURVE_KEY, "two", "ES256")]},
    }
    asked: list[str] = []

    def fetch(method: str, url: str, **given: Any) -> HttpResult:
        asked.append(url)
        found = answers.get(url)
        status = 200 if found is not None else 404
        return HttpResult(
            status, {"content-type": "application/json"}, json.dumps(found).encode(), 1
        )

    monkeypatch.setattr(signing_keys, "fetch", fetch)
    return {"answers": answers, "asked": asked}


def token(
    key: Any = KEY, name: str = "one", algorithm: str = "RS256", typ: str = "at+jwt", **changes: Any
) -> str:
    claims = {
        "iss": ISSUER,
        "sub": "person-1",
        "aud": flow.RESOURCE,
        "client_id": "desktop",
        "scope": "openid read propose",
        "email": "editor@example.com",
        "exp": time.time() + 600,
        **changes,
    }
    given = {claim: value for claim, value in claims.items() if value is not None}
    return jwt.encode(given, key, algorithm, headers={"kid": name, "typ": typ})


def status_of(value: str, tool: str = "list_posts", **named: Any) -> int:
    (answer,) = ask(call(value, tool, **named))
    return int(answer.status)


def test_its_tokens_open_the_server_for_the_person_they_name(web: dict[str, Any]) -> None:
    user = make.user("editor")

    assert status_of(token()) == 200
    assert (
        status_of(token(CURVE_KEY, "two", "ES256", client_id="phone", aud=["x", flow.RESOURCE]))
        == 200
    )

    rows = list(OAuthConnection.objects.order_by("client__name").select_related("client"))
    assert [(row.client.name, row.user_id, row.scopes) for row in rows] == [
        ("desktop", user.pk, ["read", "propose"]),
        ("phone", user.pk, ["read", "propose"]),
    ]
    assert Event.objects.filter(name="mcp_client.connected").count() == 2
    assert web["asked"] == [WELL_KNOWN, KEYS_URL]


def test_the_metadata_leads_to_it_and_the_site_issues_nothing(web: dict[str, Any]) -> None:
    make.user("editor")
    metadata = Client().get("/.well-known/oauth-protected-resource/mcp").json()

    assert metadata["authorization_servers"] == [ISSUER]
    assert Client().get("/.well-known/oauth-authorization-server").status_code == 404
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/introspect"):
        assert Client().post(path).status_code == 404, path
    assert flow.person("admin").get(flow.authorize_url("any")).status_code == 404


def test_tokens_of_the_site_open_nothing_once_another_server_issues_them(
    environment: Callable[..., None], settings: Any
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    cache.clear()
    own = flow.connected()["access_token"]
    assert status_of(own) == 200

    environment(mcp_oauth_issuer=ISSUER)

    assert status_of(own) == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"key": OTHER_KEY},
        {"name": "three"},
        {"key": CURVE_KEY, "algorithm": "ES256"},
        {"key": "a-shared-secret-that-is-long-enough", "algorithm": "HS256"},
        {"key": None, "algorithm": "none"},
        {"iss": "https://login.example/realms/other"},
        {"iss": f"{ISSUER}/"},
        {"aud": "https://other.example/mcp"},
        {"aud": f"{flow.RESOURCE}/other"},
        {"aud": None},
        {"sub": None},
        {"exp": None},
        {"exp": time.time() - 3600},
        {"nbf": time.time() + 3600},
        {"typ": "logout+jwt"},
        {"email": "nobody@example.com"},
        {"email": None},
        {"email": ["editor@example.com"]},
        {"email": "editor@example.com\0"},
        {"email_verified": False},
        {"email_verified": "false"},
        {"email_verified": 0},
        {"email": "writer@example.com"},  # an agent's
    ],
)
def test_a_token_that_is_not_right_opens_nothing(
    web: dict[str, Any], changes: dict[str, Any]
) -> None:
    make.user("editor")
    make.user("ai_agent", "writer")

    assert status_of(token(**changes)) == 401
    assert not OAuthConnection.objects.exists()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"issuer": "https://login.example", "jwks_uri": KEYS_URL},
        {"issuer": ISSUER},
        {"issuer": ISSUER, "jwks_uri": "http://login.example/keys"},
    ],
)
def test_metadata_that_is_not_right_lets_nobody_in_and_is_not_asked_for_each_call(
    web: dict[str, Any], answer: dict[str, Any] | None
) -> None:
    make.user("editor")
    web["answers"][WELL_KNOWN] = answer

    assert [status_of(token()) for _ in range(3)] == [401] * 3
    assert web["asked"].count(WELL_KNOWN) == 1


def test_what_the_token_does_not_allow_is_refused_with_what_is_missing(web: dict[str, Any]) -> None:
    make.user("editor")

    assert status_of(token(scope="openid")) == 403
    assert status_of(token(scope=None, scp=["read"])) == 200
    patch = {"post_id": str(make.post().pk), "patch": {"title": "X"}}
    (answer,) = ask(call(token(scope="read"), "save_post_ai_review", **patch))
    assert answer.status == 403
    assert 'scope="read propose"' in answer.headers["www-authenticate"]


def test_agents_need_their_scope_but_for_clients_that_were_connected_before_it(
    web: dict[str, Any],
) -> None:
    make.user("editor")
    arguments = {"agentId": "seo-specialist", "scope": "dropdown", "postId": str(make.post().pk)}

    def start(scope: str) -> int:
        (answer,) = ask(call(token(scope=scope), "run_agent", **arguments))
        status: int = answer.status
        return status

    assert start("read propose") == 403
    assert start("read propose agents") == 200
    OAuthConnection.objects.update(propose_starts_agents=True)
    cache.clear()
    assert start("read propose") == 200
    assert start("read") == 403


def test_a_person_keeps_a_client_out_until_they_allow_it_again(web: dict[str, Any]) -> None:
    make.user("editor")
    assert status_of(token()) == 200
    row = OAuthConnection.objects.get()
    browser = Client()
    browser.force_login(row.user)

    browser.post(f"/admin/oauth/clients/{row.pk}/disconnect/")
    assert status_of(token()) == 401
    assert status_of(token(exp=time.time() + 3600)) == 401
    connections.purge()
    page = browser.get("/admin/account/").content.decode()
    assert "Allow desktop again" in page
    other = Client()
    other.force_login(make.user("admin"))
    assert other.post(f"/admin/oauth/clients/{row.pk}/allow/").status_code == 404
    assert status_of(token(exp=time.time() + 3660)) == 401

    browser.post(f"/admin/oauth/clients/{row.pk}/allow/")
    assert status_of(token(exp=time.time() + 7200)) == 200


def test_what_the_account_may_holds_now_and_an_account_that_is_off_opens_nothing(
    web: dict[str, Any],
) -> None:
    user = make.user("editor")
    assert status_of(token()) == 200

    change_user(user_id=user.pk, is_active=False, actor=make.actor("admin"))

    assert status_of(token(exp=time.time() + 3600)) == 401


def test_another_claim_may_say_whose_account_it_is(
    web: dict[str, Any], environment: Callable[..., None]
) -> None:
    user = make.user("editor")
    environment(mcp_oauth_issuer=ISSUER, mcp_oauth_account_claim="preferred_username")

    assert status_of(token(email=None, preferred_username=user.username)) == 200
    assert status_of(token(email="editor@example.com", preferred_username=None, jti="2")) == 401


def test_it_opens_no_api(web: dict[str, Any]) -> None:
    make.user("editor")

    assert Client().get("/api/posts", headers=bearer(token())).status_code == 401
