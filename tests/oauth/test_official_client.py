"""The official client completes the flow by itself, in both eras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.mcp import running
from tests.mcp.inside import HELLO, JSON, bearer, newest
from tests.mcp.running import Person, Running
from tests.mcp.test_access_ends_live import STEPS, WITHIN, read_to_the_end
from tests.oauth import sdk_client


@pytest.fixture(scope="module")
def server(prepared: Path) -> Iterator[Running]:
    """Yield a server without other credentials."""
    with running.running(prepared, **sdk_client.VARIABLES, THROTTLE_LOGIN="off") as started:
        yield started


@pytest.fixture(scope="module")
def someone(prepared: Path) -> Iterator[Person]:
    with running.person(prepared, **sdk_client.VARIABLES) as person:
        yield person


@pytest.mark.parametrize(
    ("transport", "mode", "has_document"),
    [
        ("http", "auto", False),
        ("http", "auto", True),
        ("http", "legacy", False),
        ("sse", "legacy", True),
    ],
)
def test_it_finds_its_way_and_calls_a_tool(
    server: Running, someone: Person, transport: str, mode: str, has_document: bool
) -> None:
    if has_document:
        someone.publish_document(url=sdk_client.DOCUMENT, redirect=sdk_client.REDIRECT)
    storage = sdk_client.Storage()

    async def scene() -> Any:
        async with sdk_client.connected(
            server, someone, storage, transport=transport, mode=mode, has_document=has_document
        ) as (client, asked):
            answer = await client.call_tool("list_posts", {})
            return answer, asked

    answer, asked = anyio.run(scene)

    assert not answer.is_error, answer
    assert storage.tokens is not None
    assert storage.tokens.scope == "read propose"
    assert storage.tokens.access_token.startswith("cmsoauth_")
    assert storage.client is not None
    registered = "POST cms.example.com/oauth/register" in asked
    assert registered is not has_document
    assert (storage.client.client_id == sdk_client.DOCUMENT) is has_document
    assert "GET ai.example.com/.well-known/oauth-protected-resource/mcp" in asked
    assert "GET cms.example.com/.well-known/oauth-authorization-server" in asked


def test_a_person_ends_a_client_and_all_that_is_open_with_it(
    server: Running, someone: Person
) -> None:
    client = someone.connect()
    own = {**JSON, **bearer(client["access_token"]), "Host": "ai.example.com"}
    url = f"{server.url}/mcp"

    async def scene() -> Any:
        async with (
            httpx.AsyncClient(timeout=30) as http,
            http.stream("GET", url, headers=own) as sse,
            anyio.create_task_group() as tasks,
        ):
            hello = await http.post(url, headers=own, json=HELLO)
            session = {**own, "Mcp-Session-Id": hello.headers["mcp-session-id"]}
            answers: list[httpx.Response] = []
            call = newest("tools/call", "sample_steps", arguments=STEPS)

            async def wait_for_call() -> None:
                headers = {**own, **call["headers"]}
                answers.append(await http.post(url, headers=headers, json=call["body"]))

            async with http.stream("GET", url, headers=session) as standalone:
                tasks.start_soon(wait_for_call)
                await anyio.sleep(0.3)
                await anyio.to_thread.run_sync(lambda: someone.disconnect(id=client["id"]))
                with anyio.fail_after(WITHIN):
                    await read_to_the_end(sse)
                    await read_to_the_end(standalone)
                    while not answers:
                        await anyio.sleep(0.02)
            return answers[0], await http.post(url, headers=session, json=HELLO)

    answer, later = anyio.run(scene)

    assert answer.status_code == 401
    assert later.status_code == 401
