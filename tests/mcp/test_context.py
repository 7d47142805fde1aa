"""Prompts and resources: what a client can attach without calling a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from mcp_bridge import resources
from mcp_bridge.resources import _Template

Request = Callable[..., Any]


def test_a_prompt_fills_in_its_arguments_and_teaches_the_lane(client: Request) -> None:
    prompt = client("get_prompt", "translate-post", {"postId": "p1", "locale": "{postId}"})

    text = prompt.messages[0].content.text
    assert text.startswith("Translate the post p1 into {postId}:")
    assert "submit_ai_review_to_review" in text


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("translate-post", {"postId": "p1"}, "translate-post needs: locale."),
        ("translate", {}, "Unknown prompt: translate. Known: write-post, improve-seo"),
    ],
)
def test_a_prompt_without_what_it_needs_is_refused(
    client: Request, name: str, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(MCPError) as caught:
        client("get_prompt", name, arguments)

    assert caught.value.code == -32602
    assert caught.value.message.startswith(message)


def test_the_guidelines_are_a_resource(client: Request) -> None:
    listed = [item.uri for item in client("list_resources").resources]
    read = client("read_resource", "cms://guidelines")

    assert listed == ["cms://post-types", "cms://guidelines"]
    assert "AI Review" in read.contents[0].text


def test_a_resource_is_answered_by_the_tool_behind_it(
    client: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = _Template("cms://echo/{postId}", "echo", "Echo.", "sample_echo", "postId")
    monkeypatch.setattr(resources, "TEMPLATES", (template,))

    read = client("read_resource", "cms://echo/p1")

    assert '"postId":"p1"' in read.contents[0].text
    assert read.contents[0].mime_type == "application/json"


def test_a_resource_that_the_tool_refuses_names_its_address(
    client: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = _Template("cms://people/{x}", "people", "People.", "sample_people", "x")
    monkeypatch.setattr(resources, "TEMPLATES", (template,))

    with pytest.raises(MCPError, match=r"users\.manage") as caught:
        client("read_resource", "cms://people/1")

    assert caught.value.data == {"uri": "cms://people/1"}


def test_an_unknown_address_is_refused_with_the_address(client: Request) -> None:
    with pytest.raises(MCPError) as caught:
        client("read_resource", "cms://secrets")

    assert caught.value.code == -32602
    assert caught.value.data == {"uri": "cms://secrets"}
