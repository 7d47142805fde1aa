"""Calls of tools are written as the SDK would write them, without going through its models."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_bridge.protocol import server as protocol
from proofroom.accounts.models import User
from tests.mcp.inside import HELLO, Inside, inside, newest

pytestmark = pytest.mark.django_db
CALLS = [
    ("sample_echo", {"postId": "p1", "patch": {"a": [1, None, "Grüße"]}}),
    ("sample_echo", {"limt": 1}),
    ("sample_conflict", {}),
    ("list_taxonomies", None),
]


@pytest.fixture(autouse=True)
def here(samples: None, agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"


def answers(revision: str) -> list[Any]:
    """What each call is answered at the revision."""
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
    by_the_sdk = answers(revision)

    assert written == by_the_sdk
    assert ["structuredContent" in answer["result"] for answer in written] == [
        True, False, False, True,
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
