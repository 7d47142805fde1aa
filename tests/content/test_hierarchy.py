"""The tree of pages: allowed parents, order, and addresses."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from content.posts.trash import delete_post
from content.posts.variations import create_variation
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.contract.endpoint import NOBODY

pytestmark = pytest.mark.django_db


def page(title: str, **words: Any) -> Post:
    return make.post(title, type="page", slug=title.lower(), **words)


def below(child: Post, parent: Post) -> Any:
    body = {"parentId": str(parent.pk)}
    return ApiClient("editor").write("PUT", f"/api/posts/{child.pk}", body)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_page_cannot_stand_below_itself(depth: int) -> None:
    pages = [page(f"P{number}") for number in range(depth + 1)]
    for number in range(depth):
        below(pages[number + 1], pages[number])
    body = {"parentId": str(pages[-1].pk)}

    refused("PUT", f"/api/posts/{pages[0].pk}", body, 422, "parent_cycle", "parentId")


def test_a_parent_is_a_page_of_the_same_language_that_is_there() -> None:
    child = page("Child")
    german, blog, gone = page("German", locale="de"), make.post(), page("Gone")
    delete_post(post_id=gone.pk, actor=make.actor())
    original = page("Original")
    variation = create_variation(post_id=original.pk, variation="B", actor=make.actor())
    path = f"/api/posts/{child.pk}"

    for parent in (german.pk, blog.pk, gone.pk, variation.pk, NOBODY, "nonsense", 1, True, "\x00"):
        body = {"parentId": str(parent) if not isinstance(parent, int) else parent}
        client = ApiClient("editor")
        answer = client.write("PUT", path, body, expect=422)
        assert len(answer["details"]) == 1
    assert Post.objects.get(pk=child.pk).parent_id is None
    body = {"parentId": str(page("Above").pk)}
    refused("PUT", f"/api/posts/{blog.pk}", body, 422, "invalid", "parentId")


def test_moving_a_page_moves_all_below_it_and_nothing_else() -> None:
    top, middle, leaf, other = page("Top"), page("Middle"), page("Leaf"), page("Other")
    below(leaf, middle)
    below(middle, top)

    paths = dict(Post.objects.values_list("pk", "path"))

    assert paths[leaf.pk] == "/top/middle/leaf"
    assert paths[middle.pk] == "/top/middle"
    assert (paths[top.pk], paths[other.pk]) == ("/top", "/other")


@pytest.mark.parametrize("number", [10**7, -(10**7), 1.5, True, "1", [], 2**70])
def test_an_order_is_a_whole_number(number: Any) -> None:
    post = page("Page")

    answer = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"orderIndex": number}, expect=422
    )

    assert list(answer["details"]) == ["orderIndex"]
    assert Post.objects.get(pk=post.pk).order_index == 0


def test_pages_are_listed_in_their_order() -> None:
    editor = ApiClient("editor")
    for title, order in (("C", 3), ("A", 1), ("B", 2)):
        editor.write("PUT", f"/api/posts/{page(title).pk}", {"orderIndex": order})

    rows = editor.read("/api/posts?type=page&ordering=orderIndex")["data"]

    assert [(row["title"], row["orderIndex"]) for row in rows] == [("A", 1), ("B", 2), ("C", 3)]
