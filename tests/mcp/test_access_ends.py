"""What is open ends with its credential, whichever transport it came by."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import anyio
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.models import User
from accounts.services import change_user
from mcp_bridge import connections
from mcp_bridge.models import McpToken
from mcp_bridge.services.tokens import create_token, revoke_token
from tests import make
from tests.mcp.inside import Answer, Inside, bearer, inside, newest

pytestmark = pytest.mark.django_db
Change = Callable[[McpToken], object]


@pytest.fixture(autouse=True)
def looking(
    samples: None,
    agent: User,
    environment: Callable[..., None],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> Iterator[None]:
    """A server in the transaction of the test that looks all the time. Nothing that ends leaves an error behind."""
    settings.MCP_DB_EXECUTOR = "sensitive"
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.01)
    with caplog.at_level(logging.INFO):
        yield
    errors = [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info]
    assert errors == []


def token_of(user: User) -> tuple[McpToken, str]:
    return create_token(name="A client", user_id=user.pk, actor=make.actor("admin"))


async def streams_of(server: Inside, secret: str) -> dict[str, Answer]:
    """One of everything that stays open."""
    own = bearer(secret)
    sse = await server.ask("GET", headers=own)
    hello = await server.ask(headers=own)
    session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await server.ask(headers={**own, **session}, body=ready)
    standalone = await server.start("GET", headers={**own, **session})
    call = newest("tools/call", "sample_steps", arguments={"steps": 10_000})
    call["headers"] |= own
    waiting = await server.start(**call)
    return {"sse": sse, "streamable": standalone, "waiting": waiting}


async def change_now(change: Callable[[], object]) -> None:
    await sync_to_async(change, thread_sensitive=True)()


def _off(token: McpToken) -> object:
    return change_user(user_id=token.user_id, is_active=False, actor=make.actor("admin"))


CHANGES: dict[str, Change] = {
    "revoked": lambda token: revoke_token(token_id=token.pk, actor=make.actor("admin")),
    "expired": lambda token: McpToken.objects.filter(pk=token.pk).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    ),
    "switched off": _off,
    "demoted": lambda token: User.objects.filter(pk=token.user_id).update(role="translator"),
    "promoted": lambda token: User.objects.filter(pk=token.user_id).update(role="admin"),
    "deleted": lambda token: User.objects.filter(pk=token.user_id).delete(),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_threat_43_an_open_stream_ends_with_what_its_token_stood_on(name: str) -> None:
    token, secret = token_of(make.user("editor"))
    _, others = token_of(make.user("ai_agent", "another"))

    async def scene(server: Inside) -> None:
        own = await server.ask("GET", headers=bearer(secret))
        hello = await server.ask(headers=bearer(secret))
        other = await server.ask("GET", headers=bearer(others))
        assert server.app.state.ledger.count == 3

        await change_now(lambda: CHANGES[name](token))
        with anyio.fail_after(5):
            await own.over.wait()
        while server.app.state.ledger.count > 1:  # the session that nobody asks anything ends too
            await anyio.sleep(0.01)

        assert own.done.is_set()
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        address = own.body.decode().split("data: ")[1].split()[0]
        for again in (
            await server.ask("GET", headers=bearer(secret)),
            await server.ask(headers=bearer(secret)),
            await server.ask(headers={**bearer(secret), **session}),
            await server.ask(path=address, headers=bearer(secret)),
        ):
            assert (again.status, again.json["code"]) == (401, "not_authenticated")
        assert not other.done.is_set()

    inside(scene)
