"""Two server processes behind a balancer without sticky sessions, on one database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from django.core import signing
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from tests.mcp.balancer import Balancer, balanced
from tests.mcp.conftest import HEADER, TOKEN
from tests.mcp.inside import HELLO, JSON, bearer
from tests.mcp.running import Person, Running, connected, running
from tests.mcp.test_access_ends_live import WITHIN, read_to_the_end

OWN = bearer(TOKEN["MCP_AUTH_TOKEN"])
ECHO = {"postId": "p"}


@dataclass(frozen=True, slots=True)
class Pair:
    first: Running
    second: Running
    front: Balancer

    @property
    def url(self) -> str:
        return f"{self.front.url}/mcp"


def two_processes(stack: ExitStack, data: Path) -> Pair:
    variables = {**TOKEN, **HEADER, "THROTTLE_LOGIN": "off"}
    first, second = (stack.enter_context(running(data, **variables)) for _ in range(2))
    ports = [int(one.url.rsplit(":", 1)[1]) for one in (first, second)]
    return Pair(first, second, stack.enter_context(balanced(ports)))


@pytest.fixture(scope="module")
def pair(prepared: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield two_processes(stack, prepared)


def through(pair: Pair) -> Running:
    """Return the balancer as a server for clients."""
    return Running(pair.front.url, pair.first.data, pair.first.process)


@pytest.mark.parametrize(
    ("transport", "mode"), [("http", "auto"), ("http", "legacy"), ("sse", "legacy")]
)
def test_clients_of_both_eras_work_through_the_balancer(
    pair: Pair, transport: str, mode: str
) -> None:
    before = list(pair.front.taken)

    async def scene() -> list[Any]:
        async with connected(through(pair), transport, mode, OWN) as client:
            steps: list[str | None] = []

            async def note(done: float, total: float | None, message: str | None) -> None:
                steps.append(message)

            texts = [(await client.call_tool("sample_echo", ECHO)).content for _ in range(6)]
            told = await client.call_tool("sample_steps", {"steps": 3}, progress_callback=note)
            tools = await client.list_tools()
            return [len(texts), told.is_error, steps, len(tools.tools) > 20]

    assert anyio.run(scene) == [6, False, ["step 1", "step 2", "step 3"], True]
    assert all(now - then >= 3 for now, then in zip(pair.front.taken, before, strict=True))


def session_at(server: Running, own: dict[str, str] = OWN) -> dict[str, str]:
    hello = httpx.post(f"{server.url}/mcp", headers={**JSON, **own}, json=HELLO)
    assert hello.status_code == 200
    return {**JSON, **own, "Mcp-Session-Id": hello.headers["mcp-session-id"]}


PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 8, "method": "tools/list"}


def test_a_session_answers_at_either_process_to_its_credential_only(pair: Pair) -> None:
    session = session_at(pair.first)
    for server in (pair.first, pair.second):
        answer = httpx.post(f"{server.url}/mcp", headers=session, json=PING)
        assert answer.status_code == 200
        assert '"id":7' in answer.text
        assert answer.headers["mcp-session-id"] == session["Mcp-Session-Id"]
        other = {name: value for name, value in session.items() if name != "Authorization"}
        other[HEADER["MCP_AUTH_HEADER_NAME"]] = HEADER["MCP_AUTH_HEADER_VALUE"]
        assert httpx.post(f"{server.url}/mcp", headers=other, json=PING).status_code == 404
        nobody = {name: value for name, value in other.items() if not name.startswith("X-")}
        assert httpx.post(f"{server.url}/mcp", headers=nobody, json=PING).status_code == 401

    assert httpx.delete(f"{pair.second.url}/mcp", headers=session).status_code == 200
    for server in (pair.first, pair.second):
        assert httpx.post(f"{server.url}/mcp", headers=session, json=PING).status_code == 404


@pytest.mark.parametrize("key", ["", "0", "00000000", "é", "'; --", "own"])
def test_ids_of_no_session_are_answered_404(pair: Pair, key: str) -> None:
    taken = session_at(pair.first)["Mcp-Session-Id"]
    session_id = (taken[:8] + "0" * 24) if key == "own" else key + "0" * (32 - len(key))
    for server in (pair.first, pair.second):
        headers = {**JSON, **OWN, "Mcp-Session-Id": session_id.encode()}
        answer = httpx.post(f"{server.url}/mcp", headers=headers, json=PING)
        assert answer.status_code == 404, answer.text


def sign(address: str, salt: str = "mcp-passed-on") -> str:
    """Return the header of forwarded requests, signed with the tests' `SECRET_KEY`."""
    return signing.dumps(address, salt=salt)


