"""A draft that changed under a client: its person is asked, if the client supports it."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from mcp import Client
from mcp.types import ElicitRequestFormParams, ElicitResult

from content.models import Post
from mcp_bridge.models import McpCall
from mcp_bridge.protocol.server import build_server
from tests import make
from tests.mcp.inside import Inside, bearer, inside, newest
from tests.mcp.test_access_ends import token_of

pytestmark = pytest.mark.django_db
TOOL = "save_post_ai_review"
YES = ElicitResult(action="accept", content={"stage": True})


@pytest.fixture
def stale(client: Any) -> dict[str, Any]:
    """Return a call based on an outdated draft."""
    post = make.post("Before")
    first = client("call_tool", TOOL, {"postId": str(post.pk), "patch": {"title": "A"}})
    client("call_tool", TOOL, {"postId": str(post.pk), "patch": {"excerpt": "Somebody else's"}})
    version = first.structured_content["version"]
    return {"postId": str(post.pk), "patch": {"title": "B"}, "expectedVersion": version}


def call(
    mode: str, arguments: dict[str, Any], answer: ElicitResult | None
) -> tuple[Any, list[str]]:
    """Return the result for the SDK's client, and the question to its person."""
    asked: list[str] = []

    async def respond(context: Any, params: ElicitRequestFormParams) -> ElicitResult:
        asked.append(params.message)
        assert params.requested_schema["required"] == ["stage"]
        assert answer is not None
        return answer

    async def run() -> Any:
        callback = None if answer is None else respond
        async with Client(build_server(), mode=mode, elicitation_callback=callback) as connection:
            return await connection.call_tool(TOOL, arguments)

    return async_to_sync(run)(), asked


def staged(arguments: dict[str, Any]) -> dict[str, Any]:

    fields = make.layers(Post.objects.get(pk=arguments["postId"])).ai_review.document.fields
    return {name: fields[name] for name in ("title", "excerpt")}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_agrees_has_it_staged_on_top_of_the_others(mode: str, stale: dict[str, Any]) -> None:
    result, [asked] = call(mode, stale, YES)

    assert not result.is_error, result.content
    assert "has changed since" in asked
    assert staged(stale) == {"title": "B", "excerpt": "Somebody else's"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="accept", content={"stage": False}),
        ElicitResult(action="accept", content={}),
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
    ],
)
def test_who_does_not_gets_the_refusal(
    mode: str, answer: ElicitResult, stale: dict[str, Any]
) -> None:
    result, asked = call(mode, stale, answer)
    without, _ = call(mode, stale, None)

    assert len(asked) == 1
    assert result.is_error
    assert result.content == without.content
    assert staged(stale)["title"] == "A"
    assert set(McpCall.objects.filter(ok=False).values_list("error_code", flat=True)) == {
        "stale_version"
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_that_cannot_ask_get_the_refusal_as_ever(mode: str, stale: dict[str, Any]) -> None:
    result, asked = call(mode, stale, None)

    assert asked == []
    assert result.is_error
    assert result.meta["cms/error"]["code"] == "stale_version"


@pytest.mark.parametrize(
    "responses", [[], "yes", {"stale_version": []}, {"stale_version": {"action": "accept", "content": [True]}}]
)  # fmt: skip
def test_answers_of_another_shape_stage_nothing(
    responses: Any, stale: dict[str, Any], settings: Any
) -> None:
    settings.MCP_DB_EXECUTOR = "sensitive"
    _, secret = token_of(make.user("editor", "another-editor"))
    asked = newest("tools/call", TOOL, arguments=stale, inputResponses=responses)
    asked["headers"] |= bearer(secret)

    async def scene(server: Inside) -> None:
        answer = await server.ask(**asked)
        assert "stale_version" in answer.body.decode() or "error" in answer.json

    inside(scene)
    assert staged(stale)["title"] == "A"
