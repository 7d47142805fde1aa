"""The HTTP edge: names, credentials, sessions and bodies, on every endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.mcp.conftest import HEADER, TOKEN
from tests.mcp.inside import HELLO, JSON
from tests.mcp.running import Running

BEARER = {"Authorization": f"Bearer {TOKEN['MCP_AUTH_TOKEN']}"}
GENERIC = {HEADER["MCP_AUTH_HEADER_NAME"]: HEADER["MCP_AUTH_HEADER_VALUE"]}
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
ENDPOINTS = [("GET", "/mcp"), ("POST", "/mcp"), ("POST", "/messages?sessionId=" + "0" * 32)]


@contextmanager
def sse_session(server: Running, headers: dict[str, str] | None = None) -> Iterator[str]:
    """Return the messages URL of an open stream."""
    with httpx.stream("GET", f"{server.url}/mcp", headers=headers, timeout=10) as response:
        lines = response.iter_lines()
        assert next(lines) == "event: endpoint"
        yield server.url + next(lines).removeprefix("data: ")


def send(server: Running, method: str, path: str, headers: dict[str, str]) -> httpx.Response:
    content = PING if method == "POST" else None
    return httpx.request(
        method, server.url + path, headers={**JSON, **headers}, content=content, timeout=10
    )


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 421, "wrong_host"),
        ({"Host": "evil.example:8787"}, 421, "wrong_host"),
        ({"Host": "127.0.0.1.evil.example"}, 421, "wrong_host"),
        ({"Origin": "https://evil.example"}, 403, "wrong_origin"),
        ({"Origin": "http://localhost.evil.example"}, 403, "wrong_origin"),
        ({"Origin": "null"}, 403, "wrong_origin"),
    ],
)
def test_threat_44_wrong_names_are_refused_without_credentials_too(
    open_server: Running, method: str, path: str, headers: dict[str, str], status: int, code: str
) -> None:
    response = send(open_server, method, path, headers)

    assert response.status_code == status
    assert response.json()["code"] == code


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1"])
def test_origins_of_this_machine_pass(open_server: Running, origin: str) -> None:
    response = send(open_server, "POST", "/messages?sessionId=" + "0" * 32, {"Origin": origin})

    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {TOKEN['MCP_AUTH_TOKEN']}"},
        {"Authorization": f"Bearer {HEADER['MCP_AUTH_HEADER_VALUE']}"},
        {HEADER["MCP_AUTH_HEADER_NAME"]: ""},
        {HEADER["MCP_AUTH_HEADER_NAME"]: TOKEN["MCP_AUTH_TOKEN"]},
    ],
)
def test_no_endpoint_answers_without_a_valid_credential(
    locked_server: Running, method: str, path: str, headers: dict[str, str]
) -> None:
    response = send(locked_server, method, path, headers)

    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert response.json()["code"] == "not_authenticated"
    assert TOKEN["MCP_AUTH_TOKEN"] not in response.text


def test_the_token_is_not_read_from_the_address(locked_server: Running) -> None:
    path = f"/mcp?token={TOKEN['MCP_AUTH_TOKEN']}&access_token={TOKEN['MCP_AUTH_TOKEN']}"

    assert send(locked_server, "POST", path, {}).status_code == 401


def test_health_is_open_and_other_paths_are_absent_not_protected(locked_server: Running) -> None:
    health = httpx.get(f"{locked_server.url}/health")
    discovery = httpx.get(f"{locked_server.url}/.well-known/oauth-authorization-server")
    register = httpx.post(f"{locked_server.url}/register", json={})

    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (discovery.status_code, register.status_code) == (404, 404)


def test_threat_46_an_sse_session_belongs_to_the_credential_that_opened_it(
    locked_server: Running,
) -> None:
    with sse_session(locked_server, BEARER) as address:
        other = httpx.post(address, headers={**JSON, **GENERIC}, content=PING)
        none = httpx.post(address, headers=JSON, content=PING)
        own = httpx.post(address, headers={**JSON, **BEARER}, content=PING)

    assert (other.status_code, other.json()["code"]) == (404, "not_found")
    assert none.status_code == 401
    assert own.status_code == 202


def test_threat_46_a_streamable_session_belongs_to_the_credential_that_opened_it(
    locked_server: Running,
) -> None:
    url = f"{locked_server.url}/mcp"
    opened = httpx.post(url, headers={**JSON, **BEARER}, json=HELLO)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}

    other = httpx.post(url, headers={**JSON, **GENERIC, **session}, content=PING)
    own = httpx.post(url, headers={**JSON, **BEARER, **session}, content=PING)

    assert opened.status_code == 200
    assert other.status_code == 404
    assert own.status_code == 200


def test_a_closed_stream_takes_no_more_messages(open_server: Running) -> None:
    with sse_session(open_server) as address:
        assert httpx.post(address, headers=JSON, content=PING).status_code == 202

    for _ in range(50):
        status = httpx.post(address, headers=JSON, content=PING).status_code
        if status == 404:
            break
    assert status == 404


@pytest.mark.parametrize("query", ["", "?session_id=" + "0" * 32, "?sessionId=1&sessionId=2"])
def test_messages_without_one_session_id_are_refused(open_server: Running, query: str) -> None:
    response = send(open_server, "POST", f"/messages{query}", {})

    assert (response.status_code, response.json()["code"]) == (400, "session_required")


def test_a_session_is_named_by_one_name_only(open_server: Running) -> None:
    with sse_session(open_server) as address:
        session = address.partition("sessionId=")[2]
        query = f"/messages?sessionId={'0' * 32}&session_id={session}"

        assert send(open_server, "POST", query, {}).status_code == 404


def test_a_malformed_session_id_or_message_is_an_error_in_our_shape(open_server: Running) -> None:
    malformed = send(open_server, "POST", "/messages?sessionId=xyz", {})
    with sse_session(open_server) as address:
        garbled = httpx.post(address, headers=JSON, content="{canary-7c1e")

    for response in (malformed, garbled):
        assert response.status_code == 400
        assert set(response.json()) == {"error", "code", "details"}
    logs = list(open_server.data.rglob("*.log"))
    assert logs
    assert not any(b"canary-7c1e" in log.read_bytes() for log in logs)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/messages"), ("PUT", "/messages?sessionId=1")]
)
def test_messages_takes_post_only(open_server: Running, method: str, path: str) -> None:
    response = send(open_server, method, path, {})

    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_get_of_a_newer_client_is_not_mistaken_for_sse(open_server: Running) -> None:
    response = send(open_server, "GET", "/mcp", {"MCP-Protocol-Version": "2026-07-28"})

    assert response.status_code == 405


@pytest.mark.parametrize("path", ["/mcp", "/messages"])
@pytest.mark.parametrize("declared", [True, False])
def test_threat_45_an_oversized_body_is_refused(
    open_server: Running, path: str, declared: bool
) -> None:
    body = b'"' + b"x" * (4 * 1024 * 1024)
    with sse_session(open_server) as address:
        url = address if path == "/messages" else open_server.url + path
        content = body if declared else iter([body[:1_000_000]] * 5)
        response = httpx.post(url, headers=JSON, content=content, timeout=10)

    assert (response.status_code, response.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/register"),
        ("POST", "/oauth/register"),
        ("GET", "/authorize?client_id=x&redirect_uri=https://evil.example"),
        ("POST", "/token"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/.well-known/openid-configuration"),
    ],
)
def test_threat_42_nobody_registers_a_client(
    locked_server: Running, method: str, path: str
) -> None:
    body = json.dumps({"client_name": "x", "redirect_uris": ["https://evil.example"]})
    content = body if method == "POST" else None
    url = locked_server.url + path

    response = httpx.request(method, url, headers=JSON, content=content, timeout=10)

    assert response.status_code in (401, 404, 405)
    assert "client_id" not in response.text
    assert not any(secret in response.text for secret in TOKEN.values())
