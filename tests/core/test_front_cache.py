"""The front cache: answers equal to Django's, for permitted visitors, for a limited time."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import brotli
import httpx
import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from cms_project.asgi import application
from content.models import Post
from proofroom.core.caching.content_version import (
    bump_content_version,
    content_version,
    leased_state,
    live_state,
)
from proofroom.core.caching.content_version_cache import DatabaseFile, LiveState, lease
from proofroom.core.caching.front_cache import compress
from proofroom.core.models import ContentVersion
from tests import make
from tests.front import Front
from tests.queries import page_queries

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/blog/how-to-brew-filter-coffee"
LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
OF_ONE_CALL = (*LIMITS, "X-Request-ID")


def doors(post: Post) -> list[str]:
    return [
        PAGE,
        f"{PAGE}.md",
        "/blog",
        "/blog.md",
        "/blog/feed.xml",
        "/llms.txt",
        "/api/public/posts",
        "/api/public/posts?locale=en&per_page=5",
        f"/api/public/posts/{post.pk}",
        f"/api/public/resolve?path={PAGE}",
    ]


def shared(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that are equal for all visitors."""
    own = {name.lower() for name in OF_ONE_CALL}
    return {name: value for name, value in headers.items() if name.lower() not in own}


def test_a_kept_answer_is_django_s_own_and_asks_nobody(django_assert_num_queries: Any) -> None:
    post, front = make.post(), Front()
    make.staged(post, {"title": "Waits"})

    for door in doors(post):
        first = front.get(door)
        with django_assert_num_queries(0):
            again = front.get(door)

        assert (first.status, first.is_kept, again.is_kept) == (200, False, True), door
        assert (again.status, again.content) == (first.status, first.content), door
        assert shared(again.headers) == shared(first.headers), door
        assert "Content-Security-Policy" in again.headers
        assert "Waits" not in again.text
        # Only answers that are made are counted.
        assert not set(LIMITS) & set(again.headers), door


def test_a_write_is_seen_at_once_in_the_process_that_wrote() -> None:
    post, front = make.post(), Front()
    for door in doors(post):
        front.get(door)

    make.edited(post, {"title": "Tea", "metaTitle": "Tea"})

    for door in doors(post):
        answer = front.get(door)
        assert (answer.is_kept, "Tea" in answer.text) == (False, True), door
        assert front.get(door).is_kept, door


def test_what_another_process_wrote_is_seen_within_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    post, front = make.post(), Front()
    door = f"/api/public/posts/{post.pk}"
    front.get(door)

    # Bypasses the services, like writes of other processes.
    Post.objects.filter(pk=post.pk).update(title="Tea")
    ContentVersion.objects.update(number=ContentVersion.objects.get().number + 1)
    now[0] += 0.9
    before = front.get(door)
    now[0] += 0.2
    after = front.get(door)

    assert (before.is_kept, after.is_kept) == (True, False)
    assert (before.json()["title"], after.json()["title"]) == (post.title, "Tea")


def test_what_a_transaction_may_still_take_back_is_not_relied_on() -> None:
    from django.db import transaction

    make.post()
    with transaction.atomic():
        bump_content_version()
        live_state()
        assert lease.current() is None
        transaction.set_rollback(True)

    assert lease.current() is None
    assert live_state() == lease.current()
    assert content_version() == ContentVersion.objects.get().number


def test_a_read_that_a_write_overtook_renews_nothing() -> None:
    begun = lease.begin()
    lease.end()
    lease.renew(begun, LiveState(7, None))

    assert lease.current() is None


