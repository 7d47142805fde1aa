"""The API and the tools for users with a content scope: posts inside are available, others are not."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Layer, Post
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
RIGHTS = ("posts.view", "posts.edit", "posts.create", "posts.restore", "posts.publish")


@pytest.fixture
def inside() -> Post:
    post = make.post("Inside", type="page", slug="inside")
    make.staged(post, {"excerpt": "Waits inside"}, layer=Layer.REVIEW)
    return post


@pytest.fixture
def outside() -> Post:
    return make.post("Outside", type="blog", slug="outside")


def limited(reads_all: bool = False) -> ApiClient:
    scope = ContentScope(types=frozenset({"page"}), reads_all=reads_all)
    make.site_role("desk", *RIGHTS, scope=scope)
    return ApiClient("desk")


def test_lists_and_searches_have_what_is_inside(inside: Post, outside: Post) -> None:
    client = limited()

    for query in ("", "?search=inside", "?ordering=title", "?allLocales=true", "?status=published"):
        listed = client.read(f"/api/posts{query}")
        assert [row["id"] for row in listed["data"]] == [str(inside.pk)], query
        assert listed["meta"]["total"] == 1
    assert client.read("/api/posts?search=outside")["meta"]["total"] == 0
    assert client.read(f"/api/posts/{inside.pk}")["title"] == "Inside"
    client.read(f"/api/posts/{outside.pk}", expect=404)
    client.write("PUT", f"/api/posts/{inside.pk}", {"title": "Changed"})
    client.write("PUT", f"/api/posts/{outside.pk}", {"title": "Changed"}, expect=404)
    client.write("POST", "/api/posts", {"type": "blog", "title": "New"}, expect=403)
    client.write("POST", "/api/posts", {"type": "page", "title": "New"}, expect=201)


def test_who_may_read_the_rest_reads_it_and_changes_nothing(inside: Post, outside: Post) -> None:
    client = limited(reads_all=True)

    assert client.read("/api/posts")["meta"]["total"] == 2
    assert client.read(f"/api/posts/{outside.pk}")["title"] == "Outside"
    refused = client.write("PUT", f"/api/posts/{outside.pk}", {"title": "x"}, expect=403)
    assert refused["code"] == "outside_of_scope"
    client.write("PUT", f"/api/posts/{inside.pk}", {"title": "Changed"})


def test_the_same_by_tools(inside: Post, outside: Post) -> None:
    limited()
    principal = Principal(id="desk", user_id=make.user("desk").pk)

    def call(name: str, **arguments: Any) -> Any:
        return call_tool(principal, name, arguments)

    for arguments in ({}, {"q": "inside"}, {"hasReview": True}):
        items = call("list_posts", **arguments).structured_content["items"]
        assert [item["title"] for item in items] == ["Inside"], arguments
    assert not call("get_post_context", postId=str(inside.pk)).is_error
    refused = call("get_post_context", postId=str(outside.pk))
    unknown = call("get_post_context", postId="00000000-0000-4000-8000-000000000000")
    assert refused.is_error
    assert refused.content[0].text.replace(str(outside.pk), "") == unknown.content[0].text.replace(
        "00000000-0000-4000-8000-000000000000", ""
    )


def test_a_refusal_does_not_say_what_has_the_address(inside: Post, outside: Post) -> None:
    draft = make.post("Secret", type="blog", slug="secret", status="draft")
    Post.objects.filter(pk=draft.pk).update(path="/taken")
    client = limited()

    refused = client.write(
        "POST", "/api/posts", {"type": "page", "title": "New", "slug": "taken"}, expect=422
    )

    assert refused["code"] == "path_taken"
    assert "Secret" not in str(refused)
    known = ApiClient("editor").write(
        "POST", "/api/posts", {"type": "page", "title": "New", "slug": "taken"}, expect=422
    )
    assert "Secret" in str(known)


def test_a_list_takes_the_same_statements_however_long_it_is(inside: Post, outside: Post) -> None:
    client = limited()
    counts = []
    for number in range(2):
        counts.append(count_queries(client.read, "/api/posts"))
        for title in ("More", "Still more", "Even more"):
            make.post(f"{title} {number}", type="page", slug=f"{title.lower()[:4]}-{number}")
    assert counts[0] == counts[1]
