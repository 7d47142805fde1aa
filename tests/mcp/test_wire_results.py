"""Tool results equal the SDK's output, without using its models."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mcp.types as wire
import orjson
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import Field

from mcp_bridge.protocol import server as protocol
from mcp_bridge.protocol.tool_calls import CallAnswer
from mcp_bridge.transport import direct_calls, sse
from proofroom.accounts.models import User
from proofroom.core.tools import Arguments, get_tool
from tests.mcp.inside import HELLO, JSON, Inside, inside, newest

pytestmark = pytest.mark.django_db
CALLS = [
    ("sample_echo", {"postId": "p1", "patch": {"a": [1, None, "Grüße"]}}),
    ("sample_echo", {"limt": 1}),
    ("sample_conflict", {}),
    ("list_taxonomies", None),
    ("list_taxonomies", {"limit": 0}),
    ("list_posts", {"q": "Grüße"}),
]


@pytest.fixture(autouse=True)
def here(samples: None, agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"


def answers(revision: str) -> list[Any]:
    """Return the answer to each call at the revision."""
    found: list[Any] = []

    async def scene(server: Inside) -> None:
        session: dict[str, str] = {}
        if revision != protocol.NEWEST_REVISION:
            hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": revision}}  # type: ignore[dict-item]
            opened = await server.ask(body=hello)
            session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await server.ask(headers=session, body=ready)
        for name, arguments in CALLS:
            request = newest("tools/call", name, arguments=arguments)
            if session:
                params = {"name": name, "arguments": arguments}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                request = {"body": body, "headers": session}
            answer = await server.ask(**request)
            await answer.done.wait()
            text = answer.body.decode().partition("data: ")[2] or answer.body.decode()
            found.append(json.loads(text))

    inside(scene)
    return found


@pytest.mark.parametrize("revision", sorted(protocol.STRUCTURED_REVISIONS))
def test_an_answer_is_the_same_with_and_without_the_models_of_the_sdk(
    revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = answers(revision)
    monkeypatch.setattr(protocol, "STRUCTURED_REVISIONS", frozenset())
    monkeypatch.setattr(direct_calls, "plain_call", lambda headers: "")
    by_the_sdk = answers(revision)

    assert written == by_the_sdk
    assert ["structuredContent" in answer["result"] for answer in written] == [
        True, False, False, True, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "params", [{"name": 5}, {"name": "sample_echo", "arguments": []}, {"arguments": {}}], ids=str
)
def test_what_does_not_look_as_a_call_should_is_refused_by_the_sdk(params: dict[str, Any]) -> None:
    async def scene(server: Inside) -> None:
        hello = await server.ask(body=HELLO)
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        await server.ask(
            headers=session, body={"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await server.ask(headers=session, body=body)
        await answer.done.wait()
        assert '"code":-32602' in answer.body.decode()

    inside(scene)


def refused_by_the_sdk(change: Callable[[dict[str, Any]], None]) -> int:
    """Return the error code of a modified call of the newest revision."""
    request = newest("tools/call", "list_taxonomies", arguments={})
    change(request)
    codes: list[int] = []

    async def scene(server: Inside) -> None:
        answer = await server.ask(**request)
        assert answer.status == 400
        codes.append(answer.json["error"]["code"])

    inside(scene)
    return codes[0]


def test_calls_that_read_are_answered_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def sdk(self: Any, scope: Any, receive: Any, send: Any) -> None:
        asked.append(dict(scope["headers"])[b"mcp-name"].decode())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(StreamableHTTPSessionManager, "handle_request", sdk)

    async def scene(server: Inside) -> None:
        for name, status in (("list_taxonomies", 200), ("sample_conflict", 204)):
            answer = await server.ask(**newest("tools/call", name, arguments={}))
            assert (name, answer.status) == (name, status)

    inside(scene)
    assert asked == ["sample_conflict"]


def test_the_sdk_refuses_malformed_calls() -> None:
    params = "params"
    assert refused_by_the_sdk(lambda one: one["body"].update(id=1.5)) == -32600
    assert refused_by_the_sdk(lambda one: one["body"].update(jsonrpc="1.0")) == -32600
    assert refused_by_the_sdk(lambda one: one["body"][params].pop("_meta")) == -32602
    assert refused_by_the_sdk(lambda one: one["body"][params].update(name="list_posts")) == -32020
    assert refused_by_the_sdk(lambda one: one["body"].update(method="tools/list")) == -32020
    assert refused_by_the_sdk(lambda one: one["body"][params].update(arguments=[])) == -32602


@pytest.mark.parametrize("call_id", [2**64, -(2**64), "\ud800"], ids=["big", "low", "half"])
def test_an_id_that_an_answer_cannot_repeat_is_left_to_the_sdk(call_id: int | str) -> None:
    body = newest("tools/call", "list_taxonomies", arguments={})["body"]

    def is_read(one: int | str) -> bool:
        text = json.dumps({**body, "id": one}).encode()
        return direct_calls.read_call(text, "list_taxonomies") is not None

    assert not is_read(call_id)
    assert is_read(2**64 - 1)
    assert is_read("Grüße")


def test_arguments_that_come_as_headers_too_are_compared_by_the_sdk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = {**JSON, **newest("tools/call", "list_taxonomies", arguments={})["headers"]}
    headers = [(name.lower().encode(), value.encode()) for name, value in sent.items()]
    tool = get_tool("list_taxonomies")
    assert tool is not None
    assert direct_calls.plain_call(headers) == "list_taxonomies"

    monkeypatch.setattr(direct_calls, "get_tool", lambda name: replace(tool, arguments=Region))

    assert direct_calls.plain_call(headers) == ""


class Region(Arguments):
    region: str = Field(json_schema_extra={"x-mcp-header": "Region"})


@pytest.mark.parametrize("call_id", [1, 'Gr\u00fc\u00dfe "1"', 2**70])
def test_an_answer_over_sse_is_written_from_its_json_as_from_what_it_says(
    call_id: str | int,
) -> None:
    answer = CallAnswer('{"items":[1,1.5,null,"Gr\u00fc\u00dfe \\u0001"],"total":1}'.encode())

    def written(result: dict[str, Any]) -> bytes:
        message = wire.JSONRPCResponse(jsonrpc="2.0", id=call_id, result=result)
        return sse.to_json(message)

    from_json = written(answer.to_wire(orjson.Fragment))

    assert from_json == written(answer.to_wire())
    assert b'"structuredContent":%b' % answer.body in from_json
