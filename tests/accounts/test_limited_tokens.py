"""API tokens, MCP tokens and connected AI clients with a limited content scope."""

from __future__ import annotations

import re
from typing import Any

import pytest

from content.models import Post
from mcp_bridge.access.connected_clients import find_client_holder
from mcp_bridge.access.principals import actor_for
from mcp_bridge.access.token_holders import TokenHolder
from mcp_bridge.access.tokens import create_token, find_holder, limit_token, still_authorized
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.models import ApiToken
from proofroom.core.content_scope import WHOLE_SITE, ContentScope
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.oauth.models import OAuthConnection
from tests import make
from tests.accounts.bearer import program
from tests.api_client import ApiClient
from tests.oauth import flow

pytestmark = pytest.mark.django_db
PAGES = ContentScope(types=frozenset({"page"}))
LIMITS = {"types": ["page"], "locales": [], "sections": [], "terms": [], "readsAll": False}


@pytest.fixture
def inside() -> Post:
    return make.post("Inside", type="page", slug="inside")


@pytest.fixture
def outside() -> Post:
    return make.post("Outside", slug="outside")


def made(*permissions: str, **more: Any) -> dict[str, Any]:
    body = {"name": "Export", "permissions": [*permissions], "scope": LIMITS, **more}
    answer: dict[str, Any] = ApiClient("admin").write("POST", "/api/tokens", body, expect=201)
    return answer


def tokens_of_ai_client(scope: ContentScope, **more: Any) -> tuple[Any, str]:
    return create_token(
        name="Pages",
        user_id=make.user("admin").pk,
        actor=make.actor("admin"),
        scope=scope,
        **more,
    )


def holder(secret: str) -> TokenHolder:
    found = find_holder(secret)
    assert found is not None
    return found


def titles(found: TokenHolder) -> list[str]:
    listed = call_tool(found.principal, "list_posts", {})
    return sorted(item["title"] for item in listed.structured_content["items"])


def test_a_program_sees_and_changes_only_what_its_token_is_limited_to(
    inside: Post, outside: Post
) -> None:
    token = made("posts.view", "posts.edit")
    client = program(token["token"])

    assert token["scope"] == LIMITS
    assert [row["title"] for row in client.read("/api/posts")["data"]] == ["Inside"]
    client.read(f"/api/posts/{outside.pk}", expect=404)
    client.write("PUT", f"/api/posts/{outside.pk}", {"excerpt": "x"}, expect=404)
    client.write("PUT", f"/api/posts/{inside.pk}", {"excerpt": "x"})


def test_a_limited_token_has_no_right_that_holds_for_the_whole_site(outside: Post) -> None:
    body = {"name": "x", "permissions": ["posts.view", "redirects.edit"], "scope": LIMITS}

    refused = ApiClient("admin").write("POST", "/api/tokens", body, expect=422)

    assert "permissions" in refused["details"]
    token = made("redirects.edit", scope={})
    path = f"/api/tokens/{token['id']}"
    ApiClient("admin").write("PATCH", path, {"scope": LIMITS}, expect=422)
    assert program(token["token"]).get("/api/redirects").status_code == 200


@pytest.mark.parametrize("permission", sorted(WHOLE_SITE))
def test_an_ai_client_that_is_limited_has_none_either(permission: str) -> None:
    _, limited = tokens_of_ai_client(PAGES)
    _, free = tokens_of_ai_client(ContentScope())

    assert not actor_for(holder(limited).principal).can(permission)
    assert actor_for(holder(free).principal).can(permission)


def test_a_token_is_limited_and_freed_later(inside: Post, outside: Post) -> None:
    token = made("posts.view", scope={})
    admin, client = ApiClient("admin"), program(token["token"])
    path = f"/api/tokens/{token['id']}"
    assert client.read("/api/posts")["meta"]["total"] == 2

    assert admin.write("PATCH", path, {"scope": LIMITS})["scope"] == LIMITS
    assert client.read("/api/posts")["meta"]["total"] == 1
    page = f"/admin/proofroom_accounts/apitoken/{token['id']}"
    assert "Post types: Page" in admin.get(f"{page}/change/").content.decode()
    assert admin.send_form("POST", f"{page}/limit/", {}).status_code == 302
    assert client.read("/api/posts")["meta"]["total"] == 2

    assert [event.payload["scope"] for event in Event.objects.filter(name="token.limited")] == [
        {"types": ["page"]},
        {},
    ]
    client.write("PATCH", path, {"scope": {}}, expect=403)


def test_the_form_of_a_new_token_limits_it(inside: Post) -> None:
    fields = {
        "name": "Export",
        "user": str(make.user("editor").pk),
        "permissions": ["posts.view"],
        "sections": [str(inside.pk)],
    }

    shown = ApiClient("admin").send_form("POST", "/admin/proofroom_accounts/apitoken/add/", fields)

    assert "Sections: Inside (/inside)" in shown.content.decode()
    assert ApiToken.objects.get().scope == ContentScope(sections=frozenset({inside.pk}))


def test_what_is_open_with_a_token_ends_once_it_is_limited(inside: Post, outside: Post) -> None:
    token, secret = tokens_of_ai_client(ContentScope())
    before = holder(secret)
    assert titles(before) == ["Inside", "Outside"]
    assert still_authorized({before}) == {before}

    limit_token(token_id=token.pk, scope=PAGES, actor=make.actor("admin"))

    assert still_authorized({before}) == set()
    after = holder(secret)
    assert still_authorized({after}) == {after}
    assert titles(after) == ["Inside"]
    patch = f"/api/mcp-tokens/{token.pk}"
    assert ApiClient("admin").write("PATCH", patch, {"scope": {}})["scope"]["types"] == []
    ApiClient("admin").write("PATCH", patch, {"scope": {"types": ["castle"]}}, expect=422)


