"""Limits: wrong credentials per address, calls per credential and tool, sessions per credential and in total."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from django.core.cache import cache

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.rate_limits import TooManyCalls, count_call
from mcp_bridge.access.tokens import create_token
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.tool_calls import call_tool, result_text
from mcp_bridge.transport import sessions
from proofroom.accounts.models import User
from tests import make
from tests.mcp.inside import Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
ECHO = {"postId": "p1"}


@pytest.fixture(autouse=True)
def here(samples: None, agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "login": "3/day"}
    cache.clear()


def secret_of(name: str) -> str:
    owner = make.user("editor", name).pk
    return create_token(name=name, user_id=owner, actor=make.actor("admin"))[1]


def test_wrong_credentials_are_slowed_down_by_address(environment: Callable[..., None]) -> None:
    right, unused = secret_of("first"), secret_of("second")

    async def scene(server: Inside) -> None:
        async def ask(secret: str, peer: str = "127.0.0.1") -> int:
            return (await server.ask(headers=bearer(secret), peer=peer)).status

        assert await ask(right) == 200
        assert [await ask("wrong") for _ in range(4)] == [401, 401, 401, 429]
        slowed = await server.ask(headers=bearer("cmsmcp_wrong"))
        assert (slowed.status, slowed.json["code"]) == (429, "too_many_attempts")
        assert 1 <= int(slowed.headers["retry-after"]) <= 86_400
        # A correct guess waits too; credentials valid here before, and other addresses, do not.
        assert await ask(unused) == 429
        assert await ask(right) == 200
        assert await ask(unused, peer="192.168.1.4") == 200
        assert (await server.ask()).status == 200  # nothing was tried

    inside(scene)


def test_addresses_on_the_allow_list_are_never_slowed_down(
    environment: Callable[..., None],
) -> None:
    environment(throttle_allow_ips=("10.0.0.0/8",), throttle_mcp="1/day")
    secret, found = secret_of("first"), []

    async def scene(server: Inside) -> None:
        for _ in range(5):
            assert (await server.ask(headers=bearer("wrong"), peer="10.1.2.3")).status == 401
        for peer in ("10.1.2.3", "10.1.2.3", "192.168.1.4", "192.168.1.4"):
            request = newest("tools/list")
            request["headers"] |= bearer(secret)
            found.append("result" in (await server.ask(**request, peer=peer)).json)

    inside(scene)

    assert found == [True, True, True, False]


@pytest.mark.parametrize(
    ("method", "name", "params"),
    [
        ("tools/list", "", {}),
        ("resources/list", "", {}),
        ("resources/templates/list", "", {}),
        ("prompts/list", "", {}),
        ("prompts/get", "write-post", {"arguments": {"type": "blog", "brief": "x"}}),
    ],
)
def test_lists_and_prompts_count_as_calls_do(
    environment: Callable[..., None], method: str, name: str, params: dict[str, Any]
) -> None:
    environment(throttle_mcp="2/day")

    async def scene(server: Inside) -> None:
        answers = [(await server.ask(**newest(method, name, **params))).json for _ in range(3)]
        assert ["result" in answer for answer in answers] == [True, True, False]
        assert "the limit is 2 a day for this credential. Wait " in answers[2]["error"]["message"]

    inside(scene)


@pytest.mark.parametrize("uri", ["cms://guidelines", "cms://nothing", "cms://posts/p1"])
def test_reading_a_resource_counts_once(environment: Callable[..., None], uri: str) -> None:
    environment(throttle_mcp="2/day")

    async def scene(server: Inside) -> None:
        request = newest("resources/read", uri=uri)
        request["headers"]["Mcp-Name"] = uri
        answers = [str((await server.ask(**request)).json) for _ in range(3)]
        assert ["the limit is 2 a day" in answer for answer in answers] == [False, False, True]

    inside(scene)


def test_one_tool_has_a_rate_of_its_own(environment: Callable[..., None]) -> None:
    environment(throttle_mcp_tool="2/day")
    one, other = Principal(id="token"), Principal(id="header")

    results = [call_tool(one, "sample_echo", ECHO) for _ in range(3)]

    assert [result.is_error for result in results] == [False, False, True]
    assert result_text(results[2]).startswith(
        "Too many calls of sample_echo: the limit is 2 a day for this credential. Wait "
    )
    assert McpCall.objects.latest("pk").error_code == "too_many_calls"
    assert call_tool(one, "list_post_types", {}).is_error is False
    assert call_tool(other, "sample_echo", ECHO).is_error is False


def test_a_tool_that_costs_may_be_called_more_rarely(environment: Callable[..., None]) -> None:
    environment(throttle_mcp_costly="1/day", throttle_mcp_tool="1000/day")
    one = Principal(id="token")

    first, second = (call_tool(one, "generate_image", {}) for _ in range(2))

    assert "Invalid arguments" in result_text(first)
    assert "Too many calls of generate_image: the limit is 1 a day" in result_text(second)


def test_calls_of_what_is_no_tool_count(environment: Callable[..., None]) -> None:
    environment(throttle_mcp="2/day")

    async def scene(server: Inside) -> None:
        for _ in range(3):
            request = newest("tools/call", "no_such_tool", arguments={})
            assert "error" in (await server.ask(**request)).json

    inside(scene)

    codes = list(McpCall.objects.order_by("pk").values_list("error_code", flat=True))
    assert codes == ["unknown_tool", "unknown_tool", "too_many_calls"]


def test_the_text_says_how_long_to_wait(environment: Callable[..., None]) -> None:
    environment(throttle_mcp="1/minute")
    count_call(Principal(id="token"), now=1_000_020.0)

    with pytest.raises(TooManyCalls, match="Wait 20 seconds, then go on"):
        count_call(Principal(id="token"), now=1_000_060.0)
    count_call(Principal(id="token"), now=1_000_080.0)


@pytest.mark.parametrize(("most", "of_one", "status"), [(3, 2, 429), (2, 2, 429), (1, 9, 503)])
def test_sessions_of_both_transports_are_capped_together(
    monkeypatch: pytest.MonkeyPatch, most: int, of_one: int, status: int
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", most)
    monkeypatch.setattr(sessions, "MAX_SESSIONS_PER_CREDENTIAL", of_one)
    first, second = bearer(secret_of("first")), bearer(secret_of("second"))

    async def scene(server: Inside) -> None:
        count = min(most, of_one)
        opened = [
            await server.ask("GET" if place % 2 else "POST", headers=first)
            for place in range(count)
        ]
        assert {answer.status for answer in opened} == {200}
        for method in ("GET", "POST"):
            refused = await server.ask(method, headers=first)
            assert (refused.status, refused.json["code"]) == (status, "too_many_sessions")
            assert refused.headers["retry-after"] == "30"
        assert (await server.ask(headers=second)).status == (200 if most > count else 503)

        # Room again, as soon as one of the sessions is over.
        gone = {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        assert (await server.ask("DELETE", headers={**first, **gone})).status == 200
        assert (await server.ask(headers=first)).status == 200

    inside(scene)


def test_requests_without_a_session_need_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 0)

    async def scene(server: Inside) -> None:
        assert (await server.ask(**newest("tools/list"))).status == 200

    inside(scene)


def test_what_opens_no_session_leaves_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(server: Inside) -> None:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await server.ask(body=ping)).status >= 400
        assert (await server.ask("GET", headers={"Host": "evil.example"})).status == 421
        assert server.app.state.counter.count == 0

    inside(scene)


def test_a_session_that_nobody_uses_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "IDLE_SECONDS", 0.05)

    async def scene(server: Inside) -> None:
        hello = await server.ask()
        with anyio.fail_after(5):
            while server.app.state.counter.count:
                await anyio.sleep(0.01)
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        assert (await server.ask(headers=session)).status == 404

    inside(scene)