def test_the_state_is_relied_on_until_another_is_read(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr("proofroom.core.caching.content_version_cache.LEASE_SECONDS", 1000.0)
    make.post()
    with CaptureQueriesContext(connection) as caught:
        states = [leased_state() for _ in range(3)]
    assert len(caught) == 1
    assert states == [live_state()] * 3

    # Read with a page; after a failover the number may be lower.
    earlier = replace(states[0], version=states[0].version - 1)
    late = lease.begin()
    lease.renew(lease.begin(), earlier)
    assert leased_state() == earlier
    lease.renew(replace(late, began_at=late.began_at - 1), states[0])
    assert leased_state() == earlier

    lease.end()
    assert lease.current() is None


@pytest.mark.parametrize(
    ("headers", "asked"),
    [({}, 0), ({"Authorization": "Bearer x"}, 1), ({"Cookie": "sessionid=made-up"}, 1)],
)
def test_who_shows_who_they_are_is_answered_by_the_database(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], asked: int
) -> None:
    monkeypatch.setattr("proofroom.core.caching.content_version_cache.LEASE_SECONDS", 1000.0)
    monkeypatch.setattr(DatabaseFile, "has_changed", lambda self: False)
    path = f"/api/public/posts/{make.post().pk}"
    for _ in range(2):
        assert Client().get(path).status_code == 200

    assert page_queries(Client(headers=headers), path) == asked


@pytest.mark.parametrize(
    ("method", "meta"),
    [
        ("GET", {"HTTP_COOKIE": "sessionid=made-up"}),
        ("GET", {"HTTP_COOKIE": "a=b; cms_staff=1"}),
        ("GET", {"HTTP_AUTHORIZATION": "Bearer x"}),
        ("GET", {"HTTP_HOST": "elsewhere.example"}),
        ("GET", {"HTTP_HOST": ""}),
        ("GET", {"HTTP_HOST": "localhost:x"}),
        ("GET", {"wsgi.url_scheme": "https"}),
        ("GET", {"QUERY_STRING": "page=2"}),
        ("GET", {"SCRIPT_NAME": "/below"}),
        ("GET", {"CONTENT_LENGTH": "3"}),
        ("GET", {"HTTP_ACCEPT": "text/markdown"}),
        ("OPTIONS", {}),
        ("POST", {}),
        ("DELETE", {}),
    ],
    ids=str,
)
def test_other_accept_headers_are_answered_by_django(method: str, meta: dict[str, str]) -> None:
    make.post()
    front = Front()
    front.get(PAGE)
    assert front.get(PAGE, HTTP_COOKIE="_ga=1; theme=dark").is_kept

    assert not front.get(PAGE, method=method, **meta).is_kept


@pytest.mark.parametrize("meta", [{"HTTP_COOKIE": "sessionid=x"}, {"HTTP_AUTHORIZATION": "x"}])
def test_answers_to_known_users_are_never_cached(meta: dict[str, str]) -> None:
    make.post()
    front = Front()

    front.get(PAGE, **meta)

    assert not front.get(PAGE).is_kept


def test_only_marked_answers_are_cached() -> None:
    make.redirect("/old", "/new")
    make.post("Draft", slug="draft", status="draft")
    front = Front()

    for path in ("/old", "/nothing", "/blog/draft", "/search?q=tea", "/robots.txt", "/health"):
        assert not front.get(path).is_kept
        assert not front.get(path).is_kept, path


