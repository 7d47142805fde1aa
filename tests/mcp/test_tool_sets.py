"""The core set of tools: who lists it, what it costs, and how a client adds the other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.urls import reverse
from mcp import Client
from mcp.shared.subscriptions import ToolsListChanged

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.tokens import create_token, find_holder
from mcp_bridge.access.tool_sets import (
    CORE_TOOLS,
    CredentialTools,
    SessionTools,
    asks_for_core,
    current_call,
    is_core,
)
from mcp_bridge.models import McpToken
from mcp_bridge.protocol.server import build_server, core_description, tool_description
from mcp_bridge.protocol.subscriptions import SubscribedClient, read_changes, usable_tools
from mcp_bridge.protocol.tool_calls import answer_call
from proofroom.accounts.models import User
from proofroom.core.errors import RuleViolation
from proofroom.core.realtime.event_tail import Tail
from proofroom.core.tools import all_tools, get_tool
from proofroom.core.tools.call import call_raw
from proofroom.oauth.scopes import CORE, KNOWN_SCOPES, USUAL_SCOPES, grantable
from tests import make
from tests.api_client import ApiClient
from tests.mcp.calling import by, done, refused
from tests.mcp.conftest import HEADER, TOKEN
from tests.mcp.running import Running, connected

MAX_TOKENS = 2_500
CHARACTERS_PER_TOKEN = 4
CORE_QUERY = "?tools=core"


def registered_core() -> list[str]:
    return [name for name in CORE_TOOLS if get_tool(name) is not None]


def names(listed: Any) -> list[str]:
    return [tool.name for tool in listed.tools]


def test_the_core_set_costs_few_tokens_as_it_is_sent() -> None:
    shown = [
        core_description(tool).model_dump(by_alias=True, exclude_none=True, mode="json")
        for name in CORE_TOOLS
        if (tool := get_tool(name)) is not None
    ]
    text = json.dumps({"tools": shown}, separators=(",", ":"), ensure_ascii=False)

    assert 14 <= len(shown) <= 18
    assert len(text) / CHARACTERS_PER_TOKEN <= MAX_TOKENS
    for one in shown:
        assert set(one) == {"name", "description", "inputSchema", "annotations"}
        assert "title" not in one["annotations"]


def test_hints_that_are_left_out_are_what_the_protocol_assumes() -> None:
    assumed = {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    for tool in all_tools():
        whole, core = (
            one.model_dump(by_alias=True, exclude_none=True)["annotations"]
            for one in (tool_description(tool), core_description(tool))
        )
        meant = {**assumed, **core}
        assert meant["readOnlyHint"] is whole["readOnlyHint"], tool.name
        assert meant["openWorldHint"] is whole["openWorldHint"], tool.name
        if not whole["readOnlyHint"]:
            assert meant["destructiveHint"] is whole["destructiveHint"], tool.name
            assert meant["idempotentHint"] is whole["idempotentHint"], tool.name


@pytest.mark.parametrize(
    ("transport", "mode"), [("sse", "legacy"), ("http", "legacy"), ("http", "auto")]
)
def test_an_address_chooses_the_core_set_and_the_client_adds_to_it(
    open_server: Running, transport: str, mode: str
) -> None:
    changed = anyio.Event()

    async def note(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            changed.set()

    async def scene() -> None:
        async with connected(
            open_server, transport, mode, query=CORE_QUERY, message_handler=note
        ) as client:
            assert client.server_capabilities.tools.list_changed is True
            listed = await client.list_tools()
            assert names(listed) == registered_core()
            assert all(tool.output_schema is None and tool.title is None for tool in listed.tools)
            found = await client.call_tool("find_tools", {"q": "links for a preview"})
            rows = found.structured_content["items"]
            assert "revoke_post_preview_link" in {row["name"] for row in rows}
            added = ["revoke_post_preview_link", "get_post_revision"]
            enabled = await client.call_tool("enable_tools", {"names": added})
            assert not enabled.is_error, enabled.content
            if mode == "legacy":
                with anyio.fail_after(10):
                    await changed.wait()
            assert names(await client.list_tools()) == [*registered_core(), *sorted(added)]
        async with connected(open_server, transport, mode) as other:
            assert len(names(await other.list_tools())) > 3 * len(CORE_TOOLS)
        async with connected(open_server, transport, "legacy", query=CORE_QUERY) as other:
            assert names(await other.list_tools()) == registered_core()

    anyio.run(scene)


def test_without_sessions_the_tools_are_those_of_the_credential(locked_server: Running) -> None:
    first = {"Authorization": f"Bearer {TOKEN['MCP_AUTH_TOKEN']}"}
    second = {HEADER["MCP_AUTH_HEADER_NAME"]: HEADER["MCP_AUTH_HEADER_VALUE"]}

    async def scene() -> None:
        async with (
            connected(locked_server, "http", "auto", first, query=CORE_QUERY) as client,
            client.listen(tools_list_changed=True) as events,
        ):
            enabled = await client.call_tool("enable_tools", {"names": ["list_media"]})
            assert not enabled.is_error, enabled.content
            with anyio.fail_after(20):
                assert await anext(events) == ToolsListChanged()
        async with connected(locked_server, "http", "auto", first, query=CORE_QUERY) as again:
            assert names(await again.list_tools()) == [*registered_core(), "list_media"]
        async with connected(locked_server, "http", "auto", second, query=CORE_QUERY) as other:
            assert names(await other.list_tools()) == registered_core()

    anyio.run(scene)


@pytest.mark.django_db
def test_the_setting_holds_for_clients_without_http(
    agent: User, environment: Callable[..., None], settings: Any
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    environment(mcp_tool_set="core")

    async def scene() -> tuple[list[str], list[str]]:
        async with Client(build_server()) as client:
            before = names(await client.list_tools())
            await client.call_tool("enable_tools", {"names": ["list_media"]})
            return before, names(await client.list_tools())

    before, after = async_to_sync(scene)()
    assert before == registered_core()
    assert after == [*before, "list_media"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [(b"tools=core", True), (b"a=1&tools=core", True), (b"tools=all", False), (b"", False)],
)
def test_only_the_known_choice_of_an_address_counts(query: bytes, expected: bool) -> None:
    assert asks_for_core(query) is expected
    assert is_core(Principal(id="x"), query) is expected


@pytest.mark.django_db
def test_a_token_lists_the_core_set_if_it_was_made_so() -> None:
    admin = ApiClient("admin")
    body = {"name": "Laptop", "userId": make.user("editor").pk, "toolSet": "core"}
    made = admin.write("POST", "/api/mcp-tokens", body, expect=201)
    assert made["toolSet"] == "core"
    assert admin.read(f"/api/mcp-tokens/{made['id']}")["toolSet"] == "core"
    holder = find_holder(made["token"])
    assert holder is not None
    assert is_core(holder.principal, b"")
    admin.write("POST", "/api/mcp-tokens", {**body, "toolSet": "few"}, expect=422)
    _, secret = create_token(
        name="Desk", user_id=body["userId"], actor=make.actor("admin", via="admin")
    )
    usual = find_holder(secret)
    assert usual is not None
    assert not is_core(usual.principal, b"")


@pytest.mark.django_db
def test_the_admin_makes_a_token_with_the_core_set(signed_in: Callable[..., Any]) -> None:
    browser = signed_in("admin")
    url = reverse("admin:mcp_bridge_mcptoken_add")
    assert 'name="toolSet"' in browser.get(url).content.decode()
    owner = make.user("editor")
    page = browser.post(
        url,
        {"name": "Laptop", "user": owner.pk, "toolSet": "core", "startsAgents": "on"},
        follow=True,
    )
    assert McpToken.objects.get().tool_set == "core"
    assert "Lists the core set." in page.content.decode()


@pytest.mark.django_db
def test_the_scope_is_no_right_and_comes_with_the_usual_ones() -> None:
    assert is_core(Principal(id="oauth:x", scopes=frozenset({"read", CORE})), b"")
    assert not is_core(Principal(id="oauth:x", scopes=frozenset(USUAL_SCOPES)), b"")
    assert grantable([CORE], make.actor("translator")) == ["read", CORE]
    assert CORE in KNOWN_SCOPES
    assert CORE not in USUAL_SCOPES


@pytest.mark.django_db
def test_tools_are_found_by_what_they_do() -> None:
    def found(q: str) -> list[str]:
        return [row["name"] for row in done("find_tools", q=q)["items"]]

    assert found("revision")[:2] == ["get_post_revision", "list_post_revisions"]
    assert found("generate an image")[0] == "generate_image"
    assert found("zzzz") == []
    whole = done("find_tools", limit=100)
    assert whole["total"] == len(whole["items"])
    row = next(one for one in whole["items"] if one["name"] == "get_post_context")
    assert row["listed"] is True
    assert row["signature"] == "get_post_context(postId, parts?, format?)"


@pytest.mark.django_db
def test_only_usable_tools_are_found_and_enabled() -> None:
    cache.clear()
    narrow = Principal(
        id="client:narrow",
        user_id=make.user("editor").pk,
        tools=frozenset({"find_tools", "enable_tools", "list_posts"}),
    )
    rows = done("find_tools", narrow, limit=100)["items"]
    assert {row["name"] for row in rows} == set(narrow.tools or ())
    code, text = refused("enable_tools", narrow, names=["list_media"])
    assert "list_media is not for this credential" in text
    code, text = refused("enable_tools", narrow, names=["list_post"])
    assert (code, "list_posts" in text) == ("unknown_tool", True)
    assert CredentialTools(narrow.id).names() == frozenset()


@pytest.mark.django_db
def test_a_session_keeps_its_tools_to_itself() -> None:
    cache.clear()
    session = SessionTools({})
    principal = by("editor")
    answer = answer_call(principal, "enable_tools", {"names": ["list_media"]}, enabled=session)
    assert not answer.is_error, answer.body
    assert session.names() == {"list_media"}
    assert CredentialTools(principal.id).names() == frozenset()
    assert current_call.get() is None


@pytest.mark.django_db
def test_a_run_of_an_agent_enables_nothing() -> None:
    tool = get_tool("enable_tools")
    assert tool is not None
    with pytest.raises(RuleViolation, match="Only AI clients"):
        call_raw(tool, make.agent_actor(), {"names": ["list_media"]})


@pytest.mark.django_db
def test_followers_hear_of_tools_that_their_credential_enabled() -> None:
    cache.clear()
    principal = by("editor")
    follower, other = (
        SubscribedClient(principal, tools=True),
        SubscribedClient(by("admin"), tools=True),
    )
    for one in (follower, other):
        one.known_tools = usable_tools(one.principal)
    tail = Tail()
    tail.read()
    done("enable_tools", principal, names=["list_media"])
    assert read_changes(tail, [follower, other], True) == {follower: [ToolsListChanged()]}
    assert read_changes(tail, [follower, other], True) == {}
