"""The protocol on the wire: revisions, errors, hints and headers, without the SDK's client."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx
import pytest

from tests.mcp.running import Running

NEWEST = "2026-07-28"
HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
KEY = "io.modelcontextprotocol/"


def body_of(method: str, meta: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    envelope = {f"{KEY}protocolVersion": NEWEST, f"{KEY}clientCapabilities": {}, **(meta or {})}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": envelope}}


def headers_of(body: dict[str, Any], version: str = NEWEST) -> dict[str, str]:
    named = body["params"].get("name")
    name = {"Mcp-Name": named} if named else {}
    return {**ACCEPT, "MCP-Protocol-Version": version, "Mcp-Method": body["method"], **name}


def send(
    server: Running, method: str, meta: dict[str, Any] | None = None, **params: Any
) -> httpx.Response:
    """Send one request of the newest revision, which needs no session."""
    body = body_of(method, meta, **params)
    return httpx.post(f"{server.url}/mcp", headers=headers_of(body), json=body, timeout=20)


def greet(server: Running, version: str) -> tuple[httpx.Response, dict[str, Any]]:
    """Do the handshake of earlier revisions."""
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = httpx.post(f"{server.url}/mcp", headers=ACCEPT, json=hello, timeout=20)
    return response, answer_of(response)


def answer_of(response: httpx.Response) -> dict[str, Any]:
    """Return the last message of a response, streamed or not."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = [line for line in text.splitlines() if line.startswith("data: {")][-1][6:]
    answer: dict[str, Any] = json.loads(text)
    return answer


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_revision_with_a_handshake_is_spoken(open_server: Running, version: str) -> None:
    response, answer = greet(open_server, version)

    assert response.status_code == 200
    assert answer["result"]["protocolVersion"] == version
    assert set(answer["result"]["capabilities"]) >= {"tools", "resources", "prompts", "completions"}


def test_an_unknown_revision_is_answered_with_the_newest_that_has_a_handshake(
    open_server: Running,
) -> None:
    assert greet(open_server, "1999-01-01")[1]["result"]["protocolVersion"] == HANDSHAKES[-1]


def test_the_newest_revision_is_discovered_without_a_session(open_server: Running) -> None:
    response = send(open_server, "server/discover")

    assert response.status_code == 200
    assert "mcp-session-id" not in response.headers
    assert NEWEST in response.json()["result"]["supportedVersions"]
    assert response.json()["result"]["instructions"].startswith("Proofroom, a CMS: you propose")


def test_an_unknown_protocol_revision_error_lists_the_supported_ones(
    open_server: Running,
) -> None:
    body = body_of("tools/list")
    body["params"]["_meta"][f"{KEY}protocolVersion"] = "2099-01-01"

    response = httpx.post(
        f"{open_server.url}/mcp", headers=headers_of(body, "2099-01-01"), json=body, timeout=20
    )

    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32022
    assert NEWEST in response.json()["error"]["data"]["supported"]


def test_an_unknown_method_is_not_found_in_both_eras(open_server: Running) -> None:
    modern = send(open_server, "posts/publish")
    opened, _ = greet(open_server, "2025-11-25")
    legacy = httpx.post(
        f"{open_server.url}/mcp",
        headers={**ACCEPT, "Mcp-Session-Id": opened.headers["mcp-session-id"]},
        json={"jsonrpc": "2.0", "id": 2, "method": "posts/publish"},
        timeout=20,
    )

    assert (modern.status_code, modern.json()["error"]["code"]) == (404, -32601)
    assert (legacy.status_code, answer_of(legacy)["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize("value", ["tools/list \t", "  tools/list", "\ttools/list\t "])
def test_blanks_around_a_header_do_not_count(open_server: Running, value: str) -> None:
    body = body_of("tools/list")
    content = json.dumps(body).encode()
    lines = [f"{name}: {given}" for name, given in headers_of(body).items() if name != "Mcp-Method"]
    host, port = open_server.url.removeprefix("http://").split(":")
    head = "\r\n".join(
        ["POST /mcp HTTP/1.1", f"Host: {host}:{port}", "Connection: close",
         f"Content-Length: {len(content)}", f"Mcp-Method:{value}", *lines, "", ""]
    )  # fmt: skip

    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head.encode() + content)
        answer = connection.makefile("rb").readline()

    assert answer.startswith(b"HTTP/1.1 200")


def test_a_header_that_says_another_method_is_refused(open_server: Running) -> None:
    body = body_of("tools/list")
    headers = {**headers_of(body), "Mcp-Method": "prompts/list"}

    response = httpx.post(f"{open_server.url}/mcp", headers=headers, json=body, timeout=20)

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize(
    ("method", "seconds"),
    [("tools/list", 300), ("prompts/list", 300), ("resources/templates/list", 300),
     ("resources/list", 30)],
)  # fmt: skip
def test_lists_say_how_long_they_may_be_kept_and_by_whom(
    open_server: Running, method: str, seconds: int
) -> None:
    result = send(open_server, method).json()["result"]

    assert (result["ttlMs"], result["cacheScope"]) == (1000 * seconds, "private")


def test_tools_are_listed_in_one_order(open_server: Running) -> None:
    first, second = (send(open_server, "tools/list").json()["result"]["tools"] for _ in range(2))

    names = [tool["name"] for tool in first]
    assert names == sorted(names)
    assert first == second


@pytest.mark.parametrize(
    ("meta", "kind", "steps"),
    [({"progressToken": "p"}, "text/event-stream", 2), ({}, "application/json", 0)],
)
def test_steps_are_reported_to_callers_with_a_progress_token(
    open_server: Running, meta: dict[str, Any], kind: str, steps: int
) -> None:
    response = send(open_server, "tools/call", meta, name="sample_steps", arguments={"steps": 2})

    assert response.headers["content-type"].startswith(kind)
    assert response.text.count("notifications/progress") == steps
    assert answer_of(response)["result"]["structuredContent"] == {"done": 2}


@pytest.mark.parametrize("token", [True, None, {"a": 1}, ["p"]])
def test_a_token_that_is_none_is_no_way_to_an_error_of_the_server(
    open_server: Running, token: Any
) -> None:
    response = send(
        open_server, "tools/call", {"progressToken": token}, name="sample_steps", arguments={}
    )

    assert response.status_code in (200, 400)
    assert "notifications/progress" not in response.text