def test_conditions_are_judged_as_django_would() -> None:
    post, front = make.post(), Front()
    door = f"/api/public/posts/{post.pk}"
    first = front.get(door)
    etag, date = first.headers["ETag"], first.headers["Last-Modified"]

    for meta, status in (
        ({"HTTP_IF_NONE_MATCH": etag}, 304),
        ({"HTTP_IF_NONE_MATCH": f'"x", W/{etag}'}, 304),
        ({"HTTP_IF_NONE_MATCH": "*"}, 304),
        ({"HTTP_IF_NONE_MATCH": '"x"'}, 200),
        ({"HTTP_IF_NONE_MATCH": '"x"', "HTTP_IF_MODIFIED_SINCE": date}, 200),
        ({"HTTP_IF_MODIFIED_SINCE": date}, 304),
        ({"HTTP_IF_MODIFIED_SINCE": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
        ({"HTTP_IF_MODIFIED_SINCE": "nonsense"}, 200),
    ):
        answer = front.get(door, **meta)
        assert (answer.status, answer.is_kept, answer.headers["ETag"]) == (status, True, etag), meta
        assert bool(answer.content) is (status == 200)
        assert ("Content-Type" in answer.headers) is (status == 200)
        assert answer.headers["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    head = front.get(door, method="HEAD")
    assert (head.status, head.content, head.is_kept) == (200, b"", True)
    assert head.headers["Content-Length"] == str(len(first.content))


def test_a_page_is_not_modified_by_a_change_of_another_post() -> None:
    other = make.post("Tea", slug="tea")
    make.post()
    front = Front()
    etag = front.get(PAGE).headers["ETag"]

    make.edited(other, {"metaTitle": "Green tea"})

    assert front.get(PAGE, HTTP_IF_NONE_MATCH=etag).status == 304


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0.5, gzip;q=0.8", "gzip"),
        ("br;q=0, gzip;q=0", None),
        ("identity", None),
        ("*", None),
    ],
)
def test_bodies_are_compressed_once_for_all_who_accept_it(
    accepted: str, encoding: str | None
) -> None:
    make.post()
    front = Front()
    plain = front.get(PAGE)

    for _ in range(2):
        answer = front.get(PAGE, HTTP_ACCEPT_ENCODING=accepted)

        assert answer.headers.get("Content-Encoding") == encoding
        read = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[encoding]
        assert read(answer.content) == plain.content
        assert answer.headers["Content-Length"] == str(len(answer.content))
        assert "Accept-Encoding" in answer.headers["Vary"]
    etag = answer.headers["ETag"]
    assert (etag == plain.headers["ETag"]) is (encoding is None)
    for known in (etag, plain.headers["ETag"]):
        same = front.get(PAGE, HTTP_ACCEPT_ENCODING=accepted, HTTP_IF_NONE_MATCH=known)
        assert (same.status, same.headers["ETag"]) == (304, etag)
        assert "Content-Encoding" not in same.headers


@pytest.mark.parametrize(
    ("size", "window"), [(1_000, 16), (65_000, 16), (150_000, 18), (5_000_000, 22)]
)
def test_the_window_of_brotli_is_no_larger_than_the_body(size: int, window: int) -> None:
    """Each thread keeps the memory of its largest window (RFC 7932, 9.1 defines how a stream names it)."""
    body = b"x" * size

    packed = compress(body, "br")

    named = (packed[0] >> 1 & 7) + 17 if packed[0] & 1 else 16
    assert (named, brotli.decompress(packed)) == (window, body)


def test_the_first_answer_is_compressed_as_the_next_ones_are() -> None:
    make.post()
    front = Front()

    first = front.get(PAGE, HTTP_ACCEPT_ENCODING="gzip")
    again = front.get(PAGE, HTTP_ACCEPT_ENCODING="gzip")

    assert (first.is_kept, again.is_kept) == (False, True)
    assert (first.content, shared(first.headers)) == (again.content, shared(again.headers))
    assert first.headers["X-Request-ID"] != again.headers["X-Request-ID"]


@pytest.mark.usefixtures("one_window")
def test_only_answers_that_are_made_count_and_are_refused(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "2/minute"}
    posts, front = [make.post(slug=f"post-{number}") for number in range(3)], Front()
    doors = [f"/api/public/posts/{post.pk}" for post in posts]

    first, *kept = [front.get(doors[0]) for _ in range(5)]
    known = front.get(doors[0], HTTP_IF_NONE_MATCH=first.headers["ETag"])
    second, third, again = front.get(doors[1]), front.get(doors[2]), front.get(doors[0])

    assert [answer.status for answer in (first, *kept)] == [200] * 5
    assert [answer.is_kept for answer in (first, *kept)] == [False, *[True] * 4]
    assert first.headers["X-RateLimit-Remaining"] == "1"
    assert not any(set(LIMITS) & set(answer.headers) for answer in kept)
    assert (known.status, second.status) == (304, 200)
    assert (third.status, "Retry-After" in third.headers) == (429, True)
    # A caller beyond the limit still gets what costs nothing.
    assert (again.status, again.is_kept) == (200, True)
    assert front.get(doors[2], REMOTE_ADDR="10.0.0.1").status == 200
    assert front.get("/blog/post-0").status == 200


def test_addresses_on_the_list_are_not_counted(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "1/minute"}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"throttle_allow_ips": ("10.0.0.0/8",)})
    post, front = make.post(), Front()

    answers = [front.get(f"/api/public/posts/{post.pk}", REMOTE_ADDR="10.0.0.1") for _ in range(3)]

    assert [(answer.status, answer.is_kept) for answer in answers] == [
        (200, False), (200, True), (200, True),
    ]  # fmt: skip
    assert not set(LIMITS) & set(answers[2].headers)


