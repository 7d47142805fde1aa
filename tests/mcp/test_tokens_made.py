"""Creation of MCP tokens: permissions, accounts, and errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from mcp_bridge.access.principals import actor_for, may_use
from mcp_bridge.access.tokens import create_token, find_holder
from mcp_bridge.models import McpToken
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.accounts.services.account_tokens import hash_of
from proofroom.accounts.services.users import change_user
from proofroom.core.models import Event
from proofroom.core.tools import all_tools
from tests import make
from tests.accounts.bearer import program, token_of
from tests.api.refusals import error, stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
PATH = "/api/mcp-tokens"


def asked(**given: Any) -> dict[str, Any]:
    return {"name": "Laptop", "userId": make.user("editor").pk, **given}


def test_threat_41_a_token_answers_its_secret_once_and_keeps_its_hash() -> None:
    admin, soon = ApiClient("admin"), timezone.now() + timedelta(days=1)

    made = admin.write(
        "POST",
        PATH,
        asked(tools=["list_posts", "get_post_context"], expiresAt=soon.isoformat()),
        expect=201,
    )

    secret = made.pop("token")
    token = McpToken.objects.get()
    assert secret.startswith("cmsmcp_")
    assert len(secret) == len("cmsmcp_") + 43
    assert token.hash == hash_of(secret)
    assert (token.role, token.hint, token.expires_at) == ("editor", secret[-4:], soon)
    assert made == admin.read(f"{PATH}/{token.pk}") == admin.read(PATH)["data"][0]
    assert made["tools"] == ["get_post_context", "list_posts"]
    assert (made["diagnostics"], made["state"], made["lastUsedAt"]) == (False, "active", None)
    event = Event.objects.get(name="mcp_token.created")
    assert event.payload == {
        "id": str(token.pk),
        "name": token.name,
        "userId": token.user_id,
        "tools": ["get_post_context", "list_posts"],
        "diagnostics": False,
        "startsAgents": True,
        "toolSet": "all",
    }


def test_a_token_is_revoked_once() -> None:
    admin = ApiClient("admin")
    made = admin.write("POST", PATH, asked(), expect=201)

    first = admin.write("DELETE", f"{PATH}/{made['id']}", expect=200)
    again = admin.write("DELETE", f"{PATH}/{made['id']}", expect=200)

    assert first == again
    assert first["state"] == "revoked"
    event = Event.objects.get(name="mcp_token.revoked")
    assert event.payload == {
        "id": made["id"],
        "name": made["name"],
        "userId": made["userId"],
    }


def test_what_was_read_can_be_sent_again() -> None:
    admin = ApiClient("admin")
    read = admin.write("POST", PATH, asked(), expect=201)

    del read["token"]
    admin.write("POST", PATH, read, expect=201)

    assert McpToken.objects.count() == 2


@pytest.mark.parametrize("role", ["ai_agent", "translator", "admin"])
def test_any_active_account_may_have_a_token(role: str) -> None:
    ApiClient("admin").write("POST", PATH, asked(userId=make.user(role, "its").pk), expect=201)

    assert McpToken.objects.get().role == role


@pytest.mark.parametrize(
    ("given", "field", "sentence"),
    [
        ({"tools": ["list_post"]}, "tools", "did you mean list_posts?"),
        ({"tools": ["x" * 200]}, "tools.0", "at most 128"),
        ({"tools": ["list_posts"] * 201}, "tools", "at most 200"),
        ({"tools": "list_posts"}, "tools", "list"),
        ({"tools": ["a\x00"]}, "tools.0", "NUL"),
        ({"tools": ["tail_activity_logs"]}, "tools", "grant diagnostics"),
        ({"tools": ["run_agent"], "userId": "translator"}, "tools", "not for the role translator"),
        ({"userId": 2**53}, "userId", "No active account"),
        ({"userId": True}, "userId", "whole number"),
        ({"userId": "off"}, "userId", "No active account"),
        ({"name": " "}, "name", "Give the token a name"),
        ({"name": "a\x00b"}, "name", "NUL"),
        ({"name": "x" * 101}, "name", "at most 100"),
        ({"diagnostics": "yes"}, "diagnostics", "true or false"),
        ({"expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt", "in the future"),
        ({"scopes": []}, "scopes", "There is no key"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, dict) else None,
)
def test_what_no_token_is_made_of(given: dict[str, Any], field: str, sentence: str) -> None:
    if given.get("userId") == "translator":
        given = {**given, "userId": make.user("translator").pk}
    elif given.get("userId") == "off":
        off = make.user("translator", "off")
        type(off).objects.filter(pk=off.pk).update(is_active=False)
        given = {**given, "userId": off.pk}
    admin, body = ApiClient("admin"), asked(**given)
    before = stored()

    answer = admin.send("POST", PATH, body)

    assert answer.status_code == 422
    details = answer.json()["details"]
    assert sentence in str(details[field])
    assert stored() == before


def test_a_program_makes_no_token_whatever_its_own_may_do() -> None:
    client = program(token_of(make.user("admin"))[1])
    body, before = asked(), stored()

    error(client.send("POST", PATH, body), 403, "session_required")

    assert stored() == before
    assert McpToken.objects.count() == 0


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "translator"}], ids=str)
def test_an_account_that_comes_back_brings_no_token(change: dict[str, Any]) -> None:
    editor, admin = make.user("editor"), make.actor("admin")
    token, _ = create_token(name="Laptop", user_id=editor.pk, actor=admin)

    change_user(user_id=editor.pk, actor=admin, **change)
    back = {"is_active": True} if "is_active" in change else {"role": "editor"}
    change_user(user_id=editor.pk, actor=admin, **back)

    token.refresh_from_db()
    assert token.state == "revoked"


def test_a_token_that_starts_no_agents_sees_and_calls_no_tool_that_does() -> None:
    admin = ApiClient("admin")
    made = admin.write("POST", PATH, asked(startsAgents=False), expect=201)

    holder = find_holder(made["token"])

    assert made["startsAgents"] is False
    assert holder is not None
    actor = actor_for(holder.principal)
    usable = {tool.name for tool in all_tools() if may_use(holder.principal, actor, tool)}
    assert "list_agents" in usable
    assert usable.isdisjoint({"run_agent", "run_field_agent"})
    result: Any = call_tool(holder.principal, "run_agent", {"agentId": "seo-specialist"})
    assert result.is_error
    assert "starts an agent" in result.content[0].text


def test_a_tool_that_starts_agents_needs_the_right() -> None:
    body = asked(tools=["list_posts", "run_agent"], startsAgents=False)

    answer = ApiClient("admin").write("POST", PATH, body, expect=422)

    assert set(answer["details"]) == {"tools"}
    assert not McpToken.objects.exists()
