"""Both TypeScript SDKs, as used by most hosts, over all their transports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bridge.protocol.server import INSTRUCTIONS
from tests.mcp import npm
from tests.mcp.conftest import TOKEN
from tests.mcp.running import Running

pytestmark = pytest.mark.clients
WAYS = ("v1 sse", "v1 http", "v2 sse", "v2 http", "v2 http modern")


@pytest.fixture(scope="module")
def told(locked_server: Running) -> dict[str, Any]:
    """Return the messages of each SDK, run in one process."""
    done = npm.node("talk.mjs", f"{locked_server.url}/mcp", TOKEN["MCP_AUTH_TOKEN"])
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("way", WAYS)
def test_tools_are_listed_and_called(told: dict[str, Any], way: str) -> None:
    answer = told[way]

    assert (answer["server"], answer["instructions"]) == ("proofroom", INSTRUCTIONS)
    assert answer["tools"] == sorted(answer["tools"])
    assert {"list_posts", "create_post_ai_review"} <= set(answer["tools"])
    called = answer["called"]
    assert called["structuredContent"] == json.loads(called["content"][0]["text"])
    assert len(called["structuredContent"]["items"]) == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_reaches_the_model_with_its_lesson(told: dict[str, Any], way: str) -> None:
    """One SDK would drop the text if the refusal had structured content."""
    refused, unknown = told[way]["refused"], told[way]["unknown"]

    assert refused["isError"] is True
    assert "structuredContent" not in refused
    assert "unknown argument `limt`; did you mean `limit`?" in refused["content"][0]["text"]
    assert unknown["code"] == -32602
    assert "Unknown tool: list_post_type (did you mean list_post_types?)" in unknown["thrown"]


@pytest.mark.parametrize("way", WAYS)
def test_prompts_resources_and_completions_are_answered(told: dict[str, Any], way: str) -> None:
    answer = told[way]

    assert answer["prompt"]["messages"][0]["content"]["text"].startswith("Improve how search")
    assert answer["resource"]["contents"][0]["mimeType"] == "text/markdown"
    assert answer["absent"]["code"] == -32602
    assert answer["completion"]["completion"] == {"values": ["blog"], "total": 1, "hasMore": False}


@pytest.mark.parametrize("way", WAYS)
def test_a_long_call_is_followed(told: dict[str, Any], way: str) -> None:
    answer = told[way]

    assert answer["followed"]["structuredContent"] == {"done": 2}
    # Over SSE these clients lose the progress handler if steps and answer arrive together.
    if "http" in way:
        assert answer["steps"] == [[1, 2, "step 1"], [2, 2, "step 2"]]