def test_only_a_trusted_proxy_says_that_a_call_was_encrypted(settings: Any) -> None:
    make.post()
    front = Front()
    front.get(PAGE)
    assert front.get(PAGE, HTTP_X_FORWARDED_PROTO="https").is_kept

    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_HSTS_SECONDS = 60

    assert front.get(PAGE).is_kept
    assert not front.get(PAGE, HTTP_X_FORWARDED_PROTO="https").is_kept
    assert front.get(PAGE, HTTP_X_FORWARDED_PROTO="https").is_kept


def test_addresses_beyond_ascii_are_found_again() -> None:
    make.post("Käse", slug="kaese", locale="de")
    front = Front()
    path = "/de/blog/kaese"
    first = front.get(path)

    assert first.status == 200
    assert front.get(path).is_kept
    assert not front.get("/de/blog/k%C3%A4se").is_kept
    assert front.get("/blog/%FF").status == 404


def test_asynchronous_servers_answer_the_same() -> None:
    post = make.post()

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [
                await client.request(method, path, headers=headers)
                for path in (PAGE, f"/api/public/posts/{post.pk}")
                for method, headers in (
                    ("GET", {}), ("GET", {}), ("HEAD", {}), ("GET", {"If-None-Match": "*"}),
                    ("POST", {}),
                )
            ]  # fmt: skip

    answers = async_to_sync(ask)()

    assert [answer.status_code for answer in answers] == [200, 200, 200, 304, 405] * 2
    for first, again, head, same, _ in (answers[:5], answers[5:]):
        assert first.content == again.content
        assert (head.content, same.content) == (b"", b"")
        assert first.headers["ETag"] == again.headers["ETag"] == same.headers["ETag"]
        assert shared(first.headers).keys() == shared(again.headers).keys()


def test_an_answer_with_a_cookie_is_nobody_else_s() -> None:
    from django.test import RequestFactory

    from proofroom.core.caching.answer_cache import CachedAnswer, answers
    from proofroom.core.caching.front_cache import FrontRequest, front_cache, mark_cacheable

    request = RequestFactory().get("/own", headers={"host": "localhost"})

    def view(request: Any) -> HttpResponse:
        response = HttpResponse("mine")
        response.set_cookie("who", "me")
        return mark_cacheable(
            response, LiveState(1, None), CachedAnswer(b"mine", '"e"'), parameters=()
        )

    front_cache(view)(request)

    assert answers.get(LiveState(1, None), FrontRequest("http", "/own", request.META).key) is None


def test_an_escaped_question_mark_is_no_query() -> None:
    make.post()
    front = Front()

    assert front.get("/api/public/posts?type=page&_z=?").status == 200
    assert front.get("/api/public/posts%3Ftype=page&_z=").status == 404
