"""Finding and changing posts, with the SDK's client and a real server, over every transport."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.mcp.running import Person, Running, connected
from tests.mcp.test_main_path import TRANSPORTS, Caller


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_finds_weak_posts_and_changes_them(
    open_server: Running, person: Person, transport: str
) -> None:
    title = f"Roasting by {transport}"
    post = person.new_post(title=title)
    before = person.live_hash()

    async def work() -> None:
        async with connected(open_server, transport) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert listed["generate_image"].annotations.open_world_hint is True
            call = Caller(client)
            rows = await _audited(call)
            row = next(one for one in rows if one["post"] == post["id"])
            assert row["check"] == "seoTitle"
            address = row["url"] or post["id"]
            saved = await call.done(
                "save_posts_ai_review",
                changes=[
                    {"post": address, "patch": {"metaTitle": "Roast well", "excerpt": "Short"}},
                    {"post": "/blog/nothing-here", "patch": {"metaTitle": "x"}},
                ],
            )
            good, bad = saved["results"]
            assert (good["post"], good["ok"]) == (post["id"], True)
            assert (bad["ok"], bad["code"]) == (False, "unknown_post")
            taken = await call.done("unstage", post=address, paths=["post.excerpt"])
            assert taken["unstaged"] == ["post.excerpt"]
            context = await call.done("get_post_context", postId=address)
            hero, prose, faq = (module["postModuleId"] for module in context["modules"])
            order = await call.done("reorder_modules", post=address, order=[hero, faq, prose])
            assert order["staged"]
            refusal = await call.refused("reorder_modules", post=address, order=[prose, hero, faq])
            assert "is locked by the module group" in refusal
            links = await call.done("check_links", post=address)
            assert links["items"] == []
            narrow = await call.done("list_posts", q=title, fields=["slug"])
            assert set(narrow["items"][0]) == {"id", "slug"}
            files = await call.done("list_media", limit=1, mime="image")
            if files["items"]:
                media = files["items"][0]["id"]
                text = f"A roaster, seen by {transport}"
                proposed = await call.done("propose_alt_text", mediaId=media, alt=text)
                assert proposed["state"] == "waiting"

    anyio.run(work)
    assert person.live_hash() == before


async def _audited(call: Caller) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await call.done("audit_posts", checks=["seoTitle"], limit=100, **cursor)
        rows += page["items"]
        if "nextCursor" not in page:
            return rows
        cursor = {"cursor": page["nextCursor"]}
