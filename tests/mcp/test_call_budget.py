"""What usual work costs a client: calls and tokens of recorded scripts, through the SDK's client and a real server.

A token is four characters of what a model reads and writes: the arguments of calls and the texts of answers.
"""

from __future__ import annotations

import json
from typing import Any, Final

import anyio
import pytest

from proofroom.core.tools import get_tool
from tests.mcp.running import Person, Running, connected

CHARACTERS_PER_TOKEN: Final = 4
CORE_QUERY: Final = "?tools=core"
TITLES: Final = 10
FIND_TOOLS: Final = ("audit_posts", "save_posts_ai_review")


class MeteredClient:
    """A client that counts its calls and their characters, and calls only tools on its list."""

    def __init__(self, client: Any, listed: set[str]) -> None:
        self._client, self._listed = client, listed
        self.calls = 0
        self.characters = 0

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        assert tool in self._listed, f"{tool} is not in the core set"
        result = await self._client.call_tool(tool, arguments)
        texts = [part.text for part in result.content]
        assert not result.is_error, texts
        self.calls += 1
        sent = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        self.characters += len(sent) + sum(map(len, texts))
        return dict(result.structured_content)

    @property
    def tokens(self) -> float:
        return self.characters / CHARACTERS_PER_TOKEN


def run_script(server: Running, script: Any) -> MeteredClient:
    """Run a script with the tools of the core set, and return what it took."""

    async def scene() -> MeteredClient:
        async with connected(server, "http", query=CORE_QUERY) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            metered = MeteredClient(client, listed)
            await script(metered)
            return metered

    return anyio.run(scene)


def test_ten_seo_titles_are_found_written_and_submitted(
    open_server: Running, person: Person
) -> None:
    if any(get_tool(name) is None for name in FIND_TOOLS):
        pytest.skip(f"needs the tools {', '.join(FIND_TOOLS)}")
    posts = {person.new_post(title=f"Coffee from region {at}")["id"] for at in range(TITLES)}
    written: dict[str, str] = {}

    async def script(client: MeteredClient) -> None:
        audit = await client.call("audit_posts", checks=["seoTitle"], type="blog", limit=TITLES)
        found = [row["post"] for row in audit["items"]][:TITLES]
        assert len(found) == TITLES
        read = await client.call("get_post_context", postId=found, parts=["seo", "outline"])
        for one in read["posts"]:
            assert [row["type"] for row in one["outline"]]
            written[one["post"]["id"]] = f"{one['seo']['title'][:40]}, explained"
        changes = [
            {"post": id_, "patch": {"metaTitle": title}, "note": "Says what the page is about."}
            for id_, title in written.items()
        ]
        saved = await client.call("save_posts_ai_review", changes=changes, submit=True)
        assert [(row["ok"], row["submitted"]) for row in saved["results"]] == [
            (True, ["post.metaTitle"])
        ] * TITLES

    took = run_script(open_server, script)

    assert took.calls <= 4
    assert took.tokens <= 5_000
    for id_, title in written.items():
        assert person.approve(id=id_)["post"]["metaTitle"] == title
    assert posts


def test_an_article_with_an_image_is_submitted_with_a_preview_link(
    open_server: Running, person: Person
) -> None:
    picture = person.new_picture(name="coffee-harvest.png")
    made: dict[str, Any] = {}

    async def script(client: MeteredClient) -> None:
        found = await client.call("search_media", q="coffee-harvest")
        assert found["items"][0]["id"] == picture
        post = await client.call(
            "create_post_ai_review",
            type="blog",
            title="The coffee harvest",
            excerpt="How beans are picked.",
            contentMarkdown="## Picking\n\nBy hand, twice a year.",
            note="From the brief.",
        )
        id_ = made["id"] = post["postId"]
        await client.call(
            "save_post_ai_review",
            postId=id_,
            patch={"featuredMediaId": picture, "metaTitle": "The coffee harvest, explained"},
        )
        submitted = await client.call("submit_ai_review_to_review", postId=id_)
        assert submitted["conflicts"] == []
        made["link"] = await client.call("create_post_preview_link", postId=id_, layer="review")

    took = run_script(open_server, script)

    assert took.calls <= 6
    assert made["link"]["url"].startswith("http")
    assert person.approve(id=made["id"])["post"]["featuredMediaId"] == picture


def test_a_page_is_translated_and_checked(open_server: Running, person: Person) -> None:
    post = person.new_post(title="Storing beans")
    made: dict[str, Any] = {}

    async def script(client: MeteredClient) -> None:
        source = await client.call("get_post_context", postId=post["id"])
        translated = {
            "hero": {"title": "Bohnen lagern"},
            "prose": {"content": {"markdown": "Mahlen Sie die Bohnen.\n\nGießen Sie Wasser auf."}},
        }
        modules = [
            {"sourcePostModuleId": module["postModuleId"], "props": translated[module["type"]]}
            for module in source["modules"]
            if module["type"] in translated
        ]
        translation = await client.call(
            "create_translation_ai_review",
            postId=post["id"],
            locale="de",
            fields={"title": "Bohnen lagern"},
            slug="bohnen-lagern",
            modules=modules,
        )
        made["id"] = translation["translationId"]
        checked = await client.call("get_post_context", postId=made["id"])
        assert checked["post"]["title"] == "Bohnen lagern"
        assert checked["post"]["slug"] == "bohnen-lagern"
        texts = json.dumps(checked["modules"], ensure_ascii=False)
        assert "Gießen Sie Wasser auf." in texts
        assert "Pour the water" not in texts

    took = run_script(open_server, script)

    assert took.calls <= 3
    assert person.live(id=made["id"])["post"]["title"] != "Bohnen lagern"
