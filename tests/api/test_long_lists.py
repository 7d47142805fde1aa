"""Long lists: deep pages, and the total number of posts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Post
from content.posts.trash import delete_post
from content.store import post_queries
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
PUBLIC, MANAGED = "/api/public/posts", "/api/posts"
MOMENT: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def titles(path: str) -> list[str]:
    return [row["title"] for row in ApiClient("editor").read(path)["data"]]


@pytest.fixture
def deep_from_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Treat every page of two rows except the first as deep."""
    monkeypatch.setattr(post_queries, "DEEP_FROM", 2)
    post_queries._page_statement.cache_clear()
    yield
    post_queries._page_statement.cache_clear()


@pytest.mark.usefixtures("deep_from_two")
@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
@pytest.mark.parametrize("query", ["", "ordering=title", "type=blog", "search=post"])
def test_deep_pages_continue_where_the_previous_ones_end(path: str, query: str) -> None:
    for number in range(7):
        make.post(f"A post {number}", type="blog")
    make.post("A post of another type", type="page")

    whole = titles(f"{path}?{query}")
    parts = [titles(f"{path}?{query}&per_page=2&page={number}") for number in (1, 2, 3, 4, 5)]

    assert len(whole) in (7, 8)
    assert [title for part in parts for title in part] == whole
    assert parts[4] == []


@pytest.mark.usefixtures("deep_from_two")
@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("name", [*post_queries.ORDERINGS])
def test_deep_pages_have_the_rows_of_every_order(path: str, sign: str, name: str) -> None:
    for number in range(8):
        make.post(f"Post {number * 5 % 8}", type="blog")
    # Ids order equal rows. Rows without a date are sorted separately.
    same = {"updated_at": MOMENT, "created_at": MOMENT, "published_at": MOMENT, "order_index": 3}
    Post.objects.filter(title__in=["Post 2", "Post 3", "Post 4", "Post 5"]).update(**same)
    Post.objects.filter(title__in=["Post 0", "Post 6"]).update(published_at=None)

    ordered = Post.objects.order_by(f"{sign}{post_queries.ORDERINGS[name]}", "id")
    expected = list(ordered.values_list("title", flat=True))
    query = f"ordering={sign}{name}&per_page=2"
    pages = {number: titles(f"{path}?{query}&page={number}") for number in (4, 2, 3, 1, 5)}

    assert [title for number in (1, 2, 3, 4) for title in pages[number]] == expected
    assert pages[5] == []


@pytest.mark.usefixtures("deep_from_two")
@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
def test_a_post_that_comes_or_goes_moves_deep_pages(path: str) -> None:
    posts = [make.post(f"Post {number}") for number in range(5)]
    page_two = f"{path}?per_page=2&page=2"
    assert titles(page_two) == ["Post 2", "Post 1"]

    make.post("One more")
    assert titles(page_two) == ["Post 3", "Post 2"]

    delete_post(post_id=posts[4].pk, actor=make.actor("admin"))
    assert titles(page_two) == ["Post 2", "Post 1"]


@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
def test_a_page_beyond_the_end_says_how_many_there_are(path: str) -> None:
    assert ApiClient("editor").read(f"{path}?page=9")["meta"]["total"] == 0
    make.post("Coffee")
    assert ApiClient("editor").read(f"{path}?page=9")["meta"]["total"] == 1


def test_a_deep_page_reads_the_rows_of_its_own_alone() -> None:
    with CaptureQueriesContext(connection) as caught:
        ApiClient().read(f"{PUBLIC}?page=50")

    listed = next(one["sql"] for one in caught if "LIMIT 20 OFFSET 980" in one["sql"])
    inner = listed[listed.index(" IN (SELECT") : listed.index("LIMIT 20 OFFSET 980")]
    assert '"slug"' not in inner


@pytest.mark.parametrize("query", ["", "type=blog"])
def test_published_posts_are_counted_once_until_one_changes(query: str) -> None:
    posts = [make.post(f"Post {number}", type="blog") for number in range(3)]
    reader = ApiClient()

    def total(page: int) -> tuple[int, bool]:
        with CaptureQueriesContext(connection) as caught:
            meta = reader.read(f"{PUBLIC}?{query}&per_page=1&page={page}")["meta"]
        return meta["total"], any("COUNT(" in one["sql"] for one in caught)

    assert [total(1), total(2), total(3)] == [(3, True), (3, False), (3, False)]
    ApiClient("editor").write("PUT", f"/api/posts/{posts[0].pk}", {"status": "draft"}, expect=200)
    assert [total(2), total(1)] == [(2, True), (2, False)]
