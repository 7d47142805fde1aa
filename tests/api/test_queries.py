"""The number of statements of an endpoint: few, and the same for forty posts as for five."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.document.document import PostDocument
from content.models import Layer, Post
from content.posts.create import create_post
from content.store import document_edits
from proofroom.core.caching.answer_cache import answers
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

# Two look up the session, without Redis, and its user. SQLite stores the words for search with one
# more than PostgreSQL.
LIST, FILTERED_LIST, DETAIL, READ, APPROVE = 3, 5, 6, 3, 16


def article(number: int, modules: int) -> Post:
    def fill(document: PostDocument) -> PostDocument:
        for place in range(modules):
            document, _ = document_edits.add_module(
                document, type="callout", props={"title": f"Callout {place}"}
            )
        return document

    return create_post(
        actor=make.actor("admin"),
        type="blog",
        fields={"title": f"Article {number}"},
        status="published",
        edit=fill,
    )


def statements(client: ApiClient, method: str, path: str, body: Any = None) -> int:
    with CaptureQueriesContext(
        connection,
    ) as caught:
        response = client.send(method, path, body) if body is not None else client.get(path)
    assert response.status_code == 200, response.content
    return len([query for query in caught if not query["sql"].startswith(("SAVEPOINT", "RELEASE"))])


@pytest.mark.parametrize("path", ["/api/posts?per_page=100", "/api/public/posts?per_page=100"])
def test_a_list_takes_as_many_for_forty_posts_of_eight_modules(path: str) -> None:
    editor = ApiClient("editor")
    for number in range(5):
        make.staged(article(number, 1), {"title": f"Staged {number}"})
    few = statements(editor, "GET", path)
    for number in range(5, 40):
        make.staged(article(number, 8), {"title": f"Staged {number}"})
    answers.clear()

    many = statements(editor, "GET", path)

    assert few == many <= LIST


def test_twenty_posts_of_five_modules() -> None:
    for number in range(20):
        article(number, 5)

    assert statements(ApiClient("editor"), "GET", "/api/posts") <= LIST
    assert statements(ApiClient("editor"), "GET", "/api/posts?type=blog") <= FILTERED_LIST


@pytest.mark.parametrize(
    "end", ["", "/modules", "/changes?layer=review", "/changes?layer=ai-review", "/export"]
)
def test_a_post_takes_as_many_for_eight_modules_as_for_one(end: str) -> None:
    editor = ApiClient("editor")
    counts = []
    for number, size in enumerate((1, 8)):
        post = article(number, size)
        make.staged(post, {"title": "Staged"})
        make.staged(post, {"excerpt": "Staged"}, layer=Layer.REVIEW)
        counts.append(statements(editor, "GET", f"/api/posts/{post.pk}{end}"))

    assert counts[0] == counts[1] <= DETAIL


def test_a_post_is_read_with_all_its_layers_in_one() -> None:
    post = article(1, 3)
    make.staged(post, {"title": "Staged"})
    make.staged(post, {"excerpt": "Staged"}, layer=Layer.REVIEW)

    assert statements(ApiClient("editor"), "GET", f"/api/posts/{post.pk}") <= READ


def approval(paths: int) -> int:
    """Return the statements of an approval with that many changed props, half of them submitted to Review."""
    post = article(paths, paths)

    def change(document: PostDocument) -> PostDocument:
        for module in document.modules:
            document = document_edits.update_module(document, module.id, props={"title": "New"})
        return document

    make.staged(post, layer=Layer.REVIEW, edit=change)
    editor = ApiClient("editor")
    seen = editor.read(f"/api/posts/{post.pk}/changes")
    assert len(seen["changes"]) == paths
    return statements(
        editor,
        "POST",
        f"/api/posts/{post.pk}/review/approve",
        {"digest": seen["digest"], "paths": [change["path"] for change in seen["changes"]]},
    )


def test_an_approval_of_fifty_paths() -> None:
    one, fifty = approval(2), approval(50)

    assert one == fifty <= APPROVE


def test_revisions_and_provenance_take_as_many_for_twenty() -> None:
    post = article(1, 1)
    editor = ApiClient("editor")
    url = f"/api/posts/{post.pk}"
    few = [statements(editor, "GET", f"{url}/{name}") for name in ("revisions", "provenance")]
    for number in range(20):
        editor.write("PUT", url, {"title": f"Title {number}"})

    many = [statements(editor, "GET", f"{url}/{name}") for name in ("revisions", "provenance")]

    assert few == many
    assert max(many) <= DETAIL
