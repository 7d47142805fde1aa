"""Pages shared between processes: one renders, others send, as long as the result would be the same."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as product
from django.test import Client

from content.models import Post
from proofroom.core.caching import shared_answers as module
from proofroom.core.caching.answer_cache import answers
from proofroom.core.caching.content_memo import content_memo
from proofroom.core.caching.content_version_cache import lease
from proofroom.core.caching.shared_answers import MAX_PACKED_BYTES, SharedAnswers, shared_answers
from proofroom.core.models import ContentVersion
from tests import make
from tests.front import Answered, Front

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not product.CMS_ENV.redis_url, reason="processes share nothing"),
]
PAGE = "/blog/how-to-brew-filter-coffee"


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a Redis without short timeouts, because a busy machine must not count as an outage."""
    monkeypatch.setattr(shared_answers, "_paused_until", 0.0)
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 30.0)
    module._redis.cache_clear()
    yield
    module._redis.cache_clear()


class Processes:
    """Two processes that request one after another, so that the second uses the first one's pages."""

    def __init__(self) -> None:
        self.front = Front()

    def get(self, address: str, **meta: Any) -> Answered:
        """Request from a process with an empty memory."""
        answers.clear()
        content_memo.clear()
        lease.end()
        shared_answers._known = SharedAnswers()._known
        return self.front.get(address, **meta)


def of_all(answer: Answered) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name != "X-Request-ID"}
    return answer.status, headers, answer.content


@pytest.mark.parametrize("accepts", ["", "br", "gzip"])
@pytest.mark.parametrize("page", [PAGE, f"{PAGE}.md", "/blog", "/blog/feed.xml", "/llms.txt"])
def test_another_process_sends_what_one_made(page: str, accepts: str) -> None:
    make.post()
    both = Processes()
    first = both.get(page, HTTP_ACCEPT_ENCODING=accepts)

    second = both.get(page, HTTP_ACCEPT_ENCODING=accepts)

    assert (first.status, first.is_kept, second.is_kept) == (200, False, True)
    assert of_all(second) == of_all(first)
    known = both.get(page, HTTP_ACCEPT_ENCODING=accepts, HTTP_IF_NONE_MATCH=first.headers["ETag"])
    assert (known.status, known.is_kept, known.content) == (304, True, b"")


def test_only_a_change_of_the_same_page_ends_it() -> None:
    post, other = make.post(), make.post("Tea")
    both = Processes()
    both.get(PAGE)

    make.edited(other, {"excerpt": "Of the other"})
    assert both.get(PAGE).is_kept
    make.edited(post, {"title": "Changed"})
    changed = both.get(PAGE)
    again = both.get(PAGE)

    assert (changed.is_kept, "Changed" in changed.text) == (False, True)
    assert (again.is_kept, "Changed" in again.text) == (True, True)


def test_what_changed_so_long_ago_that_nobody_knows_it_ends_all() -> None:
    make.post()
    both = Processes()
    both.get(PAGE)

    version = ContentVersion.objects.get()
    ContentVersion.objects.update(number=version.number + 500, changes="")

    assert not both.get(PAGE).is_kept


def test_the_same_number_in_another_database_is_another_version() -> None:
    make.post()
    both = Processes()
    both.get(PAGE)
    assert both.get(PAGE).is_kept

    ContentVersion.objects.update(epoch="another")
    assert not both.get(PAGE).is_kept
    ContentVersion.objects.update(epoch="")  # by a process of an older program
    assert not both.get(PAGE).is_kept
    assert not both.get(PAGE).is_kept


def test_an_older_database_under_the_same_name_is_not_answered_from_its_future() -> None:
    post = make.post()
    both = Processes()
    before = ContentVersion.objects.values().get()
    title = Post.objects.get(pk=post.pk).title
    make.edited(post, {"title": "Of the future"})
    assert "Of the future" in both.get(PAGE).text

    Post.objects.filter(pk=post.pk).update(title=title)
    ContentVersion.objects.update(**before)

    answer = both.get(PAGE)
    assert (answer.is_kept, "Of the future" in answer.text) == (False, False)


