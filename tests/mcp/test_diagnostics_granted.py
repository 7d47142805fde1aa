"""Access to the diagnostics tools: credentials with the grant, for any role."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_bridge.access.tokens import create_token
from proofroom.core.tools import all_tools
from tests import make
from tests.diagnostics.asking import TOOLS
from tests.mcp.conftest import HEADER, TOKEN
from tests.mcp.inside import Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
FITTING: dict[str, dict[str, Any]] = {
    "read_server_logs": {"lines": 1},
    "run_ace_command": {"command": "check"},
    "simulate_webhook_event": {"event": "post.published"},
    "tail_activity_logs": {"limit": 1},
    "test_local_route": {"path": "/health"},
    "trace_url_resolution": {"path": "/"},
    "validate_mcp_payload": {"type": "hero", "props": {}},
}


@pytest.fixture(autouse=True)
def locked(
    environment: Callable[..., None], agent: Any, quick_commands: None, settings: Any
) -> Callable[[bool], None]:
    """Yield a server with both static credentials, with or without the diagnostics grant."""
    settings.MCP_DB_EXECUTOR = "sensitive"

    def lock(diagnostics: bool) -> None:
        environment(
            mcp_auth_token=TOKEN["MCP_AUTH_TOKEN"],
            mcp_auth_header_name=HEADER["MCP_AUTH_HEADER_NAME"],
            mcp_auth_header_value=HEADER["MCP_AUTH_HEADER_VALUE"],
            mcp_diagnostics=diagnostics,
        )

    return lock


def token(role: str, **given: Any) -> dict[str, str]:
    _, secret = create_token(
        name="A client", user_id=make.user(role).pk, actor=make.actor("admin"), **given
    )
    return bearer(secret)


def _message(body: bytes) -> dict[str, Any]:
    text = body.decode()
    if "data: " in text:
        text = text.rpartition("data: ")[2]
    message: dict[str, Any] = json.loads(text)
    return message


def reached(credential: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return the listed diagnostics tools, and the ones that answer."""
    seen, answered = set[str](), set[str]()

    async def asked(server: Inside, method: str, name: str = "", **params: Any) -> dict[str, Any]:
        request = newest(method, name, **params)
        request["headers"] |= credential
        answer = await server.ask(**request)
        await answer.done.wait()
        result: dict[str, Any] = _message(answer.body)["result"]
        return result

    async def scene(server: Inside) -> None:
        listed = await asked(server, "tools/list")
        seen.update({tool["name"] for tool in listed["tools"]} & set(TOOLS))
        for name in TOOLS:
            result = await asked(server, "tools/call", name, arguments=FITTING[name])
            if not result.get("isError"):
                answered.add(name)
            else:
                assert result["_meta"]["cms/error"]["code"] == "not_allowed"

    inside(scene)
    return seen, answered


def test_these_are_all_of_them() -> None:
    assert {tool.name for tool in all_tools() if tool.group == "diagnostics"} == set(TOOLS)


@pytest.mark.parametrize("diagnostics", [True, False])
@pytest.mark.parametrize("kind", ["token", "header"])
def test_the_operators_variable_grants_them_to_the_static_credential(
    locked: Callable[[bool], None], kind: str, diagnostics: bool
) -> None:
    locked(diagnostics)
    static = {
        "token": bearer(TOKEN["MCP_AUTH_TOKEN"]),
        "header": {HEADER["MCP_AUTH_HEADER_NAME"]: HEADER["MCP_AUTH_HEADER_VALUE"]},
    }

    all_or_none = set(TOOLS) if diagnostics else set()
    assert reached(static[kind]) == (all_or_none, all_or_none)


@pytest.mark.parametrize("role", ["ai_agent", "translator", "admin"])
@pytest.mark.parametrize("variable", [True, False])
def test_a_token_has_them_by_its_own_grant_alone(
    locked: Callable[[bool], None], role: str, variable: bool
) -> None:
    locked(variable)

    assert reached(token(role, diagnostics=True)) == (set(TOOLS), set(TOOLS))
    assert reached(token(role)) == (set(), set())


def test_the_list_of_a_token_narrows_its_grant(locked: Callable[[bool], None]) -> None:
    locked(False)
    narrow = token("ai_agent", diagnostics=True, tools=["list_posts", "read_server_logs"])

    assert reached(narrow) == ({"read_server_logs"}, {"read_server_logs"})