def test_diagnostics_and_limits_exclude_each_other() -> None:
    with pytest.raises(RuleViolation) as refused:
        tokens_of_ai_client(PAGES, diagnostics=True)
    assert refused.value.code == "whole_site"
    token, secret = tokens_of_ai_client(ContentScope(), diagnostics=True)
    assert actor_for(holder(secret).principal).diagnoses
    with pytest.raises(RuleViolation):
        limit_token(token_id=token.pk, scope=PAGES, actor=make.actor("admin"))
    with pytest.raises(NotAllowed):
        limit_token(token_id=token.pk, scope=PAGES, actor=make.actor("editor"))


def test_a_person_limits_an_ai_client_where_they_connect_it(inside: Post, outside: Post) -> None:
    client_id = flow.register()["client_id"]
    browser = flow.person("admin")
    url = flow.authorize_url(client_id, scope="read propose diagnostics")

    code = flow.answer_of(flow.consent(browser, url, types=["page"]))["code"]

    found = find_client_holder(flow.redeem(client_id, code).json()["access_token"])
    assert found is not None
    assert titles(found) == ["Inside"]
    assert not actor_for(found.principal).diagnoses
    # On a second request, the form starts with the earlier choice.
    assert "open" in browser.get(url).content.decode().partition("consent-limits")[2][:10]
    wrong = flow.consent(browser, url, sections=["nothing"])
    assert wrong.status_code == 422
    assert OAuthConnection.objects.get().scope == PAGES


def test_a_person_with_limits_connects_a_client_without_choosing_any(
    inside: Post, outside: Post
) -> None:
    scope = ContentScope(sections=frozenset({inside.pk}))
    make.site_role("desk", "posts.view", scope=scope)
    client_id = flow.register()["client_id"]
    url = flow.authorize_url(client_id)

    code = flow.answer_of(flow.consent(flow.person("desk"), url))["code"]

    found = find_client_holder(flow.redeem(client_id, code).json()["access_token"])
    assert found is not None
    assert titles(found) == ["Inside"]
    assert not OAuthConnection.objects.get().scope.is_limited
    # The client's scope never exceeds the person's.
    for limits in ({"sections": [str(outside.pk)]}, {"types": ["page"], "reads_all": ["on"]}):
        flow.consent(flow.person("desk"), url, **limits)
        assert set(titles(found)) <= {"Inside"}
    wrong = flow.consent(
        flow.person("desk"), url, sections=["00000000-0000-0000-0000-000000000001"]
    )
    assert wrong.status_code == 422
    assert "does not exist" in wrong.content.decode()


def test_a_person_with_limits_is_offered_what_is_inside_of_them(
    inside: Post, outside: Post
) -> None:
    topic, other = make.term("Coffee"), make.term("Tea")
    scope = ContentScope(
        types=frozenset({"page"}),
        locales=frozenset({"de"}),
        sections=frozenset({inside.pk}),
        terms=frozenset({topic.pk}),
    )
    make.site_role("desk", "posts.view", scope=scope)
    url = flow.authorize_url(flow.register()["client_id"])

    page = flow.person("desk").get(url).content.decode()
    everything = flow.person("admin").get(url).content.decode()

    offered = re.findall(r'name="(types|locales|sections|terms|reads_all)"\s+value="([^"]+)"', page)
    assert sorted(offered) == [
        ("sections", str(inside.pk)),
        ("terms", str(topic.pk)),
        ("types", "page"),
    ]
    assert 'name="reads_all"' not in page
    assert 'name="reads_all"' in everything
    assert f'value="{other.pk}"' in everything


def test_a_person_limits_their_own_clients_and_nobody_elses(inside: Post, outside: Post) -> None:
    token = flow.connected()["access_token"]
    before = find_client_holder(token)
    assert before is not None
    assert still_authorized({before}) == {before}
    address = f"/admin/oauth/clients/{OAuthConnection.objects.get().pk}/limit/"
    assert ApiClient("translator").get(address).status_code == 404
    assert ApiClient("translator").send_form("POST", address, {}).status_code == 404

    editor = ApiClient("editor")
    assert b"Limit to sections" in editor.get(address).content
    assert editor.send_form("POST", address, {"types": ["page"]}).status_code == 302

    assert still_authorized({before}) == set()
    after = find_client_holder(token)
    assert after is not None
    assert titles(after) == ["Inside"]
    assert "part of the content" in editor.get("/admin/account/").content.decode()
    listed = ApiClient("admin").get("/admin/proofroom_oauth/oauthconnection/").content.decode()
    assert "part of the content" in listed
    assert ApiClient("admin").send_form("POST", address, {}).status_code == 302
    assert not OAuthConnection.objects.get().scope.is_limited
    assert Event.objects.filter(name="mcp_client.limited").count() == 2


def test_a_client_with_diagnostics_is_not_limited() -> None:
    client_id = flow.register()["client_id"]
    url = flow.authorize_url(client_id, scope="read diagnostics")
    flow.consent(flow.person("admin"), url, grant=("diagnostics",))
    connection = OAuthConnection.objects.get()
    assert "diagnostics" in connection.scopes

    answer = ApiClient("admin").send_form(
        "POST", f"/admin/oauth/clients/{connection.pk}/limit/", {"types": ["page"]}
    )

    assert answer.status_code == 422
    assert not OAuthConnection.objects.get().scope.is_limited
