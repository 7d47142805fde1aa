"""The authorization flow from the first refusal to a call, with each step's response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from agents_app.models import AgentRun
from content.models import Post
from mcp_bridge.access.connected_clients import find_client_holder, still_connected
from mcp_bridge.access.principals import actor_for
from mcp_bridge.models import McpCall
from proofroom.accounts.roles import GRANTS
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed
from proofroom.core.models import Event
from proofroom.oauth.connections import limit_connection
from proofroom.oauth.models import OAuthClient, OAuthConnection
from tests import make
from tests.mcp.inside import Inside, bearer, inside, newest
from tests.oauth import flow

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh(settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    settings.SITE_URL = "https://cms.example.com"
    settings.SECURE_SSL_REDIRECT = False
    cache.clear()


def ask(*requests: dict[str, Any]) -> list[Any]:
    """Return one MCP server's responses to these requests."""
    answers: list[Any] = []

    async def scene(server: Inside) -> None:
        for request in requests:
            answer = await server.ask(**request)
            await answer.done.wait()
            answers.append(answer)

    inside(scene)
    return answers


def call(token: str, tool: str, **arguments: Any) -> dict[str, Any]:
    asked = newest("tools/call", tool, arguments=arguments)
    return {"body": asked["body"], "headers": {**asked["headers"], **bearer(token)}}


def test_a_refusal_leads_to_the_metadata_and_from_there_to_the_endpoints() -> None:
    refused, at_server = ask(
        {"headers": bearer("wrong")},
        {"method": "GET", "path": "/.well-known/oauth-protected-resource/mcp"},
    )
    told = refused.headers["www-authenticate"]
    resource = Client().get("/.well-known/oauth-protected-resource/mcp").json()
    metadata = Client().get("/.well-known/oauth-authorization-server").json()

    assert refused.status == 401
    assert told == (
        'Bearer realm="mcp", error="invalid_token", scope="read propose agents", '
        'resource_metadata="http://127.0.0.1:8787/.well-known/oauth-protected-resource/mcp"'
    )
    assert resource == at_server.json
    assert resource["scopes_supported"] == ["read", "propose", "agents", "diagnostics"]
    assert resource["resource"] == flow.RESOURCE
    assert resource["authorization_servers"] == ["https://cms.example.com"]
    assert metadata == Client().get("/.well-known/openid-configuration").json()
    assert metadata["issuer"] == "https://cms.example.com"
    assert metadata["authorization_endpoint"] == "https://cms.example.com/admin/oauth/authorize/"
    assert metadata["token_endpoint"] == "https://cms.example.com/oauth/token"
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert "none" in metadata["token_endpoint_auth_methods_supported"]
    assert metadata["client_id_metadata_document_supported"] is True


def test_a_person_connects_a_client_which_then_proposes_in_their_name() -> None:
    post = make.post("How to brew tea")
    client_id = flow.register()["client_id"]
    browser = flow.person()

    answer = flow.answer_of(flow.consent(browser, flow.authorize_url(client_id)))
    tokens = flow.redeem(client_id, answer["code"]).json()
    listed, staged = ask(
        call(tokens["access_token"], "list_posts"),
        call(
            tokens["access_token"],
            "save_post_ai_review",
            post_id=str(post.pk),
            patch={"title": "How to brew green tea"},
        ),
    )

    assert (answer["state"], answer["iss"]) == ("the-state", "https://cms.example.com")
    assert tokens["token_type"] == "Bearer"
    assert tokens["scope"] == "read propose"
    assert tokens["expires_in"] == 3600
    assert not listed.json["result"]["isError"], listed.body
    assert not staged.json["result"]["isError"], staged.body
    post.refresh_from_db()
    assert post.title == "How to brew tea"
    connected = OAuthConnection.objects.get()
    assert connected.last_used_at is not None
    assert {
        (row.principal, row.user.username) for row in McpCall.objects.select_related("user")
    } == {(f"oauth:{connected.pk}", "editor")}
    event = Event.objects.get(name="mcp_client.connected")
    assert event.payload["name"] == "Sample client"
    assert event.payload["scopes"] == ["read", "propose"]


def test_what_is_stored_opens_nothing() -> None:
    client = flow.register(token_endpoint_auth_method="client_secret_post")
    browser = flow.person()
    code = flow.code_of(browser, client["client_id"])
    secrets = [client["client_secret"], code]
    kept = [str(list(connection_rows()))]
    tokens = flow.redeem(client["client_id"], code, client_secret=client["client_secret"]).json()
    secrets += [tokens["access_token"], tokens["refresh_token"]]
    kept.append(str(list(connection_rows())))

    assert not [secret for secret in secrets if any(secret in text for text in kept)]