def test_what_was_passed_on_goes_no_further(pair: Pair) -> None:
    mark = sign("127.0.0.1")
    marked = {**session_at(pair.first), "X-Mcp-Passed-On": mark}
    assert httpx.post(f"{pair.first.url}/mcp", headers=marked, json=PING).status_code == 200
    assert httpx.post(f"{pair.second.url}/mcp", headers=marked, json=PING).status_code == 404


def test_a_mark_that_nobody_signed_counts_for_nothing(pair: Pair) -> None:
    session = session_at(pair.first)
    for mark in ("1", "", "é", '"127.0.0.1":1:2', sign("::1")[:-1] + "-"):
        marked = {**session, "X-Mcp-Passed-On": mark.encode()}
        for server in (pair.first, pair.second):
            answer = httpx.post(f"{server.url}/mcp", headers=marked, json=PING)
            assert answer.status_code == 200, (mark, answer.text)


def test_what_is_passed_on_counts_for_the_address_that_sent_it(prepared: Path) -> None:
    variables = {**TOKEN, "THROTTLE_MCP": "3/day", "THROTTLE_ALLOW_IPS": "127.0.0.2"}
    with ExitStack() as stack:
        first, second = (stack.enter_context(running(prepared, **variables)) for _ in range(2))
        elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
        allowed = stack.enter_context(httpx.Client(transport=elsewhere))
        session = session_at(first)
        for _ in range(6):
            answer = allowed.post(f"{second.url}/mcp", headers=session, json=LIST)
            assert '"tools":[' in answer.text, answer.text

        # The process that passes on is not on the list, and what a caller says of itself counts for nothing.
        other_use = sign("127.0.0.2", salt="another")
        for mark in ("127.0.0.2", other_use):
            said = {**session, "X-Mcp-Passed-On": mark, "X-Forwarded-For": "127.0.0.2"}
            told = [
                httpx.post(f"{server.url}/mcp", headers=said, json=LIST).text
                for server in (first, second) * 2
            ]
        assert all("Too many calls" in text for text in told)


def test_a_cancellation_reaches_the_call_at_the_other_process(pair: Pair) -> None:
    session = session_at(pair.first)
    call = {
        "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "sample_steps", "arguments": {"steps": 3000, "writes": False},
                   "_meta": {"progressToken": 1}},
    }  # fmt: skip
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    with httpx.stream(
        "POST", f"{pair.first.url}/mcp", headers=session, json=call, timeout=20
    ) as waiting:
        lines = waiting.iter_lines()
        assert any("step 1" in line for line in lines)
        sent = httpx.post(f"{pair.second.url}/mcp", headers=session, json=cancel)
        assert sent.status_code == 202
        assert not any('"result"' in line for line in lines)


def test_threat_43_a_token_that_is_revoked_ends_what_either_process_holds(
    pair: Pair, person: Person
) -> None:
    token = person.token(role="editor")
    own = bearer(token["secret"])
    at_first, at_second = session_at(pair.first, own), session_at(pair.second, own)
    another = session_at(pair.second, own)

    async def scene() -> list[int]:
        async with (
            httpx.AsyncClient(timeout=30) as client,
            client.stream("GET", f"{pair.first.url}/mcp", headers=at_first) as direct,
            client.stream("GET", f"{pair.first.url}/mcp", headers=at_second) as passed_on,
            client.stream("GET", f"{pair.second.url}/mcp", headers=another) as elsewhere,
        ):
            streams = (direct, passed_on, elsewhere)
            assert [stream.status_code for stream in streams] == [200] * 3
            await anyio.to_thread.run_sync(lambda: person.revoke(id=token["id"]))
            with anyio.fail_after(WITHIN):
                for stream in streams:
                    await read_to_the_end(stream)
            return [
                (await client.post(f"{one.url}/mcp", headers=session, json=PING)).status_code
                for one in (pair.first, pair.second)
                for session in (at_first, at_second)
            ]

    assert anyio.run(scene) == [401] * 4


