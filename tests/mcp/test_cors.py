"""Pages of allowed origins can call the MCP endpoint, others learn nothing."""

from __future__ import annotations

import httpx
import pytest
from django.test import Client

from tests.mcp.inside import HELLO, JSON
from tests.mcp.running import Running
from tests.mcp.test_gate import BEARER, ENDPOINTS

HERE = "http://localhost:6274"
ASKED = "authorization,content-type,mcp-session-id,mcp-protocol-version"
METADATA = "/.well-known/oauth-protected-resource"


def preflight(server: Running, path: str, method: str = "POST", **headers: str) -> httpx.Response:
    asked = {
        "Origin": HERE,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ASKED,
        **headers,
    }
    return httpx.options(server.url + path, headers=asked, timeout=10)


def allowed(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if "access-control" in name}


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize("origin", [HERE, "http://127.0.0.1", "https://[::1]:8443"])
def test_a_preflight_needs_no_credentials(
    locked_server: Running, method: str, path: str, origin: str
) -> None:
    response = preflight(locked_server, path, method, Origin=origin)

    assert (response.status_code, response.content) == (204, b"")
    assert allowed(response) == {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
        "access-control-allow-headers": ASKED,
        "access-control-expose-headers": (
            "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After"
        ),
        "access-control-max-age": "600",
    }
    assert response.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_no_other_origin_is_allowed(
    locked_server: Running, headers: dict[str, str], status: int
) -> None:
    found = [
        preflight(locked_server, "/mcp", **headers),
        httpx.post(
            locked_server.url + "/mcp", headers={**JSON, **BEARER, "Origin": HERE, **headers}
        ),
    ]

    assert [response.status_code for response in found] == [status, status]
    assert [allowed(response) for response in found] == [{}, {}]


def test_a_session_id_and_a_refusal_can_be_read(locked_server: Running) -> None:
    address, headers = locked_server.url + "/mcp", {**JSON, "Origin": HERE}

    refused = httpx.post(address, headers=headers, json=HELLO)
    answered = httpx.post(address, headers={**headers, **BEARER}, json=HELLO)

    assert (refused.status_code, answered.status_code) == (401, 200)
    assert answered.headers["mcp-session-id"]
    for response in (refused, answered):
        assert response.headers["access-control-allow-origin"] == HERE
        assert "Mcp-Session-Id" in response.headers["access-control-expose-headers"]
        assert "WWW-Authenticate" in response.headers["access-control-expose-headers"]
    without = httpx.post(address, headers={**JSON, **BEARER}, json=HELLO)
    assert allowed(without) == {}


def test_a_stream_can_be_read(open_server: Running) -> None:
    with httpx.stream("GET", f"{open_server.url}/mcp", headers={"Origin": HERE}) as response:
        assert response.headers["access-control-allow-origin"] == HERE
        assert next(response.iter_lines()) == "event: endpoint"


def test_an_options_that_is_no_preflight_needs_credentials(locked_server: Running) -> None:
    assert httpx.options(locked_server.url + "/mcp", headers={"Origin": HERE}).status_code == 401


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp", "/.well-known/openid-configuration"])
def test_metadata_of_the_endpoint_can_be_read_from_anywhere(
    locked_server: Running, path: str
) -> None:
    elsewhere = "https://client.example"

    asked = preflight(locked_server, path, "GET", Origin=elsewhere)
    found = httpx.get(locked_server.url + path, headers={"Origin": elsewhere})

    assert asked.status_code == 204
    assert asked.headers["access-control-allow-headers"] == ASKED
    for response in (asked, found):
        assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (METADATA, "GET"),
        ("/.well-known/oauth-authorization-server", "GET"),
        ("/oauth/token", "POST"),
        ("/oauth/register", "POST"),
        ("/oauth/revoke", "POST"),
    ],
)
def test_what_a_client_needs_to_log_in_takes_its_headers(path: str, method: str) -> None:
    asked = {"origin": HERE, "access-control-request-method": method}

    response = Client().options(path, headers=asked)

    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert {"Authorization", "MCP-Protocol-Version"} <= set(
        response.headers["Access-Control-Allow-Headers"].split(", ")
    )
