"""What is kept of lists: their totals, and where far parts begin. They are of the moment whatever changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Thread
from typing import Final

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.models import Layer, Post
from content.posts.create import propose_post
from content.posts.publish import set_status
from content.posts.trash import delete_post, discard_proposed, purge_trash, restore_post
from content.posts.variations import create_variation
from content.store.post_queries import _page_statement
from content.translations.translate import create_translation
from mcp_bridge.access.principals import Principal
from mcp_bridge.protocol.tool_calls import call_tool
from proofroom.core.caching.content_version import content_version
from proofroom.core.content_scope import ContentScope
from proofroom.core.json import Json
from proofroom_apps.website.queries import _listed
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


class Lists:
    """The three doors to a list of posts."""

    def __init__(self) -> None:
        user = make.user("admin")
        self.browser = Client()
        self.browser.force_login(user)
        self.principal = Principal(id="client", user_id=user.pk)

    def api(self) -> int:
        total: int = self.browser.get("/api/posts").json()["meta"]["total"]
        return total

    def tool(self, **filters: Json) -> int:
        answer = call_tool(self.principal, "list_posts", {"limit": 1, **filters})
        assert answer.structured_content is not None
        total: int = answer.structured_content["total"]
        return total

    def admin(self, query: str = "") -> int:
        page = self.browser.get(f"/admin/content/post/{query}")
        total: int = page.context["cl"].result_count
        return total

    def all(self) -> tuple[int, int, int, int]:
        return self.api(), self.tool(), self.tool(status="published"), self.admin()


@pytest.fixture
def lists() -> Lists:
    return Lists()


def counts(read: Callable[[], object]) -> int:
    """How many statements counted posts."""
    with CaptureQueriesContext(connection) as queries:
        read()
    return sum(
        bool(re.search(r'COUNT\((U0|"content_post")\."id"', query["sql"])) for query in queries
    )


def test_posts_are_counted_once_until_content_changes(lists: Lists) -> None:
    make.post("Coffee")
    for read in (lists.api, lists.tool, lists.admin):
        assert [counts(read), counts(read), counts(read)] == [1, 0, 0]

    make.post("Tea")
    for read in (lists.api, lists.tool, lists.admin):
        assert [read(), counts(read)] == [2, 0]


def test_every_change_of_which_posts_there_are_counts(lists: Lists) -> None:
    admin = make.actor("admin")
    first = make.post("Coffee")
    assert lists.all() == (1, 1, 1, 1)

    proposed = propose_post(actor=make.mcp_actor(), type="blog", fields={"title": "New"}).post
    assert lists.all() == (2, 2, 1, 2)
    set_status(post_id=first.pk, status="archived", actor=admin)
    assert lists.all() == (2, 2, 0, 2)
    delete_post(post_id=first.pk, actor=admin)
    assert lists.all() == (1, 1, 0, 1)
    restore_post(post_id=first.pk, actor=admin)
    assert lists.all() == (2, 2, 0, 2)
    delete_post(post_id=proposed.pk, actor=admin)
    assert lists.all() == (1, 1, 0, 1)
    Post.objects.filter(pk=proposed.pk).update(deleted_at="2020-01-01T00:00:00Z")
    assert purge_trash(actor=admin, days=1) == 1
    assert lists.all() == (1, 1, 0, 1)
    create_variation(post_id=first.pk, variation="B", actor=admin)
    assert lists.all() == (1, 1, 0, 1)
    create_translation(post_id=first.pk, locale="de", actor=admin)
    assert lists.all() == (1, 2, 0, 2)


def test_a_proposal_that_its_run_takes_back_counts(lists: Lists) -> None:
    actor = make.agent_actor(run_id="run-1")
    proposed = propose_post(actor=actor, type="blog", fields={"title": "New"}).post
    assert lists.api() == 1

    assert discard_proposed(post_id=proposed.pk, run_id="run-1", actor=actor)

    assert lists.all() == (0, 0, 0, 0)


def test_what_another_connection_wrote_counts_at_once(lists: Lists) -> None:
    make.post("Coffee")
    assert lists.all() == (1, 1, 1, 1)

    def write() -> None:
        make.post("Tea")
        connections.close_all()

    thread = Thread(target=write)
    thread.start()
    thread.join()

    assert lists.all() == (2, 2, 2, 2)


def test_nothing_is_kept_of_what_a_transaction_undoes(lists: Lists) -> None:
    coffee = make.post("Coffee")
    with transaction.atomic():
        make.post("Tea")
        make.post("Milk")
        undone = content_version()
        assert lists.all() == (3, 3, 3, 3)
        transaction.set_rollback(True)

    make.post("Water")
    while content_version() < undone:  # the number is given a second time
        make.edited(coffee, {"title": f"Coffee {content_version()}"})
    assert content_version() == undone
    assert lists.all() == (2, 2, 2, 2)


def test_lists_that_are_narrowed_have_totals_of_their_own(lists: Lists) -> None:
    post = make.post("Coffee")
    make.post("Kaffee", locale="de")
    make.post("Anna", type="profile", status="draft")
    assert lists.all() == (2, 3, 2, 3)

    assert (lists.tool(locale="de"), lists.tool(type="profile")) == (1, 1)
    assert (lists.tool(type="profile", status="published"), lists.tool(locale="de")) == (0, 1)
    assert lists.admin("?type__exact=profile") == 1
    assert lists.admin("?q=Coffee") == 1
    assert lists.admin("?p=1") == 3
    assert lists.tool(hasAiReview=True) == 0
    make.staged(post, {"title": "Other"})
    assert lists.tool(hasAiReview=True) == 1
    assert lists.admin(f"?waiting={Layer.AI_REVIEW}") == 1


def test_a_page_beyond_the_end_says_how_many_there_are(lists: Lists) -> None:
    make.post("Coffee")
    read = lists.browser.get
    for _ in range(2):
        assert read("/api/posts?page=9").json()["meta"]["total"] == 1
    make.post("Tea")
    assert read("/api/posts?page=9").json()["meta"]["total"] == 2


def test_who_is_limited_to_a_part_gets_the_number_of_it(lists: Lists) -> None:
    make.post("Coffee")
    make.post("Kaffee", locale="de")
    assert lists.all() == (1, 2, 2, 2)

    limited = Client()
    german = ContentScope(locales=frozenset({"de"}))
    limited.force_login(make.user(make.site_role("german", "posts.view", scope=german).name))
    page = limited.get("/admin/content/post/")

    assert page.context["cl"].result_count == 1


DEEP: Final = {
    "api": "/api/posts?per_page=2&page={}",
    "public": "/api/public/posts?per_page=2&page={}",
    "site": "/blog?page={}",
}
MOMENT: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


class Pages:
    """Pages of two posts of a list, where whatever is not the first is deep."""

    def __init__(self, address: str, browser: Client) -> None:
        self.address = address
        self.browser = browser
        self.asked = 0

    @property
    def listed(self) -> list[str]:
        """The titles of the whole list."""
        by = "published_at" if "blog" in self.address else "updated_at"
        posts = Post.objects.alive().order_by(f"-{by}", "pk")
        return list(posts.values_list("title", flat=True))

    def titles(self, number: int) -> list[str]:
        self.asked += 1
        address = self.address.format(number)
        if address != DEEP["api"].format(number):
            address += f"&n={self.asked}"  # so that no cache answers
        answer = self.browser.get(address)
        assert answer.status_code == 200, answer.content
        if answer["Content-Type"] == "application/json":
            return [post["title"] for post in answer.json()["data"]]
        return re.findall(r"<h2><a [^>]*>([^<]+)</a></h2>", answer.content.decode())

    def passed_over(self, number: int) -> list[int]:
        """How many rows each statement of a page passes over."""
        with CaptureQueriesContext(connection) as queries:
            self.titles(number)
        found = (re.findall(r"OFFSET (\d+)", query["sql"]) for query in queries)
        return [int(rows) for one in found for rows in one]


@pytest.fixture(params=[*DEEP])
def pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    for name in ("content.store.kept_lists", "content.store.post_queries"):
        monkeypatch.setattr(f"{name}.DEEP_FROM", 2)
    monkeypatch.setattr("proofroom_apps.website.list_pages.PER_PAGE", 2)
    for number in range(9):
        make.post(f"Post {number}")
    # The order of some is that of their ids.
    alike = Post.objects.filter(title__in=["Post 3", "Post 4", "Post 5", "Post 6"])
    alike.update(updated_at=MOMENT, published_at=MOMENT)
    browser = Client()
    if request.param == "api":
        browser.force_login(make.user("admin"))
    _page_statement.cache_clear()
    _listed.cache_clear()
    yield Pages(DEEP[request.param], browser)
    _page_statement.cache_clear()
    _listed.cache_clear()


def test_far_pages_are_those_of_the_list_in_whatever_order_they_are_asked_for(
    pages: Pages,
) -> None:
    for numbers in ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), (3, 5, 2, 4)):
        for number in numbers:
            assert pages.titles(number) == pages.listed[2 * number - 2 : 2 * number]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL keeps places")
def test_a_page_that_was_read_is_found_again_and_the_next_from_there(pages: Pages) -> None:
    assert pages.passed_over(3) == [4]
    assert pages.passed_over(3) == []
    assert pages.passed_over(4) == [2]
    assert pages.passed_over(5) == [2]


def test_posts_without_a_date_are_in_far_pages_too(pages: Pages) -> None:
    Post.objects.filter(title__in=["Post 0", "Post 1", "Post 2", "Post 7", "Post 8"]).update(
        published_at=None
    )

    for numbers in ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1)):
        for number in numbers:
            assert pages.titles(number) == pages.listed[2 * number - 2 : 2 * number]


def test_a_post_that_comes_or_goes_moves_far_pages(pages: Pages) -> None:
    for number in (2, 3, 4):
        pages.titles(number)

    made = make.post("One more")
    for number in (2, 3, 4, 5):
        assert pages.titles(number) == pages.listed[2 * number - 2 : 2 * number]

    delete_post(post_id=made.pk, actor=make.actor("admin"))
    for number in (5, 4, 3, 2):
        assert pages.titles(number) == pages.listed[2 * number - 2 : 2 * number]
