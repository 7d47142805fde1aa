"""The editorial brief at the MCP server: the tool, the guidelines, and the first answer of a client."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated

from mcp_bridge.access.principals import Principal, actor_for
from mcp_bridge.protocol import brief as client_brief
from mcp_bridge.protocol.brief import GUIDELINES
from mcp_bridge.protocol.server import build_server
from mcp_bridge.protocol.subscriptions import SubscribedClient, read_changes
from mcp_bridge.protocol.tool_calls import answer_call
from proofroom.accounts.models import User
from proofroom.briefs.services import delete_brief
from proofroom.core.actor import Actor
from proofroom.core.realtime.event_tail import Tail
from tests import make
from tests.mcp.inside import HELLO, Inside, inside, newest
from tests.mcp.running import Running, connected
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
Request = Callable[..., Any]
LIST = ("list_taxonomies", {"limit": 1})
TEXT = "# Editorial brief\n\n## Voice\n\nWarm.\n"


@pytest.fixture
def here(agent: User, environment: Callable[..., None], settings: Any) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    cache.clear()


def texts(result: Any) -> list[str]:
    return [item.text for item in result.content]


def test_the_tool_answers_the_brief_of_a_type_and_language(client: Request):
    make.brief("Site", voice="Warm.", terms=[{"term": "grinder", "translations": {"de": "Mühle"}}])
    make.changed_brief(make.brief("German", locale="de", address="Sie"), address="du")
    make.brief("Guides", section="guides", voice="Calm.")

    result = client("call_tool", "get_editorial_brief", {"type": "blog", "locale": "de"})

    assert result.structured_content == {
        "brief": "# Editorial brief\n\n## Voice\n\nWarm.\n\n## Form of address\n\ndu\n\n## Terms\n\n"
        "- “grinder”. Translation: de “Mühle”.\n",
        "sources": [{"name": "German", "version": 2}, {"name": "Site", "version": 1}],
    }
    assert texts(result) == [texts(result)[0]]
    of_section = client("call_tool", "get_editorial_brief", {"section": "/guides/coffee"})
    assert "Calm." in of_section.structured_content["brief"]


def test_without_a_brief_the_tool_answers_an_empty_text(client: Request):
    result = client("call_tool", "get_editorial_brief", {})

    assert result.structured_content == {"brief": "", "sources": []}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"type": "nothing"}, "no post type named 'nothing'"),
        ({"locale": "xx"}, "locale must be one of: en, de"),
        ({"locale": ["de"]}, "`locale`"),
        ({"section": "a\nb"}, "section must be a path."),
        ({"lang": "de"}, "unknown argument `lang`"),
    ],
)
def test_wrong_arguments_say_what_is_right(
    client: Request,
    arguments: dict[str, Any],
    sentence: str,
):
    result = client("call_tool", "get_editorial_brief", arguments)

    assert result.is_error
    assert sentence in texts(result)[0]


def test_the_guidelines_contain_the_brief_of_the_site(client: Request):
    assert client("read_resource", "cms://guidelines").contents[0].text == GUIDELINES

    make.brief("German", locale="de", voice="Not this.")
    make.brief("Site", voice="Warm.")

    read = client("read_resource", "cms://guidelines").contents[0]
    assert (read.text, read.mime_type) == (f"{GUIDELINES}\n{TEXT}", "text/markdown")


def test_the_first_answer_carries_the_brief_as_a_text_of_its_own(here: None):
    make.brief("Site", voice="Warm.")

    async def calls() -> list[Any]:
        async with Client(build_server()) as connection:
            refused = await connection.call_tool("list_taxonomies", {"limt": 1})
            return [refused, *[await connection.call_tool(*LIST) for _ in range(3)]]

    refused, first, second, third = async_to_sync(calls)()

    assert refused.is_error
    assert len(texts(refused)) == 1
    assert texts(first) == [texts(second)[0], TEXT]
    assert [len(texts(result)) for result in (second, third)] == [1, 1]
    # The client has validated it against the schema of the tool.
    assert json.loads(texts(first)[0]) == first.structured_content == second.structured_content


def test_each_session_gets_the_brief_once(here: None):
    make.brief("Site", voice="Warm.")
    counts: list[list[int]] = []

    async def scene(server: Inside) -> None:
        for _session in range(2):
            opened = await server.ask(body=HELLO)
            headers = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await server.ask(headers=headers, body=ready)
            found = []
            for _call in range(2):
                params = {"name": LIST[0], "arguments": LIST[1]}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                answer = await server.ask(headers=headers, body=body)
                await answer.done.wait()
                result = json.loads(answer.body.decode().partition("data: ")[2])["result"]
                found.append(len(result["content"]))
            counts.append(found)

    inside(scene)

    assert counts == [[2, 1], [2, 1]]


def test_without_sessions_a_credential_gets_the_brief_once_in_an_hour(
    here: None, monkeypatch: pytest.MonkeyPatch
):
    make.brief("Site", voice="Warm.")
    contents: list[list[dict[str, str]]] = []

    async def ask(server: Inside) -> None:
        answer = await server.ask(**newest("tools/call", LIST[0], arguments=LIST[1]))
        await answer.done.wait()
        contents.append(answer.json["result"]["content"])

    async def scene(server: Inside) -> None:
        await ask(server)
        await ask(server)
        hour = client_brief.current_hour() + 1
        monkeypatch.setattr(client_brief, "current_hour", lambda: hour)
        await ask(server)

    inside(scene)
    # Another process of the server.
    inside(ask)

    assert [len(content) for content in contents] == [2, 1, 2, 1]
    assert contents[0][1] == contents[2][1] == {"type": "text", "text": TEXT}


def test_whoever_reads_the_brief_first_does_not_get_it_again(here: None):
    make.brief("Site", voice="Warm.")

    async def calls() -> list[Any]:
        async with Client(build_server()) as connection:
            return [
                await connection.call_tool("get_editorial_brief", {}),
                await connection.call_tool(*LIST),
            ]

    assert [len(texts(result)) for result in async_to_sync(calls)()] == [1, 1]


def test_without_a_brief_answers_are_as_before_and_cost_one_query_once(here: None):
    state: dict[str, Any] = {}
    principal = Principal(id="one", user_id=make.user("editor").pk)
    brief_for = client_brief.FirstAnswers().for_session(state)

    def call() -> None:
        answer = answer_call(principal, *LIST, brief_for=brief_for)
        assert answer.texts == [answer.text]

    answer_call(principal, *LIST)
    first = count_queries(call)
    assert count_queries(call) == first - 1


def test_a_session_gets_the_brief_that_was_written_after_its_first_call(
    here: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client_brief, "EMPTY_SECONDS", -1.0)
    principal = Principal(id="one", user_id=make.user("editor").pk)
    brief_for = client_brief.FirstAnswers().for_session({})

    def brief() -> str:
        return answer_call(principal, *LIST, brief_for=brief_for).brief

    assert brief() == ""
    make.brief("Site", voice="Warm.")
    assert (brief(), brief()) == (TEXT, "")


def test_a_brief_that_cannot_be_read_does_not_fail_the_call(here: None):
    def broken(actor: Actor, tool: str) -> str:
        raise RuntimeError

    principal = Principal(id="one", user_id=make.user("editor").pk)
    answer = answer_call(principal, *LIST, brief_for=broken)

    assert (answer.is_error, answer.brief) == (False, "")


def test_who_may_not_read_posts_does_not_get_the_brief(here: None):
    make.brief("Site", voice="Warm.")
    role = make.site_role("clerks", "forms.submissions")
    user = make.user(role.name, "clerk")
    principal = Principal(id="two", user_id=user.pk)
    actor = actor_for(principal)

    assert client_brief.FirstAnswers().for_session({})(actor, "list_posts") == ""
    assert client_brief.guidelines_for(principal) == GUIDELINES


def test_followers_of_the_guidelines_hear_of_changes(here: None):
    brief = make.brief("Site", voice="Warm.")
    principal = Principal(id="three", user_id=make.user("editor").pk)
    follower = SubscribedClient(principal, uris=["cms://guidelines"])
    tail = Tail()
    tail.read()

    make.changed_brief(brief, voice="Calm.")
    assert read_changes(tail, [follower], False) == {
        follower: [ResourceUpdated("cms://guidelines")]
    }
    delete_brief(brief_id=brief.pk, actor=make.actor())
    assert read_changes(tail, [follower], False) == {
        follower: [ResourceUpdated("cms://guidelines")]
    }


@pytest.mark.parametrize(
    ("transport", "mode"),
    [("sse", "legacy"), ("http", "legacy"), ("stdio", "auto"), ("stdio", "legacy")],
)
def test_clients_of_a_running_server_get_the_brief_once(
    open_server: Running, person: Any, transport: str, mode: str
):
    async def session() -> list[Any]:
        async with connected(open_server, transport, mode) as connection:
            return [await connection.call_tool(*LIST) for _ in range(2)]

    person.write_brief(voice="Warm.")
    try:
        # A server trusts for a second that there is no brief.
        counts: list[int] = []
        until = time.monotonic() + 20
        while 2 not in counts and time.monotonic() < until:
            counts = [len(texts(result)) for result in anyio.run(session)]
    finally:
        person.delete_briefs()

    assert sum(counts) == 3
