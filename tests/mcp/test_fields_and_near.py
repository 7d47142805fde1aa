"""`fields` of lists, and near matches where a search or an address finds nothing."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_bridge.access.principals import Principal
from proofroom.core.content_scope import ContentScope
from proofroom.core.search import near_matches
from proofroom.core.tools import all_tools, get_tool
from proofroom.core.tools.pagination import Paged
from proofroom.core.tools.schemas import result_schema
from tests import make
from tests.contract.test_tool_walk import arguments_of
from tests.mcp.calling import by, done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]


def test_a_list_of_posts_has_the_fields_that_were_asked_for() -> None:
    post = make.post("Tea", slug="tea", metaTitle="Green tea")

    row = done("list_posts", fields=["metaTitle", "slug"])["items"][0]
    searched = done("list_posts", q="tea", fields=["metaTitle"])["items"][0]

    assert row == {"id": str(post.pk), "slug": "tea", "metaTitle": "Green tea"}
    assert searched == {"id": str(post.pk), "metaTitle": "Green tea"}


def test_a_cursor_holds_for_other_fields() -> None:
    for number in range(3):
        make.post(f"Post {number}", slug=f"post-{number}")
    whole = [row["id"] for row in done("list_posts")["items"]]

    first = done("list_posts", limit=2, fields=["slug"])
    second = done("list_posts", limit=2, cursor=first["nextCursor"])

    assert [row["id"] for row in [*first["items"], *second["items"]]] == whole


@pytest.mark.parametrize("name", ["list_posts", "list_modules", "list_agents", "search_media"])
def test_an_unknown_field_is_refused_with_the_known_ones(name: str) -> None:
    arguments = {"q": "tea"} if name == "search_media" else {}

    code, text = refused(name, fields=["titel"], **arguments)

    assert code == "unknown_field"
    assert "have no field 'titel'" in text
    assert "Known: " in text


def _lists() -> list[str]:
    return [tool.name for tool in all_tools() if issubclass(tool.arguments, Paged)]


@pytest.mark.parametrize("name", _lists())
def test_narrow_rows_are_what_the_tool_promises(name: str) -> None:
    post = make.post()
    make.global_module()
    operator = Principal(id="client:fields", user_id=make.user("ai_agent").pk, diagnostics=True)
    tool = get_tool(name)
    assert tool is not None
    assert tool.result is not None
    schema = result_schema(tool.result)
    row = schema["properties"]["items"]["items"].get("properties", {})
    if not row:
        assert name == "tail_activity_logs"  # its rows differ by event
        return
    first, last = next(iter(row)), list(row)[1]

    answer = done(name, operator, **arguments_of(name, post), fields=[last])

    assert not list(Draft202012Validator(schema).iter_errors(answer))
    for item in answer["items"]:
        assert first in item
        assert set(item) <= {first, last}


def test_a_search_without_a_hit_names_near_posts() -> None:
    post = make.post("First crack", slug="first-crack")
    make.post("Filter coffee", slug="filter-coffee")

    answer = done("list_posts", q="first-crak")

    assert answer["items"] == []
    assert answer["near"] == [
        {"id": str(post.pk), "title": "First crack", "url": "/blog/first-crack"}
    ]
    assert "near" not in done("list_posts", q="crack")
    assert "near" not in done("list_posts", q="zzz")


def test_near_posts_pass_the_filters_and_the_scope() -> None:
    make.post("First crack", slug="first-crack")
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("pages", "posts.view", scope=scope)

    assert "near" not in done("list_posts", q="first-crak", locale="de")
    assert "near" not in done("list_posts", q="first-crak", status="draft")
    assert "near" not in done("list_posts", by("pages"), q="first-crak")


def test_a_search_for_files_without_a_hit_names_near_files() -> None:
    asset = make.image("chemex.png", alt_text="A chemex with coffee")

    near: list[dict[str, Any]] = [
        {"id": str(asset.pk), "filename": "chemex.png", "altText": "A chemex with coffee"}
    ]
    assert done("search_media", q="chemexx")["near"] == near
    assert done("list_media", q="chemexx")["near"] == near
    assert "near" not in done("list_media", q="chemexx", mime="application/pdf")


def test_a_trace_names_near_addresses_of_published_posts() -> None:
    make.post("First crack", slug="first-crack")
    make.post("First crak", slug="first-crakk", status="draft")
    admin = Principal(id="client:admin", user_id=make.user("admin").pk, diagnostics=True)

    missed = done("trace_url_resolution", admin, path="/blog/first-crak")
    hit = done("trace_url_resolution", admin, path="/blog/first-crack")

    assert missed["near"] == ["/blog/first-crack"]
    assert "near" not in hit


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("first-crak", ["a", "b"]),
        ("first kcrack", ["a", "b"]),
        ("FIRST CRACK", ["a", "b"]),
        ("first roast", []),
        ("café", ["c"]),
        ("", []),
        ("x" * 5_000, []),
    ],
)
def test_near_matches(query: str, found: list[str]) -> None:
    texts = [("a", "The first crack"), ("b", "first-crack-again"), ("c", "Cafe and tea")]

    assert near_matches(query, texts) == found
