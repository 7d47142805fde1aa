"""Cached answers by their relevant query parameters, because links carry many others."""

from __future__ import annotations

from typing import Any

import pytest

from content.models import Post
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.front_cache import reduced_query
from tests import make
from tests.front import Front

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/blog/how-to-brew-filter-coffee"
LIST = "/api/public/posts"


@pytest.fixture(autouse=True)
def long_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom.core.caching.content_version_cache.LEASE_SECONDS", 3600)


@pytest.mark.parametrize(
    ("query", "reduced"),
    [
        ("", ""),
        ("utm_source=mail&fbclid=x", ""),
        ("utm_source=mail&page=2", "page=2"),
        ("page=2&page=3", "page=2&page=3"),
        ("q=b&page=1&x", "page=1&q=b"),
        ("%70age=2", "page=2"),
        ("page=%C3%BC", "page=%FC".replace("%FC", "%C3%83%C2%BC")),
        ("page", "page="),
        ("xpage=2&page2=3&Page=4", ""),
        ("a;page=2", ""),
        ("page=1%26q=2", "page=1%26q%3D2"),
    ],
)
def test_a_query_is_reduced_to_the_parameters_with_known_names(query: str, reduced: str) -> None:
    assert reduced_query(query, {"page", "q"}) == reduced


@pytest.mark.parametrize("door", [PAGE, f"{PAGE}.md", "/blog", "/blog/feed.xml", "/llms.txt"])
def test_a_cached_page_serves_all_links_to_it(door: str) -> None:
    make.post()
    front = Front()

    made = front.get(f"{door}?utm_source=mail")
    kept = [front.get(door), front.get(f"{door}?fbclid=1&utm_source=a%20b")]

    assert (made.status, made.is_kept) == (200, False)
    assert all(answer.is_kept and answer.content == made.content for answer in kept)
    make.edited(Post.objects.get(), {"title": "Tea", "metaTitle": "Tea"})
    assert "Tea" in front.get(f"{door}?utm_source=mail").text


def test_each_list_page_is_cached_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom_apps.website.list_pages.LIST_PAGE_SIZE", 1)
    make.post("Tea", slug="tea")
    make.post("Coffee", slug="coffee")
    front = Front()
    front.get("/blog")

    second = front.get("/blog?page=2&utm_source=mail")
    again = front.get("/blog?fbclid=x&page=2")

    assert (second.is_kept, again.is_kept) == (False, True)
    assert again.content == second.content != front.get("/blog").content
    assert front.get("/blog?page=3").status == 404


@pytest.mark.parametrize("query", ["sent=1", "variation=B", "page=2"])
def test_what_a_page_may_look_at_has_an_answer_of_its_own(query: str) -> None:
    make.post()
    front = Front()
    front.get(PAGE)

    assert not front.get(f"{PAGE}?{query}").is_kept


@pytest.mark.parametrize("query", ["sent=1", "variation=B", "page=2", "q=coffee", "page=1&q=b"])
def test_queries_of_which_there_is_no_end_are_not_kept(query: str) -> None:
    make.post()
    front = Front()
    answers.clear()

    for _ in range(2):
        assert front.get(f"{PAGE}?{query}").status == 200

    assert not front.get(f"{PAGE}?{query}").is_kept
    assert not [key for key in answers._answers if PAGE in key]


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ("", "?utm_source=x", "?fields=title"),
        ("?fields=title,slug", "?_n=1&fields=title,slug", "?fields=slug"),
        ("?variation=B", "?variation=B&_n=1", "?variation=C"),
    ],
)
def test_a_delivered_post_is_cached_by_its_declared_parameters(
    first: str, same: str, other: str
) -> None:
    address = f"{LIST}/{make.post().pk}"
    front = Front()
    made = front.get(address + first)

    kept = front.get(address + same)

    assert (made.status, made.is_kept, kept.is_kept) == (200, False, True)
    assert kept.content == made.content
    assert not front.get(address + other).is_kept


def test_every_parameter_of_a_delivered_list_counts() -> None:
    make.post("Tea", slug="tea")
    make.post("Coffee", slug="coffee")
    make.post("Kaffee", slug="kaffee", locale="de")
    front = Front()
    front.get(f"{LIST}?_n=1")
    assert front.get(LIST).is_kept

    for query in (
        "type=blog", "locale=de", "allLocales=true", "slug=tea", "taxonomy=x", "search=tea",
        "ordering=title", "page=2", "per_page=1", "fields=title",
    ):  # fmt: skip
        assert not front.get(f"{LIST}?{query}").is_kept, query
        assert front.get(f"{LIST}?{query}&utm_source=x").is_kept, query


def test_requests_with_ignored_parameters_are_cached_and_do_not_count(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "1/hour"}
    make.post()
    front, caller = Front(), {"REMOTE_ADDR": "198.51.100.7"}

    statuses = [front.get(f"{LIST}?_n={number}", **caller).status for number in range(4)]

    assert statuses == [200, 200, 200, 200]
    assert front.get(f"{LIST}?type=blog", **caller).status == 429
