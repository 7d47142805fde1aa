"""The complete workflow of a proposal, with the SDK's client and a real server, over every transport.

An AI client reads, stages, proposes and submits; a person approves. Until then the public content
does not change.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.mcp.running import Person, Running, connected

AGENT = "general-assistant"
TRANSPORTS = ("sse", "http", "stdio")


class Caller:
    """Calls tools and checks the outcome."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error is False, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content)

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error is True, result.structured_content
        return str(result.content[0].text)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_change_goes_from_a_client_through_a_person_to_visitors(
    open_server: Running, person: Person, transport: str
) -> None:
    title = f"Grinding by {transport}"
    post = person.new_post(title=title)
    id_, before = post["id"], person.live_hash()

    async def propose() -> tuple[dict[str, Any], str]:
        async with connected(open_server, transport) as client:
            call = Caller(client)
            listed = await call.done("list_posts", q=title)
            assert [(row["id"], row["title"]) for row in listed["items"]] == [(id_, title)]
            context = await call.done("get_post_context", postId=id_)
            assert [module["type"] for module in context["modules"]] == ["hero", "prose", "faq"]
            saved = await call.done(
                "save_post_ai_review", postId=id_, patch={"metaTitle": "Grind well"}, agentId=AGENT
            )
            assert saved["staged"] == ["post.metaTitle"]
            added = await call.done(
                "add_module_to_post_ai_review",
                postId=id_,
                moduleType="callout",
                props={"title": "Try it"},
                orderIndex=1,
                agentId=AGENT,
            )
            await call.done(
                "update_post_module_ai_review",
                postModuleId=added["postModuleId"],
                props={"title": "Try it today"},
                agentId=AGENT,
            )
            refusal = await call.refused(
                "remove_post_module_ai_review", postModuleId=post["hero"], agentId=AGENT
            )
            assert person.live_hash() == before
            submitted = await call.done("submit_ai_review_to_review", postId=id_, note="Clearer.")
            return submitted, refusal

    submitted, refusal = anyio.run(propose)

    assert "locked by the module group: it cannot be removed" in refusal
    assert len(submitted["submitted"]) == 2
    assert submitted["conflicts"] == []
    assert person.live_hash() == before
    assert "Try it today" not in person.page(id=id_)
    live = person.approve(id=id_)
    assert live["post"]["metaTitle"] == "Grind well"
    assert [module["type"] for module in live["modules"]] == ["hero", "callout", "prose", "faq"]
    assert live["modules"][1]["props"]["title"] == "Try it today"
    assert live["by"]["post.metaTitle"] == [AGENT, "mcp", "editor"]
    assert "Try it today" in person.page(id=id_)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_writes_as_an_agent_stages_what_the_agent_may(
    open_server: Running, person: Person, transport: str
) -> None:
    post = person.new_post(title=f"Milling by {transport}")
    id_, before = post["id"], person.live_hash()
    hostile = {"slug": "casino", "canonicalUrl": "https://evil.example/"}

    async def propose() -> tuple[str, dict[str, Any], dict[str, Any]]:
        async with connected(open_server, transport) as client:
            call = Caller(client)
            named = {"postId": id_, "agentId": "seo-specialist", "note": "Says what it is about."}
            refusal = await call.refused("save_post_ai_review", patch=hostile, **named)
            saved = await call.done("save_post_ai_review", patch={"metaTitle": "Mill"}, **named)
            return refusal, saved, await call.done("get_post_context", postId=id_)

    refusal, saved, context = anyio.run(propose)

    assert "post.slug: SEO specialist may not propose this: leave it out." in refusal
    assert "post.canonicalUrl: SEO specialist may not propose this" in refusal
    assert saved["staged"] == ["post.metaTitle"]
    [change] = context["aiReview"]["changes"]
    assert (change["by"], change["via"], change["reason"]) == (
        "seo-specialist",
        "mcp",
        "Says what it is about.",
    )
    assert person.live_hash() == before


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_new_post_is_seen_by_nobody_until_a_person_approves_and_publishes(
    open_server: Running, person: Person, transport: str
) -> None:
    before = person.live_hash()

    async def propose() -> dict[str, Any]:
        async with connected(open_server, transport) as client:
            call = Caller(client)
            made = await call.done(
                "create_post_ai_review",
                type="blog",
                title=f"Cold brew by {transport}",
                contentMarkdown="Use **cold** water.",
                moduleEdits=[
                    {"type": "hero", "orderIndex": 0, "props": {"title": "Cold brew"}},
                    {"type": "hero", "props": {"headline": "Wrong"}},
                    {
                        "type": "faq",
                        "props": {"items": [{"question": "How?", "answer": "Slowly."}]},
                    },
                ],
                agentId=AGENT,
            )
            assert person.live_hash() == before
            await call.done("submit_ai_review_to_review", postId=made["postId"], agentId=AGENT)
            return made

    made = anyio.run(propose)

    assert [(m["type"], m["orderIndex"], m["locked"]) for m in made["seededModules"]] == [
        ("hero", 0, True),
        ("prose", 1, False),
        ("faq", 2, False),
    ]
    assert [edit["ok"] for edit in made["appliedModuleEdits"]] == [True, False, True]
    assert "props.headline" in made["appliedModuleEdits"][1]["error"]
    assert (made["slug"], made["locale"]) == (f"cold-brew-by-{transport}", "en")
    assert person.live_hash() == before
    live = person.approve(id=made["postId"])
    assert live["status"] == "draft"
    assert live["by"]["post.title"] == [AGENT, "mcp", "editor"]
    assert person.page(id=made["postId"]).startswith("404")
    page = person.publish(id=made["postId"])
    assert page.startswith("200")
    assert "<strong>cold</strong>" in page
    assert "Slowly." in page


