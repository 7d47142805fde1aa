"""Fresh rows of the benchmarks request unique URLs."""

from __future__ import annotations

import pytest

from benchmarks.endpoints import Endpoint, endpoints
from benchmarks.load import Series
from benchmarks.seed import Seeded

SEEDED = Seeded(
    published=[f"post-{number}" for number in range(100)],
    pages=[f"/blog/post-{number}" for number in range(60)],
    any=[f"post-{number}" for number in range(140)],
    editor_id=1,
)
FRESH = {
    "GET /api/public/posts, cold",
    "GET /api/public/posts/:id, cold",
    "GET /blog/:slug, the page, cold",
    "GET /blog/:slug, as Markdown",
    "GET /blog, the list",
    "GET /blog/feed.xml",
    "GET /search",
}


@pytest.fixture
def changes() -> list[int]:
    return []


@pytest.fixture
def found(changes: list[int]) -> list[Endpoint]:
    return endpoints(SEEDED, {}, '"etag"', changes.append)


def asked_by(series: Series, count: int) -> list[str]:
    """Return the URLs of that many requests."""
    return [series.next().split()[1].decode() for _ in range(count)]


def test_every_row_that_is_not_of_the_editors_and_not_warm_is_fresh(found: list[Endpoint]) -> None:
    assert {item.name for item in found if item.series.is_fresh} == FRESH


def test_no_address_of_a_fresh_row_is_asked_for_twice(found: list[Endpoint]) -> None:
    fresh = [
        address
        for item in found
        if item.series.is_fresh
        for address in asked_by(item.series, item.series.supply or 40)
    ]
    others = {
        address
        for item in found
        if not item.series.is_fresh and item.floor.startswith(("live", "page"))
        for address in asked_by(item.series, 40)
    }

    assert len(fresh) == len(set(fresh)) == 90 + 50 + 435 + 3 * 40
    assert others.isdisjoint(fresh)


def test_a_row_with_posts_of_its_own_ends_with_them(found: list[Endpoint]) -> None:
    page = next(item for item in found if item.name == "GET /blog/:slug, the page, cold")
    asked_by(page.series, 25)

    with pytest.raises(SystemExit, match="All 25 requests were sent"):
        page.series.next()


def test_lists_and_feeds_change_before_each_request(
    found: list[Endpoint], changes: list[int]
) -> None:
    for item in found:
        asked_by(item.series, 2)

    assert changes == 3 * [0, 1]
