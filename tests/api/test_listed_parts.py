"""Modules and layers in post lists, rendered by the database as JSON, equal the models'."""

from __future__ import annotations

from typing import Any, Final

import pytest

from content.models import Layer, ModuleInstance, Post, PostModule
from content.store import post_queries
from proofroom.core.json import JsonObject, format_time
from tests import make
from tests.api.wire_modules import wire_module
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
HOSTILE: Final = "\"quoted\" 'twice' \\ / \x01\x1f\x7f\b\f\t\r\n\u2028 %s %% {0} \u00e9 \u6f22 \U0001f986 </script>"
ODD_PROPS: Final[JsonObject] = {
    "text": HOSTILE,
    HOSTILE: [],
    "numbers": [0, -1, 1.5, 0.1, 1e-9, 9_007_199_254_740_993],
    "nested": {"a": [{"b": [None, True, False, "", {}]}]},
}


def place(post: Post, index: int, scope: str = "local", **values: Any) -> PostModule:
    slug = f"shared-{index}" if scope == "global" else None
    instance = ModuleInstance.objects.create(
        type="gone-long-ago", scope=scope, global_slug=slug, props=ODD_PROPS
    )
    return PostModule.objects.create(post=post, instance=instance, order_index=index, **values)


@pytest.mark.parametrize("query", ["", "?type=blog", "?ordering=title&page=1", "?search=kettle"])
def test_modules_in_their_order_with_every_kind_of_value(query: str) -> None:
    post, bare = make.post("Kettle"), make.post("Kettle and pan")
    PostModule.objects.filter(post__in=(post, bare)).delete()
    last = place(post, 7, "global", overrides={"title": HOSTILE})
    first = place(post, 2, locked=True)

    for path in ("/api/posts", "/api/public/posts"):
        body = ApiClient("editor").send("GET", f"{path}{query}").content
        found = {row["id"]: row for row in ApiClient("editor").read(f"{path}{query}")["data"]}

        assert found[str(post.pk)]["modules"] == [wire_module(first), wire_module(last)]
        assert found[str(bare.pk)]["modules"] == []
        # As compact as the rest of the answer.
        assert (
            b'"modules":[{"postModuleId":"%b","moduleInstanceId":"' % str(first.pk).encode() in body
        )
        assert b'"locked":true,"props":{' in body


@pytest.mark.parametrize("query", ["", "?type=blog", "?search=kettle"])
def test_what_is_staged_and_by_whom(query: str) -> None:
    post = make.post("Kettle")
    staged = {
        "review": make.staged(post, {"title": "A"}, layer=Layer.REVIEW),
        "aiReview": make.staged(post, {"title": "B"}),
    }
    assert staged
    drafts = {draft.layer: draft for draft in post.drafts.select_related("updated_by")}

    (row,) = ApiClient("editor").read(f"/api/posts{query}")["data"]

    for layer, name in (("review", "review"), ("ai-review", "aiReview")):
        draft = drafts[layer]
        by = draft.updated_by
        assert row["layers"][name] == {
            "exists": True,
            "updatedAt": format_time(draft.updated_at),
            "updatedBy": {"id": by.pk if by else None, "username": by.username if by else None},
            "version": draft.version,
        }


def test_a_post_that_was_deleted_between_two_statements_has_nothing_in_it() -> None:
    post = make.post("Kettle")
    rows = [*post_queries.listed_rows(post_queries.listed_posts())]
    PostModule.objects.filter(post=post).delete()
    Post.objects.filter(pk=post.pk).delete()

    post_queries.add_parts(rows, frozenset({"live_modules", "staged_layers"}))

    assert [(row["live_modules"], row["staged_layers"]) for row in rows] == [("[]", "[]")]
