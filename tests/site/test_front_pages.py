"""Pages that are made before Django sees the request: what it answers, and for whom it would answer the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from content.models import Post
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.front_cache import learnt_lines
from proofroom.core.middleware import STAFF_COOKIE
from tests import make
from tests.front import Answered, Front

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/blog/how-to-brew-filter-coffee"
SEARCH = "/search?q=coffee"
DOORS = [PAGE, f"{PAGE}.md", "/blog", "/blog.md", "/blog/feed.xml", "/llms.txt"]


@pytest.fixture(autouse=True)
def nothing_is_known() -> Iterator[None]:
    learnt_lines.clear()
    yield
    learnt_lines.clear()


def shared(answer: Answered) -> tuple[int, dict[str, str], bytes]:
    """What is the same for each call."""
    apart = {"x-request-id"}
    headers = {
        name.lower(): value for name, value in answer.headers.items() if name.lower() not in apart
    }
    return answer.status, headers, answer.content


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("query", ["", "?n=1", "?utm_source=a%20b&page=1"])
@pytest.mark.parametrize("encoding", ["", "gzip, br"])
def test_it_is_what_django_answers(door: str, query: str, encoding: str) -> None:
    make.post()
    front, more = Front(), {"HTTP_ACCEPT_ENCODING": encoding} if encoding else {}

    of_django = front.get(door + query, **more)
    answers.clear()
    answer = front.get(door + query, **more)

    assert (of_django.status, of_django.is_read, answer.is_read) == (200, False, True)
    assert shared(answer) == shared(of_django)
    assert answer.headers["X-Request-ID"] != of_django.headers["X-Request-ID"]


@pytest.mark.parametrize(
    "query", ["", "&page=1", "&n=%20a+b", "+filter", "&q=absent", "%3Cscript%3E"]
)
@pytest.mark.parametrize(
    "more",
    [{}, {"HTTP_ACCEPT_ENCODING": "gzip, br"}, {"HTTP_IF_NONE_MATCH": "*"}, {"HTTP_ACCEPT": "text/markdown"}],
    ids=str,
)  # fmt: skip
def test_a_search_is_answered_as_django_answers_it(query: str, more: dict[str, str]) -> None:
    make.post()
    make.post("Kaffee", locale="de", markdown="coffee")
    front = Front()

    for address in (SEARCH + query, f"/de{SEARCH}{query}"):
        learnt_lines.clear()
        of_django = front.get(address, **more)
        answer = front.get(address, **more)

        assert (of_django.status, of_django.is_read, answer.is_read) == (200, False, True)
        assert shared(answer) == shared(of_django)
        assert "ETag" not in answer.headers
        assert answer.headers["Cache-Control"] == "private, max-age=60"


def test_a_search_costs_three_queries_and_sees_edits_at_once_and_nothing_that_is_not_live() -> None:
    post, front = make.post(), Front()
    make.staged(post, {"title": "Coffee canary"})
    make.post("Coffee canary", slug="canary", status="draft")
    front.get(SEARCH)
    front.get(SEARCH)

    with CaptureQueriesContext(connection) as caught:
        answer = front.get(SEARCH)

    assert answer.is_read
    assert "canary" not in answer.text
    assert "1 page with" in answer.text
    assert len(caught) == 3

    make.edited(Post.objects.get(pk=post.pk), {"title": "Coffee again"})
    assert "<mark>Coffee</mark> again" in front.get(SEARCH).text


def test_searches_are_counted_with_those_that_django_answers(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "3/hour"}
    make.post()
    front, caller = Front(), {"REMOTE_ADDR": "198.51.100.7"}
    front.get("/search?q=a")

    answers_ = [front.get(SEARCH, **caller) for _ in range(5)]

    assert [answer.status for answer in answers_] == [200, 200, 200, 429, 429]
    assert answers_[0].is_read
    assert "RateLimit" not in str(answers_[0].headers)


@pytest.mark.parametrize("address", [f"{SEARCH}&page=9", f"{SEARCH}&page=x", "/search/?q=a"])
def test_a_search_that_finds_no_page_is_answered_by_django(address: str) -> None:
    make.post()
    front = Front()
    front.get(SEARCH)

    answer = front.get(address)

    assert (answer.status, answer.is_read) == (301 if "/?" in address else 404, False)


def test_markdown_that_is_accepted_is_made_too() -> None:
    make.post()
    front, accepts = Front(), {"HTTP_ACCEPT": "text/markdown"}

    of_django = front.get(f"{PAGE}?n=1", **accepts)
    answer = front.get(f"{PAGE}?n=2", **accepts)

    assert answer.is_read
    assert shared(answer) == shared(of_django)
    assert answer.headers["Cache-Control"].startswith("private")


def test_headers_of_one_page_are_on_no_other() -> None:
    post, front = make.post(), Front()
    hidden = make.post("Hidden", slug="hidden", robotsJson={"index": False})

    first = front.get(f"{hidden.path}.md")
    answer = front.get(f"{post.path}.md")
    again = front.get(f"{hidden.path}.md?n=1")

    assert (first.is_read, answer.is_read, again.is_read) == (False, True, True)
    assert "X-Robots-Tag" not in answer.headers
    assert first.headers["X-Robots-Tag"] == again.headers["X-Robots-Tag"] == "noindex"


def test_what_it_made_is_kept_for_the_next_one_and_costs_one_query() -> None:
    post, front = make.post(), Front()
    other = make.post("Tea", slug="tea")
    front.get(other.path)
    front.get(f"{other.path}?n=1")

    with CaptureQueriesContext(connection) as caught:
        answer = front.get(post.path)

    assert answer.is_read
    assert len(caught) == 1
    assert front.get(post.path).is_kept
    assert not front.get(f"{post.path}?n=1").is_kept


@pytest.mark.parametrize(
    "meta",
    [
        {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}=x"},
        {"HTTP_COOKIE": f"{STAFF_COOKIE}=1"},
        {"HTTP_AUTHORIZATION": "Bearer x"},
        {"HTTP_HOST": "evil.example"},
        {"wsgi.url_scheme": "https"},
    ],
    ids=str,
)
def test_whoever_may_be_somebody_is_answered_by_django(meta: dict[str, str]) -> None:
    make.post()
    front = Front()
    front.get(PAGE)

    answer = front.get(f"{PAGE}?n=1", **meta)

    assert not answer.is_read
    assert front.passed == 2


@pytest.mark.parametrize("address", ["/admin/", "/api/public/posts", "/health", "/static/x.css"])
def test_other_addresses_are_none_of_its(address: str) -> None:
    make.post()
    front = Front()
    front.get(PAGE)

    assert not front.get(address).is_read


def test_a_site_with_middleware_of_its_own_has_it_run() -> None:
    make.post()
    front = Front()
    front.get(PAGE)
    assert front.get(f"{PAGE}?n=1").is_read

    with override_settings(MIDDLEWARE=[*settings.MIDDLEWARE, "proofroom.core.middleware.CSP"]):
        front.get(PAGE)
        assert not front.get(f"{PAGE}?n=2").is_read


@pytest.mark.parametrize(
    ("address", "more"),
    # Behind the last page of a list, posts are counted again.
    [("/blog/nothing-here", 0), ("/blog/", 0), ("/blog?page=99", 1), ("/en/blog", 0)],
)
def test_where_no_page_stands_django_looks_for_no_post_again(address: str, more: int) -> None:
    make.post()
    front = Front()
    front.get(address)
    with CaptureQueriesContext(connection) as of_django:
        before = front.get(f"{address}{'&' if '?' in address else '?'}n=1")
    front.get(PAGE)
    with CaptureQueriesContext(connection) as caught:
        answer = front.get(f"{address}{'&' if '?' in address else '?'}n=1")

    assert (before.is_read, answer.is_read) == (False, False)
    assert answer.status in (301, 404)
    assert (answer.status, answer.content) == (before.status, before.content)
    assert len(caught) <= len(of_django) + more


def test_nothing_that_is_not_live_is_ever_made() -> None:
    post, front = make.post(), Front()
    front.get(PAGE)
    make.staged(post, {"title": "Canary waits"})
    draft = make.post("Canary draft", slug="canary", status="draft")

    seen = [front.get(f"{door}?n={number}") for number, door in enumerate(DOORS)]
    hidden = front.get(draft.path)

    assert all(answer.status == 200 and "Canary" not in answer.text for answer in seen)
    assert (hidden.status, hidden.is_read) == (404, False)
    assert "Canary" not in hidden.text


def test_what_fails_here_django_answers_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make.post()
    front = Front()
    front.get(PAGE)

    def fail(*arguments: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("proofroom_apps.website.front_pages.PageReader.read", fail)
    answer = front.get(f"{PAGE}?n=1")

    assert (answer.status, answer.is_read) == (200, False)
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error.exc_info is not None
    assert PAGE in error.getMessage()


def test_an_edit_is_seen_at_once() -> None:
    post, front = make.post(), Front()
    for number in range(2):
        front.get(f"{PAGE}?n={number}")

    make.edited(Post.objects.get(pk=post.pk), {"title": "Tea", "metaTitle": "Tea"})

    answer = front.get(f"{PAGE}?n=9")
    assert answer.is_read
    assert "Tea" in answer.text