def connection_rows() -> list[Any]:
    """Return everything in the library's and our tables."""
    rows: list[Any] = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith(("oauth2_provider_", "proofroom_oauth_")):
                cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608  # a name of the database's own
                rows += cursor.fetchall()
    return rows


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_shows_it(method: str) -> None:
    import base64

    client = flow.register(token_endpoint_auth_method=method)
    code = flow.code_of(flow.person(), client["client_id"])

    without = flow.redeem(client["client_id"], code)
    wrong = flow.redeem(client["client_id"], code, client_secret="wrong")
    assert (without.status_code, without.json()["error"]) == (401, "invalid_client")
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")
    if method == "client_secret_post":
        right = flow.redeem(client["client_id"], code, client_secret=client["client_secret"])
    else:
        pair = f"{client['client_id']}:{client['client_secret']}".encode()
        right = Client().post(
            "/oauth/token",
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": "http://127.0.0.1:50123/callback",
                "code_verifier": flow.VERIFIER,
            },
            headers={"Authorization": f"Basic {base64.b64encode(pair).decode()}"},
        )
    assert right.status_code == 200, right.content


def test_a_refresh_keeps_the_connection_and_ends_the_old_token() -> None:
    first = flow.connected()
    second = flow.refresh(first["client_id"], first["refresh_token"]).json()

    old, new = ask(
        call(first["access_token"], "list_posts"), call(second["access_token"], "list_posts")
    )

    assert old.status == 401
    assert new.status == 200
    assert OAuthConnection.objects.count() == 1
    assert McpCall.objects.get().principal == f"oauth:{OAuthConnection.objects.get().pk}"


def test_a_client_learns_which_scope_the_user_left_out() -> None:
    client_id = flow.register()["client_id"]
    answer = flow.consent(flow.person(), flow.authorize_url(client_id), grant=())
    tokens = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    post = make.post()

    read, staged = ask(
        call(tokens["access_token"], "list_posts"),
        call(
            tokens["access_token"],
            "save_post_ai_review",
            post_id=str(post.pk),
            patch={"title": "X"},
        ),
    )

    assert tokens["scope"] == "read"
    assert read.status == 200
    assert staged.status == 403
    assert staged.json["code"] == "insufficient_scope"
    told = staged.headers["www-authenticate"]
    assert 'error="insufficient_scope", scope="read propose"' in told
    assert not make.layers(post).ai_review.changes.items


def test_starting_agents_is_a_scope_of_its_own_which_a_refresh_keeps() -> None:
    post = make.post()
    asked = {"scope": "read propose agents"}
    client_id = flow.register()["client_id"]
    url = flow.authorize_url(client_id, **asked)
    page = flow.person("editor").get(url).content.decode()
    assert 'name="grant" value="agents" checked' in page
    assert "Start agents" in page
    arguments = {"agentId": "seo-specialist", "scope": "dropdown", "postId": str(post.pk)}

    def start(tokens: dict[str, Any]) -> Any:
        (answer,) = ask(call(tokens["access_token"], "run_agent", **arguments))
        return answer

    answer = flow.consent(flow.person("editor"), url, grant=("propose",))
    without = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    refused = start(without)
    assert without["scope"] == "read propose"
    assert (refused.status, refused.json["code"]) == (403, "insufficient_scope")
    assert 'scope="read propose agents"' in refused.headers["www-authenticate"]
    assert not AgentRun.objects.exists()

    answer = flow.consent(flow.person("editor"), url, grant=("propose", "agents"))
    tokens = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    tokens = flow.refresh(client_id, tokens["refresh_token"]).json()
    started = start(tokens)
    assert tokens["scope"] == "read propose agents"
    assert not started.json["result"]["isError"], started.body
    assert AgentRun.objects.count() == 1
    # The token of the first consent gets no new permissions.
    assert start(without).status == 403


def test_starting_agents_is_not_offered_to_who_may_start_none() -> None:
    client_id = flow.register()["client_id"]
    url = flow.authorize_url(client_id, scope="read propose agents")
    browser = flow.person("translator")

    assert 'value="agents"' not in browser.get(url).content.decode()
    answer = flow.consent(browser, url, grant=("propose", "agents"))
    tokens = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    assert tokens["scope"] == "read propose"


