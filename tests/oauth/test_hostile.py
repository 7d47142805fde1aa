"""Attacks: wrong, old, reused or foreign tokens, and redirect URLs that almost match."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from proofroom.accounts.allauth_events import on_password_reset
from proofroom.accounts.models import User
from proofroom.accounts.services.roles import change_role
from proofroom.accounts.services.users import change_user, set_password
from proofroom.core.http_client import CallRefused, HttpResult
from proofroom.core.models import Event
from proofroom.oauth import client_metadata, connections
from proofroom.oauth.models import OAuthClient, OAuthConnection, clean_name
from proofroom.oauth.token_values import make_access_token
from tests import make
from tests.mcp.inside import bearer
from tests.oauth import flow
from tests.oauth.test_flow import ask, call

pytestmark = pytest.mark.django_db
LATER = timedelta(seconds=11)


@pytest.fixture(autouse=True)
def fresh(settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    cache.clear()


def status_of(token: str) -> int:
    (answer,) = ask(call(token, "list_posts"))
    return int(answer.status)


def refused(response: Any, error: str, status: int = 400) -> None:
    assert (response.status_code, response.json()["error"]) == (status, error), response.content


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1)),
        lambda row: AccessToken.objects.update(resource=["https://other.example/mcp"]),
        lambda row: AccessToken.objects.update(resource=[]),
        lambda row: AccessToken.objects.update(resource=[flow.RESOURCE, "https://other.example"]),
        lambda row: AccessToken.objects.update(user=make.user("admin")),
        lambda row: connections.disconnect(
            connection_id=row.pk, actor=make.actor("editor", via="admin")
        ),
        lambda row: change_user(user_id=row.user_id, is_active=False, actor=make.actor("admin")),
        lambda row: change_user(user_id=row.user_id, role="translator", actor=make.actor("admin")),
        lambda row: set_password(
            user_id=row.user_id, password="another-long-phrase", actor=make.actor("admin")
        ),
        lambda row: row.client.delete(),
    ],
    ids=["expired", "foreign", "unbound", "widened", "of another person", "ended", "off", "demoted", "password",
         "client gone"],
)  # fmt: skip
def test_a_token_that_is_not_what_it_was_opens_nothing(
    spoil: Callable[[OAuthConnection], object],
) -> None:
    tokens = flow.connected()
    assert status_of(tokens["access_token"]) == 200

    spoil(OAuthConnection.objects.select_related("client").get())

    assert status_of(tokens["access_token"]) == 401
    assert flow.refresh(tokens["client_id"], tokens["refresh_token"]).status_code in (200, 400, 401)


@pytest.mark.parametrize("kind", ["ended", "off", "demoted", "narrowed", "password", "forgotten"])
def test_what_ends_a_connection_ends_its_refresh_token(kind: str) -> None:
    tokens = flow.connected()
    row = OAuthConnection.objects.get()
    admin = make.actor("admin")
    if kind == "ended":
        connections.disconnect(connection_id=row.pk, actor=make.actor("editor", via="admin"))
    elif kind == "off":
        change_user(user_id=row.user_id, is_active=False, actor=admin)
        change_user(user_id=row.user_id, is_active=True, actor=admin)
    elif kind == "demoted":
        change_user(user_id=row.user_id, role="translator", actor=admin)
        change_user(user_id=row.user_id, role="editor", actor=admin)
    elif kind == "narrowed":
        make.site_role("desk", "posts.view", "posts.edit")
        # Without events: the connection exists, and then the role loses a permission.
        User.objects.filter(pk=row.user_id).update(role="desk")
        OAuthConnection.objects.update(role="desk")
        change_role(name="desk", label="Desk", permissions=["posts.view"], actor=admin)
    elif kind == "forgotten":
        on_password_reset(None, row.user)
    else:
        set_password(user_id=row.user_id, password="another-long-phrase", actor=admin)

    refused(flow.refresh(tokens["client_id"], tokens["refresh_token"]), "invalid_grant")
    assert status_of(tokens["access_token"]) == 401


@pytest.mark.parametrize(
    "token",
    ["wrong", "cmsoauth_", "cmsoauth_" + "a" * 55, "cmsmcp_" + "a" * 43, "cmsoauth_ä" + "a" * 60],
)
def test_a_guess_is_refused(token: str) -> None:
    (answer,) = ask({"headers": {"Authorization": f"Bearer {token}".encode().decode("latin-1")}})
    assert answer.status == 401


@pytest.mark.usefixtures("one_window")
def test_a_token_of_ours_that_is_over_counts_as_no_guess(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "login": "2/minute"}
    old = bearer(make_access_token(None))
    guess = bearer("cmsoauth_" + "a" * 55)

    answers = ask(*[{"headers": old, "peer": "203.0.113.7"}] * 6)
    assert {answer.status for answer in answers} == {401}
    guesses = ask(*[{"headers": guess, "peer": "203.0.113.7"}] * 4)
    assert [answer.status for answer in guesses][-1] == 429


def test_a_token_of_this_server_is_not_read_from_the_address() -> None:
    tokens = flow.connected()
    (answer,) = ask({"path": f"/mcp?access_token={tokens['access_token']}"})
    # Without a credential a local program is the operator; a remote one is refused.
    (elsewhere,) = ask(
        {"path": f"/mcp?access_token={tokens['access_token']}", "peer": "203.0.113.7"}
    )
    assert answer.status == 200
    assert elsewhere.status == 401


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize("query", ["x=%zz", "x=a|b", "resource=a&resource=b"])
def test_parameters_in_the_address_are_refused(path: str, query: str) -> None:
    body = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x", "token": "x"}

    answer = Client().post(f"{path}?{query}", body)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize("name", ["client_id", "refresh_token", "token"])
def test_a_nul_in_a_parameter_is_refused(path: str, name: str) -> None:
    body = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x", "token": "x"}

    answer = Client().post(path, {**body, name: "\0"})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_refresh_token_opens_no_door_and_no_api() -> None:
    tokens = flow.connected()

    assert status_of(tokens["refresh_token"]) == 401
    for token in (tokens["access_token"], tokens["refresh_token"]):
        assert Client().get("/api/posts", headers=bearer(token)).status_code == 401


def test_a_code_is_used_once_and_its_second_use_ends_what_came_of_it() -> None:
    client_id = flow.register()["client_id"]
    code = flow.code_of(flow.person(), client_id)
    tokens = flow.redeem(client_id, code).json()
    assert status_of(tokens["access_token"]) == 200

    refused(flow.redeem(client_id, code), "invalid_grant")

    assert status_of(tokens["access_token"]) == 401
    refused(flow.refresh(client_id, tokens["refresh_token"]), "invalid_grant")
    assert Event.objects.filter(name="mcp_client.token-reused").count() == 1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 64}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:50124/callback"}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:50123/callback/"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{flow.RESOURCE}/../admin"}, "invalid_target"),
        ({"code": "no-such-code"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"grant_type": "password"}, None),
        ({"grant_type": "client_credentials"}, None),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, None),
        ({"grant_type": "made-up"}, None),
        ({"client_id": "nobody"}, "invalid_client"),
    ],
)
def test_a_code_is_redeemed_only_as_it_was_asked_for(
    changes: dict[str, Any], error: str | None
) -> None:
    client_id = flow.register()["client_id"]
    code = flow.code_of(flow.person(), client_id)

    answer = flow.redeem(client_id, code, **changes)

    assert answer.status_code in (400, 401), answer.content
    assert error in (None, answer.json()["error"])
    assert not AccessToken.objects.exists()


def test_a_code_that_is_old_or_another_clients_is_refused() -> None:
    mine, other = flow.register()["client_id"], flow.register()["client_id"]
    code = flow.code_of(flow.person(), mine)

    refused(flow.redeem(other, code), "invalid_grant")
    Grant.objects.update(expires=timezone.now() - timedelta(seconds=1))
    refused(flow.redeem(mine, code), "invalid_grant")
    assert not AccessToken.objects.exists()


def test_a_refresh_token_of_another_client_is_refused_and_goes_on_for_its_own() -> None:
    tokens = flow.connected()
    other = flow.register()["client_id"]

    refused(flow.refresh(other, tokens["refresh_token"]), "invalid_grant")
    refused(flow.refresh(tokens["client_id"], tokens["access_token"]), "invalid_grant")
    assert flow.refresh(tokens["client_id"], tokens["refresh_token"]).status_code == 200


def test_two_refreshes_at_once_both_go_on() -> None:
    tokens = flow.connected()

    first = flow.refresh(tokens["client_id"], tokens["refresh_token"])
    second = flow.refresh(tokens["client_id"], tokens["refresh_token"])

    assert (first.status_code, second.status_code) == (200, 200)
    assert status_of(first.json()["access_token"]) == 200
    assert status_of(second.json()["access_token"]) == 200
    for one in (first, second):
        assert flow.refresh(tokens["client_id"], one.json()["refresh_token"]).status_code == 200


def test_a_refresh_token_that_comes_again_later_ends_all_that_came_of_it() -> None:
    tokens = flow.connected()
    second = flow.refresh(tokens["client_id"], tokens["refresh_token"]).json()
    RefreshToken.objects.filter(revoked__isnull=False).update(revoked=timezone.now() - LATER)

    refused(flow.refresh(tokens["client_id"], tokens["refresh_token"]), "invalid_grant")

    assert status_of(second["access_token"]) == 401
    refused(flow.refresh(tokens["client_id"], second["refresh_token"]), "invalid_grant")
    assert Event.objects.filter(name="mcp_client.token-reused").exists()


def test_a_refresh_widens_nothing() -> None:
    client_id = flow.register()["client_id"]
    answer = flow.consent(flow.person("admin"), flow.authorize_url(client_id), grant=())
    tokens = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()

    wider = flow.refresh(client_id, tokens["refresh_token"], scope="read propose diagnostics")

    refused(wider, "invalid_scope")


def test_a_revoked_token_takes_its_pair_with_it_and_nobody_elses() -> None:
    mine, theirs = flow.connected(), flow.connected("translator")

    foreign = {"token": theirs["refresh_token"], "client_id": mine["client_id"]}
    assert Client().post("/oauth/revoke", foreign).status_code == 200
    assert status_of(theirs["access_token"]) == 200
    own = {"token": mine["refresh_token"], "client_id": mine["client_id"]}
    assert Client().post("/oauth/revoke", own).status_code == 200
    assert status_of(mine["access_token"]) == 401
    refused(flow.refresh(mine["client_id"], mine["refresh_token"]), "invalid_grant")


REGISTERED = ["https://client.example/callback?a=1", "http://127.0.0.1/callback", "http://localhost/callback",
              "cursor://anysphere.cursor-mcp/oauth/callback"]  # fmt: skip


@pytest.mark.parametrize(
    "uri",
    [
        "https://client.example/callback",
        "https://client.example/callback?a=1&b=2",
        "https://client.example/callback?a=1#x",
        "https://client.example/callback/?a=1",
        "https://client.example/Callback?a=1",
        "https://client.example:444/callback?a=1",
        "https://client.example.evil.example/callback?a=1",
        "https://evil.example/callback?a=1",
        "https://client.example@evil.example/callback?a=1",
        "https://evil.example\\@client.example/callback?a=1",
        "http://client.example/callback?a=1",
        "//client.example/callback?a=1",
        "/admin/",
        "javascript:alert(1)",
        "http://127.0.0.1:80/callback/x",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.2/callback",
        "https://127.0.0.1/callback",
        "http://localhost.evil.example/callback",
        "cursor://evil/oauth/callback",
        "cursor-evil://anysphere.cursor-mcp/oauth/callback",
        "",
    ],
)
def test_an_address_that_almost_matches_gets_no_answer(uri: str) -> None:
    client_id = flow.register(redirect_uris=REGISTERED)["client_id"]
    url = flow.authorize_url(client_id, redirect_uri=uri)
    browser = flow.person()
    browser.handler.enforce_csrf_checks = False

    for answer in (browser.get(url), browser.post(url, {"decision": "allow"})):
        assert answer.status_code == 400
        assert "Location" not in answer
        assert "evil.example" not in answer.content.decode()
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:1/callback",
        "http://localhost:65535/callback",
        REGISTERED[0],
        REGISTERED[3],
    ],
)
def test_what_real_programs_register_gets_its_answer(uri: str) -> None:
    client_id = flow.register(redirect_uris=REGISTERED)["client_id"]

    answer = flow.consent(flow.person(), flow.authorize_url(client_id, redirect_uri=uri))

    assert answer["Location"].startswith(uri.partition("?")[0] + "?")
    assert flow.answer_of(answer)["code"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "S512"}, "invalid_request"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"response_type": None}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": [flow.RESOURCE, "https://other.example/mcp"]}, "invalid_target"),
    ],
)
def test_a_downgraded_request_is_explained_and_leads_nowhere_by_itself(
    changes: dict[str, Any], error: str, settings: Any
) -> None:
    settings.SITE_URL = "https://cms.example.com"
    url = flow.authorize_url(flow.register()["client_id"], **changes)
    browser = flow.person()
    browser.handler.enforce_csrf_checks = False

    for answer in (browser.get(url), browser.post(url, {"decision": "allow"})):
        assert answer.status_code == 400
        assert "Location" not in answer
        text = answer.content.decode()
        assert f"error={error}" in text
        assert "iss=https%3A%2F%2Fcms.example.com" in text
        assert "state=the-state" in text
    assert not Grant.objects.exists()


def test_consent_is_a_persons_own_click() -> None:
    url = flow.authorize_url(flow.register()["client_id"])
    browser = flow.person()

    forged = browser.post(url, {"decision": "allow", "grant": ["propose"]})
    nobody = Client().get(url)
    page = browser.get(url)

    assert forged.status_code == 403
    assert nobody.status_code == 302
    assert nobody["Location"].startswith("/admin/login/?next=/admin/oauth/authorize/")
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "form-action" not in page["Content-Security-Policy"]
    assert "no-store" in page["Cache-Control"]
    assert not Grant.objects.exists()
    assert not OAuthConnection.objects.exists()


def test_the_form_changes_nothing_about_the_request() -> None:
    """A page that could add fields to the form could otherwise send the code to another client."""
    client_id, other_id = (flow.register()["client_id"] for _ in range(2))

    answer = flow.consent(
        flow.person(), flow.authorize_url(client_id), client_id=[other_id], state=["another"]
    )

    assert flow.answer_of(answer)["state"] == "the-state"
    assert OAuthConnection.objects.get().client.client_id == client_id


@pytest.mark.parametrize("state", ["a|b", "{x}", "a b", '"quoted"', "ünï", "%zz", "a;b"])
def test_a_state_comes_back_as_it_was_sent(state: str) -> None:
    """Browsers leave some characters as they are, and oauthlib refuses them."""
    client_id = flow.register()["client_id"]
    url = flow.authorize_url(client_id, state=None) + f"&state={state}"

    answer = flow.consent(flow.person(), url)

    assert flow.answer_of(answer)["state"] == state


def test_who_says_no_gives_nothing() -> None:
    answer = flow.consent(flow.person(), flow.authorize_url(flow.register()["client_id"]), "deny")

    told = flow.answer_of(answer)
    assert (told["error"], told["state"]) == ("access_denied", "the-state")
    assert "iss" in told
    assert not OAuthConnection.objects.exists()


def test_each_request_is_asked_anew() -> None:
    tokens = flow.connected()

    page = flow.person().get(flow.authorize_url(tokens["client_id"]))

    assert page.status_code == 200


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["data:text/html,x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://client.example/callback"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://client.example/callback#x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a@client.example/callback"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://client.example/callback https://evil.example"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https:///callback"]}, "invalid_redirect_uri"),
        *[
            ({"redirect_uris": [f"https://{host}/callback"]}, "invalid_redirect_uri")
            for host in ("*.example", ".example", "a..b", "-", "%41.example")
        ],
        ({"redirect_uris": ["made-up://callback"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://client.example/" + "a" * 600]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://client.example/{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://client.example"}, "invalid_redirect_uri"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": 5}, "invalid_client_metadata"),
        ({"client_name": "a" * 1001}, "invalid_client_metadata"),
    ],
)  # fmt: skip
def test_a_registration_that_could_harm_is_refused(metadata: dict[str, Any], error: str) -> None:
    answer = flow.register(**metadata)

    assert (answer["status"], answer["error"]) == (400, error)
    assert not OAuthClient.objects.exists()


def test_registrations_are_limited_and_can_be_switched_off(
    settings: Any, environment: Callable[..., None]
) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "oauth": "2/hour"}
    assert [flow.register()["status"] for _ in range(3)] == [201, 201, 429]

    environment(mcp_oauth_registration=False)
    assert Client().post("/oauth/register", {}, content_type="application/json").status_code == 404
    metadata = Client().get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in metadata


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b'"x"', b"[" * 1000])
def test_a_registration_that_is_none_is_refused(body: bytes) -> None:
    answer = Client().post("/oauth/register", body, content_type="application/json")
    assert answer.status_code == 400


def test_a_name_holds_nothing_that_is_not_seen() -> None:
    assert clean_name("Claude\u202e\u200b <b>\x00\n x") == "Claude <b> x"
    assert len(clean_name("a" * 500)) == 80


URL = "https://client.example/oauth/metadata"


@pytest.fixture
def document(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Serve the document of the client."""

    def publish(
        status: int = 200, kind: str = "application/json", body: object = None, **changes: object
    ) -> None:
        found = {
            "client_id": URL,
            "client_name": "Client",
            "redirect_uris": [flow.SITE_REDIRECT],
            "token_endpoint_auth_method": "none",
            **changes,
        }
        raw = body if isinstance(body, bytes) else json.dumps(found).encode()

        def fetch(method: str, url: str, **given: Any) -> HttpResult:
            assert url.startswith("https://client.example/")
            return HttpResult(status, {"content-type": kind}, raw, 1)

        monkeypatch.setattr(client_metadata, "fetch", fetch)

    return publish


