"""The end of a credential over real sockets: streams end normally, and waiting calls stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx

from tests.mcp.inside import HELLO, JSON, bearer, newest
from tests.mcp.running import Person, Running

STEPS = {"steps": 1000, "writes": False}
WITHIN = 3.0
"""Maximum seconds between the end of a credential and the end of its connections."""


async def read_to_the_end(response: httpx.Response) -> None:
    # A stream that is cut off instead of ended is an error here.
    async for _ in response.aiter_lines():
        continue


def test_threat_43_a_revoked_token_ends_streams_sessions_and_waiting_calls(
    locked_server: Running, person: Person
) -> None:
    token = person.token(role="editor")
    own = {**JSON, **bearer(token["secret"])}
    log = Path(locked_server.data, f"server-{locked_server.url.rsplit(':', 1)[1]}.log")
    said_before = log.stat().st_size
    url = f"{locked_server.url}/mcp"

    async def scene() -> Any:
        async with (
            httpx.AsyncClient(timeout=30) as client,
            client.stream("GET", url, headers=own) as sse,
            anyio.create_task_group() as tasks,
        ):
            hello = await client.post(url, headers=own, json=HELLO)
            session = {**own, "Mcp-Session-Id": hello.headers["mcp-session-id"]}
            answers: list[httpx.Response] = []

            async def wait_for_call() -> None:
                call = newest("tools/call", "sample_steps", arguments=STEPS)
                headers = {**own, **call["headers"]}
                answers.append(await client.post(url, headers=headers, json=call["body"]))

            told = newest("tools/call", "sample_steps", arguments=STEPS)
            told["body"]["params"]["_meta"] |= {"progressToken": 1}
            async with (
                client.stream("GET", url, headers=session) as standalone,
                client.stream(
                    "POST", url, headers={**own, **told["headers"]}, json=told["body"]
                ) as begun,
            ):
                tasks.start_soon(wait_for_call)
                lines = begun.aiter_lines()
                while "step 1" not in await anext(lines):
                    continue
                await anyio.to_thread.run_sync(lambda: person.revoke(id=token["id"]))
                with anyio.fail_after(WITHIN):
                    await read_to_the_end(sse)
                    await read_to_the_end(standalone)
                    async for line in lines:
                        assert "result" not in line
                    while not answers:
                        await anyio.sleep(0.02)
            later = [
                await client.get(url, headers=own),
                await client.post(url, headers=own, json=HELLO),
                await client.post(url, headers=session, json=HELLO),
            ]
            return answers[0], later

    answer, later = anyio.run(scene)

    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert {one.status_code for one in later} == {401}
    calls = "SELECT DISTINCT ok, error_code FROM mcp_bridge_mcpcall WHERE principal = ?"
    assert locked_server.execute(calls, f"client:{token['id']}") == [(0, "cancelled")]
    said = log.read_text()[said_before:]
    assert "Traceback" not in said
    assert " ERROR " not in said