def test_diagnostics_are_for_who_could_give_them_to_a_token() -> None:
    asked = {"scope": "read propose diagnostics"}
    client_id = flow.register()["client_id"]

    page = flow.person("editor").get(flow.authorize_url(client_id, **asked)).content.decode()
    assert 'value="diagnostics"' not in page
    answer = flow.consent(
        flow.person("editor"),
        flow.authorize_url(client_id, **asked),
        grant=("propose", "diagnostics"),
    )
    editors = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    answer = flow.consent(
        flow.person("admin"),
        flow.authorize_url(client_id, **asked),
        grant=("propose", "diagnostics"),
    )
    admins = flow.redeem(client_id, flow.answer_of(answer)["code"]).json()
    refused, right = ask(
        call(editors["access_token"], "read_server_logs"),
        call(admins["access_token"], "read_server_logs"),
    )

    assert editors["scope"] == "read propose"
    assert admins["scope"] == "read propose diagnostics"
    assert refused.status == 403
    assert right.status == 200


def test_metadata_and_endpoints_go_where_oauth_is_switched_off(
    environment: Callable[..., None],
) -> None:
    environment(mcp_oauth=False)
    (refused,) = ask({"headers": bearer("wrong")})

    assert refused.headers["www-authenticate"] == 'Bearer realm="mcp", error="invalid_token"'
    for path in ("oauth-protected-resource", "oauth-authorization-server", "openid-configuration"):
        assert Client().get(f"/.well-known/{path}").status_code == 404
    assert Client().post("/oauth/register").status_code == 404
    assert not OAuthClient.objects.exists()


def test_an_earlier_token_may_do_no_more_than_the_last_consent_allows() -> None:
    first = flow.connected()
    browser = flow.person()
    url = flow.authorize_url(first["client_id"])

    flow.consent(browser, url, grant=())

    holder = find_client_holder(first["access_token"])
    assert holder is not None
    assert holder.principal.scopes == frozenset({"read"})
    again = flow.refresh(first["client_id"], first["refresh_token"]).json()
    assert again["scope"] == "read"
    flow.consent(browser, url)
    assert flow.refresh(first["client_id"], again["refresh_token"]).json()["scope"] == "read"


def test_a_session_ends_where_the_last_consent_allows_less() -> None:
    first = flow.connected()
    holder = find_client_holder(first["access_token"])
    assert holder is not None
    assert still_connected([holder]) == {holder}

    flow.consent(flow.person(), flow.authorize_url(first["client_id"]), grant=())

    assert still_connected([holder]) == set()
    narrower = find_client_holder(first["access_token"])
    assert narrower is not None
    assert still_connected([narrower]) == {narrower}


@pytest.fixture
def bloggers() -> Post:
    """Create users limited to the blog, and a hidden page with a child."""
    hidden = make.post("Hidden plans", type="page", slug="hidden-plans", status="draft")
    make.post("Below", type="page", slug="below", parentId=str(hidden.pk))
    limitable = sorted(GRANTS["editor"] - WHOLE_SITE)
    make.site_role("bloggers", *limitable, scope=ContentScope(types=frozenset({"blog"})))
    return hidden


def test_who_is_limited_connects_a_client_that_acts_within_their_limits(bloggers: Post) -> None:
    tokens = flow.connected("bloggers")

    connection = OAuthConnection.objects.get()
    assert not connection.scope.is_limited
    holder = find_client_holder(tokens["access_token"])
    assert holder is not None
    assert [scope.types for scope in actor_for(holder.principal).scopes] == [{"blog"}]


def test_limits_offer_and_name_no_page_that_is_hidden(bloggers: Post) -> None:
    client_id = flow.register()["client_id"]
    browser, url = flow.person("bloggers"), flow.authorize_url(client_id)
    nowhere = str(uuid4())

    def refused(section: str, **more: list[str]) -> str:
        answer = flow.consent(browser, url, sections=[section], **more)
        assert answer.status_code == 422
        return str(answer.content.decode()).replace(section, nowhere)

    assert "Hidden plans" not in browser.get(url).content.decode()
    assert "does not exist" in refused(str(bloggers.pk))
    assert "Hidden plans" not in refused(str(bloggers.pk), types=["castle"])
    assert not OAuthConnection.objects.exists()
    flow.connected("bloggers")
    page = f"/admin/oauth/clients/{OAuthConnection.objects.get().pk}/limit/"
    assert "Hidden plans" not in browser.get(page).content.decode()


def test_token_managers_cannot_limit_clients_with_more_permissions() -> None:
    flow.connected("admin", scope="read")
    connection = OAuthConnection.objects.get()
    make.site_role("clerk", "tokens.manage", "posts.view")

    with pytest.raises(NotAllowed, match="permissions that you do not have"):
        limit_connection(
            connection_id=connection.pk, limits=ContentScope(), actor=make.actor("clerk")
        )
    limit_connection(
        connection_id=connection.pk,
        limits=ContentScope(types=frozenset({"page"})),
        actor=make.actor("admin"),
    )
