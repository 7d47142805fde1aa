"""Threats 41, 42, 45 and 46 at the MCP server: visible secrets, endless bodies, sessions of others."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

import anyio
import pytest
from django.conf import settings as site
from django.core.management import call_command
from django.test import Client

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.tokens import create_token
from mcp_bridge.models import McpToken
from mcp_bridge.protocol.tool_calls import call_tool
from mcp_bridge.transport import request_checks
from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.core.tools import all_tools
from tests import make
from tests.api_client import ApiClient
from tests.contract.addresses import addresses, filled
from tests.contract.test_admin_walk import ADDRESSES
from tests.mcp.inside import Answer, Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
STATIC = "canary-static-credential-5d1f"


@pytest.fixture(autouse=True)
def here(samples: None, agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"


def token_of(user: User, **given: Any) -> tuple[McpToken, str]:
    return create_token(name="A client", user_id=user.pk, actor=make.actor("admin"), **given)


def _pages(token: McpToken) -> list[str]:
    """Return everything readable over HTTP as an admin."""
    rest, admin = ApiClient("admin"), Client()
    admin.force_login(make.user("admin"))
    paths = [filled(one.path) for one in addresses() if "GET" in one.methods]
    found = [_text(rest.get(path)) for path in (*paths, f"/api/mcp-tokens/{token.pk}")]
    for address in ADDRESSES:
        path = re.sub(r"<\w+>", str(token.pk), address)
        if "logout" not in path:
            found.append(_text(admin.get(f"/admin/{path}")))
    return found


def _text(answer: Any) -> str:
    body: bytes = answer.getvalue()
    return body.decode("utf-8", "replace")


def _results() -> list[str]:
    """Return the result of every tool for a credential with all permissions."""
    everything = Principal(id="token", user_id=make.user("admin").pk, diagnostics=True)
    return [call_tool(everything, tool.name, {}).model_dump_json() for tool in all_tools()]


def test_threat_41_no_answer_log_or_event_holds_a_credential(
    environment: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Any,
) -> None:
    environment(mcp_auth_token=STATIC)
    said: list[str] = []
    for logger in ("mcp", "mcp_bridge", "proofroom.accounts"):
        caplog.set_level(logging.DEBUG, logger=logger)
    with caplog.at_level(logging.INFO):
        token, secret = token_of(make.user("editor"), diagnostics=True)

        async def scene(server: Inside) -> None:
            for credential in (secret, STATIC, secret + "x", secret[:-1]):
                for request in (newest("tools/list"), newest("tools/call", "sample_fail")):
                    request["headers"] |= bearer(credential)
                    said.append((await server.ask(**request)).body.decode())
                said.append((await server.ask("GET", headers=bearer(credential))).body.decode())

        inside(scene)
        said += _pages(token) + _results()
        call_command("dump_mcp_context", out=str(tmp_path / "context.json"))
        said.append((tmp_path / "context.json").read_text())
    said += [str(event.payload) for event in Event.objects.all()]
    said += [caplog.text, *capsys.readouterr()]

    assert len(said) > 100
    for canary in (secret, secret.removeprefix("cmsmcp_"), token.hash, STATIC):
        assert not [text[:300] for text in said if canary in text]


@pytest.mark.parametrize("path", ["/register", "/oauth/register", "/authorize", "/token"])
def test_threat_42_nothing_registers_a_client(path: str) -> None:
    async def scene(server: Inside) -> None:
        for method in ("GET", "POST"):
            assert (await server.ask(method, path)).status == 404
        for name in ("oauth-authorization-server", "openid-configuration"):
            assert (await server.ask("GET", f"/.well-known/{name}")).status == 404
        told = await server.ask("GET", "/.well-known/oauth-protected-resource")
        assert told.status == 200  # who issues tokens: the site, not this process
        assert told.json["authorization_servers"] == [site.SITE_URL.rstrip("/")]
        assert not [key for key in told.json if key.endswith("_endpoint")]

    inside(scene)

    assert McpToken.objects.count() == 0


class _Endless(Answer):
    """A request with an endless body, slow or fast."""

    def __init__(self, part: bytes, pause: float) -> None:
        super().__init__(b"")
        self.part, self.pause, self.parts = part, pause, 0

    async def receive(self) -> Any:
        self.parts += 1
        await anyio.sleep(self.pause)
        return {"type": "http.request", "body": self.part, "more_body": True}


@pytest.mark.parametrize("path", ["/mcp", "/messages?sessionId=" + "0" * 32])
@pytest.mark.parametrize(
    ("part", "pause", "status", "code"),
    [(b"{", 0.01, 408, "too_slow"), (b"x" * 65_536, 0.0, 413, "too_large")],
    ids=["slow", "fast"],
)
def test_threat_45_a_body_without_an_end_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, path: str, part: bytes, pause: float, status: int, code: str
) -> None:
    monkeypatch.setattr(request_checks, "BODY_SECONDS", 0.2)

    async def scene(server: Inside) -> None:
        endless = _Endless(part, pause)
        answer = await server.ask(path=path, sent=endless)
        assert (answer.status, answer.json["code"]) == (status, code)
        assert server.app.state.counter.count == 0
        assert endless.parts <= 4 * 1024 * 1024 // len(part) + 1

    inside(scene)


def test_threat_45_of_a_stranger_no_body_is_read() -> None:
    async def scene(server: Inside) -> None:
        endless = _Endless(b"x", 0.0)
        answer = await server.ask(headers=bearer("wrong"), sent=endless)
        assert (answer.status, endless.parts) == (401, 0)

    inside(scene)


def test_threat_46_ids_are_random_and_sessions_belong_to_one_credential() -> None:
    editor = make.user("editor")
    (_, first), (_, second) = token_of(editor), token_of(editor)
    ids: list[str] = []

    async def scene(server: Inside) -> None:
        for _ in range(3):
            hello = await server.ask(headers=bearer(first))
            stream = await server.ask("GET", headers=bearer(first))
            address = stream.body.decode().split("data: ")[1].split()[0]
            ids.extend([hello.headers["mcp-session-id"], address.partition("sessionId=")[2]])
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for own, status in ((second, 404), (first, 200)):
            given = {**bearer(own), **session}
            assert (await server.ask(headers=given, body=ping)).status == status
            posted = await server.ask(path=address, headers=bearer(own), body=ping)
            assert posted.status == (404 if status == 404 else 202)
        taken = await server.ask("DELETE", headers={**bearer(second), **session})
        assert taken.status == 404
        assert (await server.ask(headers={**bearer(first), **session}, body=ping)).status == 200

    inside(scene)

    assert len(set(ids)) == 6
    assert {UUID(hex=one).version for one in ids} == {4}
