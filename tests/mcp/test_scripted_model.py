"""Editorial work by a recorded model with real servers and transports, and an approving person."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.mcp.running import Person, Running, connected
from tests.mcp.scripted_model import ScriptedModel

TRANSPORTS = ("http", "sse")


def played(server: Running, transport: str, name: str, **given: Any) -> dict[str, Any]:
    async def play() -> dict[str, Any] | AssertionError:
        async with connected(server, transport) as client:
            try:
                return await ScriptedModel(client, given).play(name)
            except AssertionError as failure:  # raised in here it would come out in a group
                return failure

    said = anyio.run(play)
    if isinstance(said, AssertionError):
        raise said
    return said


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_post_is_written_from_a_brief_with_an_image(
    open_server: Running, person: Person, transport: str
) -> None:
    person.new_term(name="Coffee")
    before = person.live_hash()
    title = f"The grind by {transport}"

    said = played(open_server, transport, "write-post", title=title)

    id_ = said["create"]["postId"]
    assert person.live_hash() == before
    assert person.page(id=id_).startswith("404")
    assert person.delivered(id=id_)["status"] == 404
    live = person.approve(id=id_)
    assert [module["type"] for module in live["modules"]] == ["hero", "prose", "callout", "faq"]
    page = person.publish(id=id_)
    assert page.startswith("200")
    for words in (title, "Taste, then turn.", "<strong>more</strong>", "A scale helps more"):
        assert words in page
    delivered = person.delivered(id=id_)
    assert (delivered["status"], delivered["body"]["title"]) == (200, title)
    assert delivered["body"]["featuredMediaId"] == said["image"]["mediaId"]
    hands = person.hands(id=id_)
    assert {tuple(by) for by in hands.values()} == {("general-assistant", "local", "mcp", "editor")}
    assert {"post.title", "post.featuredMediaId", "post.taxonomyTermIds"} <= set(hands)
    assert f"modules.{said['callout']['postModuleId']}" in hands


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_post_is_translated_to_german(
    open_server: Running, person: Person, transport: str
) -> None:
    post = person.new_post(title=f"Filter by {transport}")
    before = person.live_hash()
    title, slug = f"Filterkaffee über {transport}", f"filterkaffee-{transport}"

    said = played(
        open_server, transport, "translate-post", postId=post["id"], title=title, slug=slug
    )

    id_ = said["german"]["translationId"]
    assert person.live_hash() == before
    assert person.delivered(id=id_)["status"] == 404
    person.approve(id=id_)
    page = person.publish(id=id_)
    assert page.startswith("200")
    for words in (title, "Die Bohnen <strong>mahlen</strong>", "92 °C."):
        assert words in page
    assert "Grind the beans" not in page
    delivered = person.delivered(id=id_)["body"]
    assert (delivered["locale"], delivered["url"]) == ("de", f"/de/blog/{slug}")
    assert delivered["translations"] == [
        {"id": post["id"], "locale": "en", "url": f"/blog/filter-by-{transport}"}
    ]
    by = {tuple(hand) for hand in person.hands(id=id_).values()}
    assert by == {("translator", "local", "mcp", "editor")}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_seo_of_ten_posts_is_improved(
    open_server: Running, person: Person, transport: str
) -> None:
    word = f"Espresso{transport}"
    posts = [person.new_post(title=f"{word} {number}")["id"] for number in range(10)]
    before = person.live_hash()

    said = played(open_server, transport, "improve-seo", word=word)

    assert sorted(item["id"] for item in said["found"]["items"]) == sorted(posts)
    assert person.live_hash() == before
    assert "in three steps" not in person.page(id=posts[0])
    for number, id_ in enumerate(posts):
        person.approve(id=id_)
        page = person.page(id=id_)
        assert f"{word} {number} in three steps" in page
        assert f"{word} {number}: grind, pour, wait." in page
        hands = person.hands(id=id_)
        for path in ("post.metaTitle", "post.metaDescription"):
            assert hands[path] == ["seo-specialist", "local", "mcp", "editor"]


def test_each_language_is_reported_and_a_cancelled_call_keeps_its_proposals(
    open_server: Running, person: Person
) -> None:
    id_, tool = person.new_post(title="Many languages")["id"], "create_translations_ai_review_bulk"
    languages = ["de", *(f"x{number}" for number in range(49))]
    told: list[tuple[float, float | None, str | None]] = []

    async def session() -> Any:
        async with connected(open_server, "http") as client:
            with anyio.CancelScope() as scope:

                async def leave(*step: Any) -> None:
                    told.append(step)
                    scope.cancel()

                given = {"postId": id_, "locales": languages}
                await client.call_tool(tool, given, progress_callback=leave)
            assert scope.cancelled_caught
            return await client.call_tool(tool, {"postId": id_, "locales": ["de", "en"]})

    again = anyio.run(session).structured_content["items"]

    assert told[0] == (1, 50, "de")
    assert [(row["locale"], row["ok"]) for row in again] == [("de", True), ("en", False)]
    assert again[0]["existed"] is True