def opened(client_id: str = URL) -> Any:
    url = flow.authorize_url(client_id, redirect_uri=flow.SITE_REDIRECT)
    return flow.person().get(url)


def test_a_document_makes_a_client_that_its_host_vouches_for(document: Callable[..., None]) -> None:
    document(
        token_endpoint_auth_method="private_key_jwt",
        token_endpoint_auth_methods_supported=["none", "private_key_jwt"],
        grant_types=[
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:jwt-bearer",
        ],
    )

    page = opened()

    assert page.status_code == 200
    assert "Confirmed by client.example" in page.content.decode()
    code = flow.code_of(flow.person(), URL, redirect_uri=flow.SITE_REDIRECT)
    tokens = flow.redeem(URL, code, redirect_uri=flow.SITE_REDIRECT)
    assert tokens.status_code == 200


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 302},
        {"kind": "text/html"},
        {"body": b"[]"},
        {"body": b"{"},
        {"client_id": "https://other.example/oauth/metadata"},
        {"client_id": None},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": "https://client.example/callback"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"client_secret": "x"},
        {"client_name": 5, "redirect_uris": [1]},
    ],
)
def test_a_document_that_is_none_makes_no_client(
    document: Callable[..., None], answer: dict[str, Any]
) -> None:
    document(**answer)

    assert opened().status_code == 400
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    "client_id",
    [
        "http://client.example/oauth/metadata",
        "https://client.example",
        "https://client.example/",
        "https://client.example/a/../b",
        "https://client.example/a#b",
        "https://127.0.0.1/oauth/metadata",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/oauth/metadata",
        "https://user@client.example/oauth/metadata",
        "https://[::1]/oauth/metadata",
    ],
)
def test_a_document_elsewhere_is_not_read(client_id: str) -> None:
    # The guard itself refuses these; no name server is asked.
    assert opened(client_id).status_code == 400
    assert not OAuthClient.objects.exists()