def told_of(lines: Iterator[str], method: str) -> Any:
    """Return the params of the next notification of that method."""
    for line in lines:
        if line.startswith("data: ") and f'"{method}"' in line:
            return json.loads(line.removeprefix("data: ")).get("params")
    raise AssertionError(f"the stream ended without {method}")


UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"


def test_changes_reach_streams_of_the_newest_revision_from_other_processes(
    pair: Pair, person: Person
) -> None:
    post, other = person.new_post(title="Followed"), person.new_post(title="Not followed")
    uri = f"cms://posts/{post['id']}"

    async def scene() -> list[Any]:
        async with (
            connected(through(pair), "http", "auto", OWN) as client,
            client.listen(resource_subscriptions=[uri], resources_list_changed=True) as events,
        ):
            assert client.server_capabilities.resources.subscribe
            assert not client.server_capabilities.prompts.list_changed
            told: list[Any] = []
            with anyio.fail_after(20):
                await anyio.to_thread.run_sync(
                    lambda: person.stage_in_review(id=other["id"], patch={"title": "Unheard"})
                )
                # An AI client stages through whichever process is next.
                await client.call_tool(
                    "save_post_ai_review", {"postId": post["id"], "patch": {"title": "By a tool"}}
                )
                told.append(await anext(events))
                await anyio.to_thread.run_sync(lambda: person.trash(id=other["id"]))
                told.append(await anext(events))
            return told

    assert anyio.run(scene) == [ResourceUpdated(uri), ResourcesListChanged()]


def test_changes_reach_sessions_of_older_revisions_through_either_process(
    pair: Pair, person: Person
) -> None:
    post = person.new_post(title="Followed by a session")
    uri = f"cms://posts/{post['id']}"
    session = session_at(pair.first)
    at = [f"{one.url}/mcp" for one in (pair.first, pair.second)]

    def ask(method: str, **params: Any) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}
        return httpx.post(at[1], headers=session, json=body)

    with httpx.stream("GET", at[1], headers=session, timeout=20) as stream:
        lines = stream.iter_lines()
        assert '"result":{}' in ask("resources/subscribe", uri=uri).text
        person.stage_in_review(id=post["id"], patch={"title": "Changed elsewhere"})
        assert told_of(lines, UPDATED) == {"uri": uri}
        assert "cms://guidelines" in ask("resources/list").text
        person.trash(id=post["id"])
        told_of(lines, LIST_CHANGED)
        assert '"result":{}' in ask("resources/unsubscribe", uri=uri).text
    assert "No resource has the address" in ask("resources/subscribe", uri=uri).text


def test_a_process_is_killed_and_clients_go_on_at_the_other(prepared: Path) -> None:
    with ExitStack() as stack:
        pair = two_processes(stack, prepared)
        held, other = session_at(pair.first), session_at(pair.second)
        with httpx.stream(
            "GET", f"{pair.second.url}/mcp", headers=held, timeout=20
        ) as stream:  # passed on to the first, which is killed
            pair.first.process.kill()
            pair.first.process.wait()
            list(stream.iter_lines())

        # Its session is lost, as the protocol reports; other sessions, and calls without one, are
        # not.
        for session, status in ((held, 404), (other, 200)):
            answer = httpx.post(pair.url, headers=session, json=PING)
            assert answer.status_code == status, answer.text


def test_a_process_that_stops_is_not_listed_any_more(prepared: Path) -> None:
    with ExitStack() as stack:
        pair = two_processes(stack, prepared)
        held = session_at(pair.first)
        key = held["Mcp-Session-Id"][:8]
        rows = "SELECT address FROM mcp_bridge_mcpprocess WHERE key = ?"
        assert pair.second.execute(rows, key) == [(pair.first.url.removeprefix("http://"),)]
        assert pair.first.stop() == 0
        assert pair.second.execute(rows, key) == []
        answer = httpx.post(f"{pair.second.url}/mcp", headers=held, json=PING)
        assert answer.status_code == 404
