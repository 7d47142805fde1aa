"""The SDK's client with a real server over every transport, in both eras of the protocol."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import anyio
import httpx
import pytest

from tests.commands import run_command
from tests.mcp.conftest import HEADER, TOKEN
from tests.mcp.inside import HELLO
from tests.mcp.running import Running, connected, environment

BEARER = {"Authorization": f"Bearer {TOKEN['MCP_AUTH_TOKEN']}"}
GENERIC = {HEADER["MCP_AUTH_HEADER_NAME"]: HEADER["MCP_AUTH_HEADER_VALUE"]}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["sse", "http", "stdio"])
def test_a_client_lists_and_calls_tools(open_server: Running, transport: str, mode: str) -> None:
    async def session() -> tuple[Any, Any, Any, Any]:
        async with connected(open_server, transport, mode) as client:
            return (
                await client.list_tools(),
                await client.call_tool("sample_echo", {"postId": "p1"}),
                await client.call_tool("sample_fail", {}),
                await client.list_prompts(),
            )

    tools, echoed, failed, prompts = anyio.run(session)

    assert "sample_echo" in [tool.name for tool in tools.tools]
    assert echoed.structured_content["user"] == "agent@example.com"
    assert failed.is_error is True
    assert [prompt.name for prompt in prompts.prompts][:4] == [
        "write-post", "improve-seo", "translate-post", "review-changes",
    ]  # fmt: skip


@pytest.mark.parametrize("credential", [BEARER, GENERIC])
@pytest.mark.parametrize("transport", ["sse", "http"])
def test_either_credential_opens_either_transport(
    locked_server: Running, transport: str, credential: dict[str, str]
) -> None:
    async def session() -> Any:
        async with connected(locked_server, transport, headers=credential) as client:
            return await client.call_tool("sample_echo", {"postId": "p1"})

    assert anyio.run(session).is_error is False


def test_calls_over_http_are_logged_by_the_server(open_server: Running) -> None:
    async def session() -> None:
        async with connected(open_server, "http") as client:
            await client.call_tool("sample_echo", {"postId": "logged by the server"})

    def logged() -> int:
        echoes = "SELECT count(*) FROM mcp_bridge_mcpcall WHERE tool = 'sample_echo' AND request_bytes = ?"
        return int(open_server.execute(echoes, len('{"postId":"logged by the server"}'))[0][0])

    assert logged() == 0
    anyio.run(session)

    # Reads are logged a moment after they were answered.
    until = time.monotonic() + 10
    while not logged() and time.monotonic() < until:
        time.sleep(0.02)
    assert logged() == 1


def test_the_first_sse_event_names_our_endpoint(open_server: Running) -> None:
    """Guards the only place where SDK output is rewritten."""
    with httpx.stream("GET", f"{open_server.url}/mcp") as response:
        lines = response.iter_lines()
        event, data = next(lines), next(lines)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert event == "event: endpoint"
    prefix, _, session = data.partition("data: /messages?sessionId=")
    assert (prefix, len(session)) == ("", 32)
    int(session, 16)


def test_many_calls_at_once_are_all_answered(open_server: Running) -> None:
    async def session() -> list[bool]:
        refused: list[bool] = []

        async def call() -> None:
            result = await client.call_tool("sample_echo", {"postId": "p1"})
            refused.append(result.is_error)

        async with connected(open_server, "http") as client, anyio.create_task_group() as group:
            for _ in range(40):
                group.start_soon(call)
        return refused

    assert anyio.run(session) == [False] * 40


def test_stdio_writes_nothing_but_the_protocol(open_server: Running) -> None:
    done = run_command(
        [sys.executable, "-m", "tests.mcp.serve", "run_mcp", "--transport", "stdio"],
        env=environment(open_server.data),
        input=json.dumps(HELLO) + "\n",
        check=True,
        timeout=60,
    )

    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "proofroom"


def test_the_old_transport_is_spoken_word_for_word(open_server: Running) -> None:
    """`GET /mcp` and `POST /messages?sessionId=` without the SDK, like n8n and older clients."""
    headers = {"Accept": "application/json, text/event-stream"}
    hello = {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "list_post_types", "arguments": {}},
        },
    ]
    with httpx.stream("GET", f"{open_server.url}/mcp", headers=headers, timeout=20) as stream:
        data = (line.removeprefix("data: ") for line in stream.iter_lines() if "data: " in line)
        address = open_server.url + next(data)
        assert "/messages?sessionId=" in address
        answers = []
        for message in messages:
            assert httpx.post(address, json=message).status_code == 202
            if "id" in message:
                answers.append(json.loads(next(data)))

    assert answers[0]["result"]["protocolVersion"] == "2024-11-05"
    slugs = [row["slug"] for row in answers[1]["result"]["structuredContent"]["items"]]
    assert {"blog", "page"} <= set(slugs)