def test_what_another_program_made_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    make.post()
    both = Processes()
    both.get(PAGE)

    monkeypatch.setattr(module, "program_digest", lambda: "of another program")
    module._namespace.cache_clear()
    try:
        assert not both.get(PAGE).is_kept
    finally:
        module._namespace.cache_clear()


def test_a_program_is_another_after_any_change_of_a_file(settings: Any, tmp_path: Any) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    settings.LOCALE_PATHS = [*settings.LOCALE_PATHS, tmp_path]
    before = module.program_digest()
    assert module.program_digest() == before

    page.write_text("new and longer")

    assert module.program_digest() != before


@pytest.mark.parametrize(
    "more",
    [
        {"HTTP_COOKIE": "sessionid=somebody"},
        {"HTTP_AUTHORIZATION": "Bearer none"},
        {"HTTP_HOST": "elsewhere.example"},
        {"REQUEST_METHOD": "POST"},
    ],
)
def test_who_may_get_something_else_is_answered_by_django(more: dict[str, str]) -> None:
    make.post()
    both = Processes()
    both.get(PAGE)

    assert not both.get(PAGE, **more).is_kept


def test_neither_queries_nor_calls_of_the_api_are_shared() -> None:
    post = make.post()
    both = Processes()

    for address in (
        f"{PAGE}?page=1",
        "/search?q=filter",
        f"/api/public/posts/{post.pk}",
        "/nothing",
    ):
        both.get(address)
        assert not both.get(address).is_kept, address


@pytest.mark.parametrize("address", ["/health/live", "/health/ready", "/admin/login/"])
def test_what_is_no_page_is_answered_without_a_look(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(module, "leased_state", lambda: looked.append(address))

    Processes().get(address)

    assert looked == []


def test_what_waits_in_review_is_in_no_shared_page() -> None:
    post = make.post()
    make.staged(post, {"title": "CANARY-9"})
    both = Processes()
    staff = Client()
    staff.force_login(make.user("admin"))

    staff.get(PAGE)
    both.get(PAGE)

    shown = both.get(PAGE)
    assert (shown.is_kept, "CANARY-9" in shown.text) == (True, False)


def test_another_page_in_the_same_slot_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS", 1)
    make.post()
    both = Processes()
    both.get("/blog")

    page = both.get(PAGE)
    assert (page.is_kept, "<h1" in page.text) == (False, True)
    assert both.get(PAGE).is_kept
    assert not both.get("/blog").is_kept


@pytest.mark.parametrize(
    "packed", [b"", b"x", b"{}", b"[]\nx", b'{"format":2,"key":"%s"}\nx', b"\xff\n\xff"]
)
def test_a_slot_that_cannot_be_read_fails_no_page(
    monkeypatch: pytest.MonkeyPatch, packed: bytes
) -> None:
    make.post()
    both = Processes()
    first = both.get(PAGE)
    key = next(key for key in answers._answers if key.startswith("front"))
    monkeypatch.setattr(
        shared_answers, "_call", lambda *_, **__: packed.replace(b"%s", key.encode())
    )

    again = both.get(PAGE)

    assert (again.status, again.is_kept, again.content) == (200, False, first.content)


def test_a_page_too_long_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PACKED_BYTES", 1000)
    make.post()
    both = Processes()
    both.get(PAGE)

    assert MAX_PACKED_BYTES > 1000
    assert not both.get(PAGE).is_kept


@pytest.fixture
def silent_redis() -> Iterator[str]:
    """Return the URL of a Redis that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_a_redis_that_says_nothing_is_asked_once(
    silent_redis: str,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.2)
    make.post()
    both = Processes()
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"redis_url": silent_redis})

    first, second = both.get(PAGE), both.get(PAGE)

    assert (first.status, second.status) == (200, 200)
    assert [first.is_kept, second.is_kept] == [False, False]
    assert sum("processes share no pages" in record.message for record in caplog.records) == 1