def test_a_persons_staged_value_stays_and_the_conflict_is_reported(
    open_server: Running, person: Person
) -> None:
    id_ = person.new_post(title="Contested")["id"]

    async def propose() -> tuple[dict[str, Any], dict[str, Any]]:
        async with connected(open_server, "http") as client:
            call = Caller(client)
            patch = {"title": "By the agent", "excerpt": "Short."}
            await call.done("save_post_ai_review", postId=id_, patch=patch)
            await anyio.to_thread.run_sync(
                lambda: person.stage_in_review(id=id_, patch={"title": "By a person"})
            )
            submitted = await call.done("submit_ai_review_to_review", postId=id_)
            return submitted, await call.done("get_post_context", postId=id_)

    submitted, context = anyio.run(propose)

    assert submitted["submitted"] == ["post.excerpt"]
    assert submitted["conflicts"] == [
        {"path": "post.title", "review": "By a person", "aiReview": "By the agent"}
    ]
    assert [(c["path"], c["conflict"]) for c in context["aiReview"]["changes"]] == [
        ("post.title", True)
    ]
    assert person.approve(id=id_)["post"]["title"] == "By a person"


def test_a_module_that_exists_in_ai_review_only_can_be_changed_and_taken_back(
    open_server: Running, person: Person
) -> None:
    id_ = person.new_post(title="Second thoughts")["id"]

    async def think_twice() -> dict[str, Any]:
        async with connected(open_server, "sse") as client:
            call = Caller(client)
            for kept in (True, False):
                added = await call.done(
                    "add_module_to_post_ai_review", postId=id_, moduleType="callout"
                )
                module = added["postModuleId"]
                if not kept:
                    await call.done("remove_post_module_ai_review", postModuleId=module)
                    text = await call.refused(
                        "update_post_module_ai_review", postModuleId=module, props={"title": "x"}
                    )
                    assert "get_post_context" in text
            return await call.done("get_post_context", postId=id_)

    context = anyio.run(think_twice)

    callouts = [module for module in context["modules"] if module["type"] == "callout"]
    assert [(module["props"], module["orderIndex"]) for module in callouts] == [(None, 3)]
    assert "aiReviewProps" in callouts[0]


def test_a_deleted_post_is_gone_for_clients(open_server: Running, person: Person) -> None:
    post = person.new_post(title="Gone tomorrow")
    person.trash(id=post["id"])

    async def look() -> tuple[list[str], list[Any]]:
        async with connected(open_server, "http") as client:
            call = Caller(client)
            texts = [
                await call.refused("get_post_context", postId=post["id"]),
                await call.refused("export_post_canonical_json", postId=post["id"]),
                await call.refused("save_post_ai_review", postId=post["id"], patch={"title": "x"}),
                await call.refused("submit_ai_review_to_review", postId=post["id"]),
                await call.refused("update_post_module_ai_review", postModuleId=post["hero"]),
            ]
            return texts, (await call.done("list_posts", q="Gone tomorrow"))["items"]

    texts, listed = anyio.run(look)

    assert {text.split(" Call")[0] for text in texts} == {f"No post has the ID {post['id']}."}
    assert listed == []
