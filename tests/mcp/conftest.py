"""Shared fixtures of the tests of the MCP server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_bridge.protocol.server import build_server
from proofroom.accounts.models import User
from proofroom.accounts.services.agents import ensure_agent_user
from tests.mcp import running, sample_tools
from tests.migrated import give_database

HEADER = {"MCP_AUTH_HEADER_NAME": "X-Cms-Key", "MCP_AUTH_HEADER_VALUE": "other-secret-value"}
TOKEN = {"MCP_AUTH_TOKEN": "token-secret-value"}


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a fresh database."""
    data = tmp_path_factory.mktemp("mcp")
    give_database(data)
    running.prepare(data)
    return data


@pytest.fixture(scope="session")
def open_server(prepared: Path) -> Iterator[running.Running]:
    """Yield a server without credentials, as started by `./run`."""
    with running.running(prepared) as server:
        yield server


@pytest.fixture(scope="session")
def locked_server(prepared: Path) -> Iterator[running.Running]:
    """Yield a server with both kinds of credentials and no login limit, because tests try wrong ones."""
    with running.running(prepared, **TOKEN, **HEADER, THROTTLE_LOGIN="off") as server:
        yield server


@pytest.fixture(scope="session")
def person(prepared: Path) -> Iterator[running.Person]:
    """Yield a person who works concurrently with the servers."""
    with running.person(prepared) as someone:
        yield someone


@pytest.fixture
def samples() -> Iterator[None]:
    with sample_tools.registered():
        yield


@pytest.fixture
def agent(db: None) -> User:
    """Return the default account of AI clients."""
    user = ensure_agent_user(agent_id="general-assistant")
    user.email, user.username = "agent@example.com", "agent"
    user.save()
    return user


@pytest.fixture
def environment(settings: Any) -> Callable[..., None]:
    """Return a function that changes fields of the typed environment for one test."""

    def change(**fields: object) -> None:
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update=fields)

    change(
        mcp_auth_token=None,
        mcp_auth_header_name=None,
        mcp_auth_header_value=None,
        mcp_system_user_id=None,
        mcp_diagnostics=False,
        throttle_mcp="600/minute",
    )
    return change


@pytest.fixture
def client(
    samples: None, agent: User, settings: Any, environment: Callable[..., None]
) -> Callable[..., Any]:
    """`client("call_tool", "sample_echo", {...})`: send one request with the SDK's client, in memory."""
    settings.MCP_DB_EXECUTOR = "sensitive"
    cache.clear()

    async def request(method: str, *arguments: Any, **named: Any) -> Any:
        failure = None
        async with Client(build_server()) as connection:
            try:
                return await getattr(connection, method)(*arguments, **named)
            except MCPError as error:  # raised in here it would come out in a group
                failure = error
        raise failure

    return async_to_sync(request)
