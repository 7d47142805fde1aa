"""Long lists: deep pages hold what shallow ones would, and published posts are counted once until one changes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.store import post_queries
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
PUBLIC, MANAGED = "/api/public/posts", "/api/posts"


def titles(path: str) -> list[str]:
    return [row["title"] for row in ApiClient("editor").read(path)["data"]]


@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
@pytest.mark.parametrize("query", ["", "ordering=title", "type=blog", "search=post"])
def test_deep_pages_go_on_where_those_before_end(
    path: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_queries, "DEEP_FROM", 2)
    monkeypatch.setattr("content.store.kept_lists.DEEP_FROM", 2)
    post_queries._page_statement.cache_clear()
    for number in range(7):
        make.post(f"A post {number}", type="blog")
    make.post("A post of another type", type="page")

    whole = titles(f"{path}?{query}")
    parts = [titles(f"{path}?{query}&per_page=2&page={number}") for number in (1, 2, 3, 4, 5)]

    post_queries._page_statement.cache_clear()
    assert len(whole) in (7, 8)
    assert [title for part in parts for title in part] == whole
    assert parts[4] == []


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
