"""Totals of post lists: exact up to a bound, beyond it an estimate that ends no list early."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from content.models import Layer, Post
from content.store import post_queries
from content.tools import list_posts
from proofroom.core.database import row_counts
from proofroom.core.database.row_counts import RowCount
from proofroom.core.database.table_statistics import refresh_statistics
from tests import make
from tests.api_client import ApiClient
from tests.mcp.calling import done
from tests.queries import count_queries

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("counted_to_three")]
PUBLIC, MANAGED = "/api/public/posts", "/api/posts"
ESTIMATES = connection.vendor == "postgresql"
"""SQLite has no estimate."""


@pytest.fixture
def counted_to_three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lower the bound, which is compiled into the SQL of statements."""
    monkeypatch.setattr(row_counts, "COUNTED_TO", 3)
    post_queries._page_statement.cache_clear()
    list_posts._first_page.cache_clear()
    yield
    post_queries._page_statement.cache_clear()
    list_posts._first_page.cache_clear()


def meta_of(address: str) -> dict[str, object]:
    meta: dict[str, object] = ApiClient("editor").read(address)["meta"]
    return meta


def make_posts(number: int) -> None:
    for place in range(number):
        make.post(f"Post {place}", type="blog")


@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
@pytest.mark.parametrize("query", ["", "type=blog&"])
def test_a_total_is_exact_to_the_bound_and_an_estimate_beyond(path: str, query: str) -> None:
    make_posts(3)
    exact = {"total": 3, "per_page": 2, "current_page": 1, "last_page": 2}
    assert meta_of(f"{path}?{query}per_page=2") == exact

    for place in range(4):
        make.post(f"More {place}", type="blog")
    refresh_statistics(Post)
    many = {"total": 7, "per_page": 2, "current_page": 1, "last_page": 4}
    if ESTIMATES:
        many["total_is_estimate"] = True
    assert meta_of(f"{path}?{query}per_page=2") == many


@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
def test_the_last_page_says_the_exact_total(path: str) -> None:
    make_posts(7)
    refresh_statistics(Post)

    last = {"total": 7, "per_page": 2, "current_page": 4, "last_page": 4}
    assert meta_of(f"{path}?per_page=2&page=4") == last


@pytest.mark.parametrize("path", [PUBLIC, MANAGED])
@pytest.mark.parametrize("query", ["", "type=blog&"])
def test_an_estimate_that_is_too_low_hides_no_page(path: str, query: str) -> None:
    # Update the planner's statistics for a table without such posts.
    make.post("Kaffee", type="page", locale="de")
    refresh_statistics(Post)
    make_posts(9)

    titles: list[str] = []
    page = last_page = 1
    while page <= last_page:
        answer = ApiClient("editor").read(f"{path}?{query}per_page=2&page={page}")
        titles += [post["title"] for post in answer["data"]]
        page, last_page = page + 1, answer["meta"]["last_page"]

    assert sorted(titles) == [f"Post {place}" for place in range(9)]


def test_an_estimate_takes_one_more_query() -> None:
    def queries(address: str) -> int:
        client = ApiClient("editor")
        client.read(address)
        return count_queries(client.read, address)

    make_posts(3)
    few = queries(f"{MANAGED}?per_page=2"), queries(f"{MANAGED}?type=blog&per_page=2")
    make.post("One more", type="blog")
    many = queries(f"{MANAGED}?per_page=2"), queries(f"{MANAGED}?type=blog&per_page=2")

    assert many == (few[0] + 1, few[1] + 1)


def test_the_tool_says_that_its_total_is_an_estimate() -> None:
    make_posts(3)
    few = done("list_posts", limit=2)
    assert (few["total"], "totalIsEstimate" in few) == (3, False)

    post = make.post("One more", type="blog")
    refresh_statistics(Post)
    first = done("list_posts", limit=2)
    second = done("list_posts", limit=2, cursor=first["nextCursor"])
    of_type = done("list_posts", limit=2, type="blog", status="published")
    for answer in (first, second, of_type):
        assert (answer["total"], answer.get("totalIsEstimate", False)) == (4, ESTIMATES)

    make.staged(post, {"title": "Other"})
    waiting = done("list_posts", limit=2, hasAiReview=True)
    assert (waiting["total"], "totalIsEstimate" in waiting) == (1, False)
    assert waiting["items"][0]["layers"] == [Layer.AI_REVIEW.value.replace("_", "-")]


@pytest.mark.parametrize(
    ("begin", "found", "expected"),
    [
        (0, 20, RowCount(500, is_exact=False)),
        (480, 20, RowCount(501, is_exact=False)),
        (600, 20, RowCount(621, is_exact=False)),
        (600, 7, RowCount(607)),
        (480, 7, RowCount(487)),
        (600, 0, RowCount(500, is_exact=False)),
        (400, 0, RowCount(400, is_exact=False)),
    ],
)
def test_a_page_betters_an_estimate(begin: int, found: int, expected: RowCount) -> None:
    assert RowCount(500, is_exact=False).seen_from(begin, 20, found) == expected
    assert RowCount(500).seen_from(begin, 20, found) == RowCount(500)