def test_the_guard_refuses_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fetch(method: str, url: str, **given: Any) -> HttpResult:
        asked.append(url)
        raise CallRefused("not there")

    monkeypatch.setattr(client_metadata, "fetch", fetch)

    assert [opened().status_code for _ in range(3)] == [400, 400, 400]
    assert asked == [URL]


def test_only_named_programs_ask_about_tokens(environment: Callable[..., None]) -> None:
    tokens = flow.connected()
    asked = {"token": tokens["access_token"]}
    assert Client().post("/oauth/introspect", asked).status_code == 404

    environment(mcp_oauth_introspection={"gateway": "a-long-secret"})
    right = {"Authorization": "Basic Z2F0ZXdheTphLWxvbmctc2VjcmV0"}
    told = Client().post("/oauth/introspect", asked, headers=right).json()
    assert told["active"] is True
    assert told["scope"] == "propose read"
    assert told["aud"] == flow.RESOURCE
    for header in ("Basic Z2F0ZXdheTp3cm9uZw==", "Basic Og==", "Basic %", "Bearer x"):
        wrong = Client().post("/oauth/introspect", asked, headers={"Authorization": header})
        assert wrong.status_code == 401
    unknown = Client().post("/oauth/introspect", {"token": "x"}, headers=right)
    assert unknown.json() == {"active": False}
    assert Client().get("/oauth/introspect", headers=right).status_code == 405


