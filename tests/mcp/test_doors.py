"""Accepted callers: this machine, the operator's credential, tokens; no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from mcp_bridge.access.authentication import is_local, read_credentials, static_principal
from mcp_bridge.access.principals import Principal, actor_for
from mcp_bridge.access.tokens import create_token, revoke_token
from mcp_bridge.management.commands.run_mcp import require_credentials
from mcp_bridge.models import McpToken
from proofroom.accounts.models import User
from tests import make
from tests.accounts.bearer import program
from tests.accounts.bearer import token_of as api_token_of
from tests.mcp.inside import Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
Headers = dict[str, str]


@pytest.fixture(autouse=True)
def here(samples: None, agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"


def token_of(role: str, **given: Any) -> tuple[McpToken, str]:
    owner = make.user(role, f"its-{role}").pk
    return create_token(name="A client", user_id=owner, actor=make.actor("admin"), **given)


def statuses(*requests: dict[str, Any], host: str = "127.0.0.1") -> list[int]:
    """Return one server's responses to these requests, one after another."""
    found: list[int] = []

    async def scene(server: Inside) -> None:
        for request in requests:
            found.append((await server.ask(**request)).status)

    inside(scene, host)
    return found


def test_threat_47_an_unset_secret_matches_nothing(environment: Callable[..., None]) -> None:
    environment(mcp_auth_header_name="X-Key", mcp_auth_header_value="v", mcp_auth_token="")

    for headers in ([], [(b"authorization", b"Bearer ")], [(b"x-key", b"")]):
        shown = read_credentials(headers, "127.0.0.1")
        assert static_principal(shown) is None
        assert not is_local(shown)


def test_threat_47_an_empty_or_wrong_bearer_never_counts_as_none() -> None:
    token, secret = token_of("editor")
    revoke_token(token_id=token.pk, actor=make.actor("admin"))

    wrong = [bearer(text) for text in ("", "cmsmcp_", "cmsmcp_" + "x" * 43, secret, "x" * 5000)]

    assert statuses(*[{"headers": each} for each in wrong]) == [401] * 5
    assert statuses({"headers": {}}) == [200]


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("192.168.1.4", {}, 401),
        ("", {}, 401),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 401),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}, 401),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 401),
        ("127.0.0.1", {"Authorization": "Basic dTpw"}, 401),
        ("127.0.0.1", {"Authorization": "cmsmcp_without_the_word"}, 401),
        ("127.0.0.1", {"Authorization": ""}, 401),
    ],
)
def test_without_credentials_only_this_machine_is_let_in(
    peer: str, headers: Headers, status: int
) -> None:
    assert statuses({"peer": peer, "headers": headers}) == [status]


@pytest.mark.parametrize("where", ["bind", "name"])
def test_where_only_tokens_guard_a_server_nobody_is_local(
    environment: Callable[..., None], where: str
) -> None:
    token, secret = token_of("editor")
    host = "192.168.1.4" if where == "bind" else "127.0.0.1"
    if where == "name":
        environment(mcp_allowed_hosts=("mcp.example.com",))
    require_credentials(host)

    assert statuses({}, {"headers": bearer(secret)}, host=host) == [401, 200]

    revoke_token(token_id=token.pk, actor=make.actor("admin"))
    assert statuses({}, {"headers": bearer(secret)}, host=host) == [401, 401]
    with pytest.raises(CommandError, match="Make a token in the admin"):
        call_command("run_mcp", host=host)


def test_api_tokens_and_mcp_tokens_do_not_open_each_others_interface() -> None:
    editor = make.user("editor", "its-editor")
    _, secret = create_token(name="A client", user_id=editor.pk, actor=make.actor("admin"))
    _, api_secret = api_token_of(editor)

    assert statuses({"headers": bearer(secret)}, {"headers": bearer(api_secret)}) == [200, 401]
    assert program(api_secret).get("/api/auth/me").status_code == 200
    assert program(secret).get("/api/auth/me").status_code == 401


def test_dead_tokens_open_no_bind() -> None:
    token_of("editor")
    User.objects.filter(username="its-editor").update(is_active=False)

    with pytest.raises(CommandError, match="without credentials"):
        require_credentials("192.168.1.4")


def test_a_token_calls_as_its_account_with_its_tools_only() -> None:
    _, secret = token_of("editor", tools=["sample_echo", "list_posts"])
    found: dict[str, Any] = {}

    async def scene(server: Inside) -> None:
        for name, request in {
            "list": newest("tools/list"),
            "echo": newest("tools/call", "sample_echo", arguments={"postId": "p1"}),
            "other": newest("tools/call", "list_media", arguments={}),
            "diagnose": newest("tools/call", "sample_diagnose", arguments={}),
        }.items():
            request["headers"] |= bearer(secret)
            found[name] = (await server.ask(**request)).json["result"]

    inside(scene)

    assert [tool["name"] for tool in found["list"]["tools"]] == ["list_posts", "sample_echo"]
    assert found["echo"]["structuredContent"]["user"] == "its-editor@example.com"
    for refused in ("other", "diagnose"):
        assert found[refused]["isError"] is True
        assert found[refused]["_meta"]["cms/error"]["code"] == "not_allowed"


def test_a_token_with_diagnostics_grants_them_whatever_the_account() -> None:
    _, secret = token_of("translator", diagnostics=True)
    answer: dict[str, Any] = {}

    async def scene(server: Inside) -> None:
        request = newest("tools/call", "sample_diagnose", arguments={})
        request["headers"] |= bearer(secret)
        answer.update((await server.ask(**request)).json["result"])

    inside(scene)

    assert answer["structuredContent"] == {"seen": True}


def test_a_tool_that_is_gone_from_the_registry_is_no_error() -> None:
    token, secret = token_of("editor", tools=["list_posts"])
    McpToken.objects.filter(pk=token.pk).update(tools=["list_posts", "was_here_once"])
    names: list[str] = []

    async def scene(server: Inside) -> None:
        request = newest("tools/list")
        request["headers"] |= bearer(secret)
        names.extend(tool["name"] for tool in (await server.ask(**request)).json["result"]["tools"])

    inside(scene)

    assert names == ["list_posts"]


def test_threat_43_a_call_reads_the_account_again() -> None:
    editor = make.user("editor", "its-editor")
    principal = Principal(id="client:x", user_id=editor.pk, role="editor")
    assert actor_for(principal).user == editor

    for change in ({"role": "admin"}, {"role": "editor", "is_active": False}):
        User.objects.filter(pk=editor.pk).update(**change)
        with pytest.raises(Exception, match="No active account") as caught:
            actor_for(principal)
        assert getattr(caught.value, "code", "") == "no_account"
