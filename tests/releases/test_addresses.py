"""Posts of one release that exchange their addresses, and parents and children in any order."""

from __future__ import annotations

import pytest

from content.models import Layer, Post, Status
from proofroom.core.json import Json
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.releases.scenes import add, add_changes, create, items, publish, read, undo

pytestmark = pytest.mark.django_db


def moving(title: str, slug: str, *, to: str, type: str = "blog", **fields: Json) -> Post:
    """Create a published post whose new slug waits in Review."""
    post = make.post(title, slug=slug, type=type, **fields)
    make.staged(post, {"slug": to}, layer=Layer.REVIEW)
    return post


def paths(*posts: Post) -> list[str]:
    return [Post.objects.get(pk=post.pk).path for post in posts]


def test_posts_exchange_their_addresses_and_get_them_back() -> None:
    # An address can be proposed as soon as its post leaves it in Review.
    one, two, three = moving("a", "a", to="x"), make.post("b", slug="b"), moving("c", "c", to="a")
    make.staged(two, {"slug": "c"}, layer=Layer.REVIEW)
    make.staged(one, {"slug": "b"}, layer=Layer.REVIEW)
    release = create()
    for post in (one, two, three):
        add_changes(release, post)
    assert [row["conflict"] for row in items(release)] == [None] * 3
    Event.objects.all().delete()

    publish(release)

    assert paths(one, two, three) == ["/blog/b", "/blog/c", "/blog/a"]
    for path, post in (("/blog/b", one), ("/blog/c", two), ("/blog/a", three)):
        assert ApiClient().read(f"/api/public/resolve?path={path}")["post"]["id"] == str(post.pk)
    moved = Event.objects.filter(name="post.moved").values_list("payload__from", "payload__to")
    assert sorted(moved) == [
        ("/blog/a", "/blog/b"), ("/blog/b", "/blog/c"), ("/blog/c", "/blog/a"),
    ]  # fmt: skip

    undo(release)

    assert paths(one, two, three) == ["/blog/a", "/blog/b", "/blog/c"]
    assert [one.slug for one in Post.objects.order_by("slug")] == ["a", "b", "c"]


def test_a_post_takes_the_address_that_another_one_leaves() -> None:
    leaver, taker = moving("Leaver", "old", to="older"), moving("Taker", "new", to="old")
    release = create()
    add_changes(release, taker)
    add_changes(release, leaver)

    publish(release)

    assert paths(taker, leaver) == ["/blog/old", "/blog/older"]
    # Who visited the taker finds it. The address that changed hands doesn't redirect away from it.
    assert ApiClient().read("/api/public/resolve?path=/blog/old")["post"]["id"] == str(taker.pk)
    assert Redirect.objects.get(from_path="/blog/new").to_path == "/blog/old"


def test_two_posts_that_want_one_address_are_refused() -> None:
    first, second = moving("First", "first", to="same"), moving("Second", "second", to="same")
    release = create()
    add_changes(release, first)
    add_changes(release, second)
    before = make.live_hash()

    named = [f"items.changes.{post.pk}" for post in (first, second)]
    refused("POST", f"{release}/publish", {}, 409, "release_conflict", *named)

    assert make.live_hash() == before


def test_an_address_of_a_post_outside_of_the_release_stays_taken() -> None:
    holder, taker = moving("Holder", "old", to="older"), moving("Taker", "new", to="old")
    release = create()
    add_changes(release, taker)

    path = f"items.changes.{taker.pk}"
    refused("POST", f"{release}/publish", {}, 409, "release_conflict", path)

    assert paths(taker, holder) == ["/blog/new", "/blog/old"]


def test_an_address_that_only_the_path_shares_is_refused_after_the_last_write() -> None:
    # The slugs differ by type, so that only the paths are the same.
    page = make.post("Page", slug="blog", type="page")
    child = moving("Child", "other", to="news", type="page", parentId=str(page.pk))
    make.post("Post", slug="news")
    release = create()
    add_changes(release, child)
    before = make.live_hash()

    answer = ApiClient("editor").write("POST", f"{release}/publish", expect=409)

    assert [*answer["details"]] == [f"items.changes.{child.pk}"]
    assert make.live_hash() == before
    assert read(release)["state"] == "failed"


def test_sections_with_the_same_pages_below_exchange_their_addresses() -> None:
    new, old = (
        moving("New", "new", to="x", type="page"),
        moving("Old", "old", to="new", type="page"),
    )
    make.staged(new, {"slug": "old"}, layer=Layer.REVIEW)
    below_old = make.post("Contact", slug="contact", type="page", parentId=str(old.pk))
    below_new = moving("Contact", "contact", to="mail", type="page", parentId=str(new.pk))
    release = create()
    for post in (old, new, below_new):
        add_changes(release, post)
    Event.objects.all().delete()

    publish(release)

    assert paths(old, new, below_old, below_new) == ["/new", "/old", "/new/contact", "/old/mail"]
    moved = Event.objects.filter(name="post.moved").values_list("payload__from", "payload__to")
    assert sorted(moved) == [
        ("/new", "/old"),
        ("/new/contact", "/old/mail"),
        ("/old", "/new"),
        ("/old/contact", "/new/contact"),
    ]
    undo(release)
    assert paths(old, new, below_old, below_new) == [
        "/old", "/new", "/old/contact", "/new/contact",
    ]  # fmt: skip


def test_a_parent_and_its_child_exchange_their_places() -> None:
    parent = make.post("Parent", slug="parent", type="page")
    child = make.post("Child", slug="child", type="page")
    make.staged(parent, {"parentId": str(child.pk)}, layer=Layer.REVIEW)
    make.edited(child, {"parentId": str(parent.pk)})
    make.staged(child, {"parentId": None}, layer=Layer.REVIEW)
    release = create()
    add_changes(release, parent)
    add_changes(release, child)

    publish(release)
    assert paths(parent, child) == ["/child/parent", "/child"]
    undo(release)
    assert paths(parent, child) == ["/parent", "/parent/child"]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_parent_and_a_child_are_published_in_any_order(is_reversed: bool) -> None:
    parent = make.post("Parent", slug="parent", type="page", status="draft")
    child = make.post("Child", slug="child", type="page", parentId=str(parent.pk), status="draft")
    make.staged(parent, {"slug": "campaign"}, layer=Layer.REVIEW)
    make.staged(child, {"title": "Child, final"}, layer=Layer.REVIEW)
    release = create()
    for post in (child, parent) if is_reversed else (parent, child):
        add(release, "post", post.pk)
        add_changes(release, post)

    publish(release)

    assert paths(parent, child) == ["/campaign", "/campaign/child"]
    assert {post.status for post in Post.objects.all()} == {Status.PUBLISHED}
    undo(release)
    assert paths(parent, child) == ["/parent", "/parent/child"]
    assert {post.status for post in Post.objects.all()} == {Status.DRAFT}