def test_nobody_ends_anothers_connection() -> None:
    flow.connected()
    row = OAuthConnection.objects.get()
    address = f"/admin/oauth/clients/{row.pk}/disconnect/"
    other, admin = flow.person("translator"), flow.person("admin")
    for browser in (other, admin):
        browser.handler.enforce_csrf_checks = False

    assert other.post(address).status_code == 404
    assert OAuthConnection.objects.get().ended_at is None
    assert admin.post(address).status_code == 302
    assert OAuthConnection.objects.get().ended_at is not None
    assert Event.objects.filter(name="mcp_client.disconnected").count() == 1


def test_what_is_over_is_deleted_and_what_is_used_stays() -> None:
    tokens = flow.connected()
    unused = flow.register()["client_id"]
    OAuthClient.objects.update(created=timezone.now() - timedelta(hours=25))

    assert connections.purge() == 1
    assert not OAuthClient.objects.filter(client_id=unused).exists()
    assert status_of(tokens["access_token"]) == 200

    long_ago = timezone.now() - timedelta(days=91)
    OAuthConnection.objects.update(connected_at=long_ago, last_used_at=long_ago)
    assert connections.purge() == 0  # its tokens still open something
    connections.disconnect(
        connection_id=OAuthConnection.objects.get().pk, actor=make.actor("editor", via="admin")
    )
    connections.purge()
    assert not OAuthConnection.objects.exists()
    assert not OAuthClient.objects.exists()
