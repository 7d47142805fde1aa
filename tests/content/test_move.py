"""Moved pages: addresses, order, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from content.models import Layer, Post, Revision
from content.models.post import MAX_DEPTH
from content.posts.move import MAX_MOVED, Place, move_posts, plan_move
from content.posts.trash import delete_post
from content.translations.translate import create_translation
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from seo.models import Redirect
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def page(slug: str, parent: Post | None = None, **fields: Any) -> Post:
    above = {"parentId": str(parent.pk)} if parent is not None else {}
    values = {"title": slug.title(), "slug": slug, **above, **fields}
    return make.post(values.pop("title"), type="page", **values)


def move(*posts: Post, below: Post | None = None, before: Any = None, **more: Any) -> list[Post]:
    target = before.pk if isinstance(before, Post) else before
    place = Place(below.pk if below else None, target)
    return move_posts(
        post_ids=[post.pk for post in posts],
        place=place,
        actor=more.pop("actor", None) or make.actor(),
        **more,
    )


def plan(*posts: Post, below: Post) -> object:
    return plan_move(post_ids=[post.pk for post in posts], parent_id=below.pk, actor=make.actor())


def path(post: Post) -> str:
    return Post.objects.get(pk=post.pk).path


def order(parent: Post | None = None) -> list[str]:
    rows = Post.objects.alive().filter(parent=parent).order_by("order_index", "title", "id")
    return list(rows.values_list("slug", flat=True))


def test_a_page_moves_with_all_below_it_and_leaves_redirects() -> None:
    products, services = page("products"), page("services")
    overview = page("overview", products)
    detail, draft = page("detail", overview), page("draft", overview, status="draft")

    move(overview, below=services)

    assert path(overview) == "/services/overview"
    assert path(detail) == "/services/overview/detail"
    assert path(draft) == "/services/overview/draft"
    assert dict(Redirect.objects.values_list("from_path", "to_path")) == {
        "/products/overview": "/services/overview",
        "/products/overview/detail": "/services/overview/detail",
    }
    assert Revision.objects.filter(post=overview).latest("version").changed_paths == [
        "post.parentId"
    ]
    assert Event.objects.filter(name="post.moved").count() == 3


def test_a_page_that_moves_back_has_its_address_and_leaves_no_loop() -> None:
    products, services = page("products"), page("services")
    overview = page("overview", products)

    move(overview, below=services)
    move(overview, below=products)

    assert path(overview) == "/products/overview"
    assert dict(Redirect.objects.values_list("from_path", "to_path")) == {
        "/services/overview": "/products/overview"
    }


def test_the_plan_says_what_the_move_does() -> None:
    products, services = page("products"), page("services")
    overview = page("overview", products)
    page("detail", overview)
    page("draft", overview, status="draft")

    planned = plan_move(post_ids=[overview.pk], parent_id=services.pk, actor=make.actor())

    assert [(one.before, one.after, one.has_redirect) for one in planned.changes] == [
        ("/products/overview", "/services/overview", True),
        *sorted(
            [
                ("/products/overview/detail", "/services/overview/detail", True),
                ("/products/overview/draft", "/services/overview/draft", False),
            ],
            key=lambda one: str(Post.objects.get(path=one[0]).pk),
        ),
    ]
    assert (planned.total, planned.redirects) == (3, 2)
    assert path(overview) == "/products/overview"
    assert Redirect.objects.count() == 0


@pytest.mark.parametrize("act", [move, plan])
def test_a_page_cannot_stand_below_itself(act: Callable[..., object]) -> None:
    top = page("top")
    below = page("below", page("middle", top))

    with pytest.raises(RuleViolation) as refused:
        act(top, below=below)

    assert refused.value.code == "parent_cycle"
    assert path(top) == "/top"


@pytest.mark.parametrize("act", [move, plan])
def test_a_slug_that_is_taken_there_is_refused(act: Callable[..., object]) -> None:
    products, services = page("products"), page("services")
    page("overview", services)
    overview = page("overview", products)

    with pytest.raises(RuleViolation) as refused:
        act(overview, below=services)

    assert refused.value.code == "slug_taken"
    assert path(overview) == "/products/overview"
    assert Redirect.objects.count() == 0


def test_two_pages_of_one_slug_cannot_move_below_one_page() -> None:
    target, first, second = page("target"), page("first"), page("second")
    one, other = page("overview", first), page("overview", second)

    with pytest.raises(RuleViolation):
        plan_move(post_ids=[one.pk, other.pk], parent_id=target.pk, actor=make.actor())
    with pytest.raises(RuleViolation):
        move(one, other, below=target)

    assert {path(one), path(other)} == {"/first/overview", "/second/overview"}


@pytest.mark.parametrize("act", [move, plan])
def test_a_tree_is_only_so_deep(act: Callable[..., object]) -> None:
    deepest = page("p0")
    for level in range(1, MAX_DEPTH):
        deepest = page(f"p{level}", deepest)
    leaf, two = page("leaf"), page("two")
    page("below", two)

    with pytest.raises(RuleViolation) as refused:
        act(two, below=deepest)
    move(leaf, below=deepest)

    assert refused.value.code == "too_deep"
    assert path(two) == "/two"
    assert path(leaf).endswith(f"/p{MAX_DEPTH - 1}/leaf")
    with pytest.raises(RuleViolation):
        page("deeper", leaf)


def test_another_type_another_language_and_the_trash_are_no_parents() -> None:
    top, gone = page("top"), page("gone")
    german = page("oben", locale="de")
    blog = make.post()
    delete_post(post_id=gone.pk, actor=make.actor())

    for parent in (german, blog, gone):
        with pytest.raises(RuleViolation) as refused:
            move(top, below=parent)
        assert list(refused.value.details) == ["parentId"]
    with pytest.raises(RuleViolation):
        move(blog, below=None)
    with pytest.raises(RuleViolation):
        move(top, german, below=None)
    with pytest.raises(NotFound):
        move(gone, below=None)
    with pytest.raises(NotFound):
        move(below=None)


def test_translations_stay_where_they_are() -> None:
    products, services = page("products"), page("services")
    overview = page("overview", products)
    create_translation(post_id=products.pk, locale="de", actor=make.actor())
    german = create_translation(post_id=overview.pk, locale="de", actor=make.actor())

    move(overview, below=services)

    assert path(german) == "/de/products/overview"


def test_what_waits_in_review_goes_on_waiting() -> None:
    products, services = page("products"), page("services")
    overview = page("overview", products)
    make.staged(overview, {"title": "All products"}, layer=Layer.REVIEW)

    move(overview, below=services)

    assert overview.drafts.get(layer=Layer.REVIEW).is_empty is False


@pytest.mark.parametrize("role", ["translator", "ai_agent"])
def test_only_who_may_edit_posts_moves_them(role: str) -> None:
    top, draft = page("top"), page("draft", status="draft")

    for actor in (make.actor(role), make.mcp_actor(role), make.mcp_actor("editor")):
        with pytest.raises(NotAllowed):
            move(draft, below=top, actor=actor)

    assert path(draft) == "/draft"


def test_a_page_that_changed_meanwhile_stays() -> None:
    top, page_ = page("top"), page("page")

    with pytest.raises(Conflict) as refused:
        move(page_, below=top, expected_versions={page_.pk: page_.version + 1})

    assert "“Page”" in refused.value.message
    assert path(page_) == "/page"


def test_several_pages_move_together_and_keep_their_order() -> None:
    target = page("target")
    page("a", target, orderIndex=1)
    page("b", target, orderIndex=2)
    y, x = page("y"), page("x")

    move(y, x, below=target)

    assert order(target) == ["a", "b", "y", "x"]
    assert path(x) == "/target/x"


def test_a_page_below_a_chosen_one_goes_with_it() -> None:
    target, top = page("target"), page("top")
    middle = page("middle", top)
    below = page("below", middle)

    move(top, below, below=target)

    assert path(below) == "/target/top/middle/below"


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(RuleViolation):
        move_posts(
            post_ids=[uuid4() for _ in range(MAX_MOVED + 1)],
            place=Place(None),
            actor=make.actor(),
        )


def test_pages_without_an_order_stand_by_title_until_one_is_put_elsewhere() -> None:
    top = page("top")
    for slug in ("a", "b", "d"):
        page(slug, top)
    c = page("c")

    move(c, below=top)
    assert order(top) == ["a", "b", "c", "d"]
    assert set(Post.objects.filter(parent=top).values_list("order_index", flat=True)) == {0}

    move(c, below=top, before=Post.objects.get(slug="a"))
    assert order(top) == ["c", "a", "b", "d"]
    move(c, below=top, before="end")
    assert order(top) == ["a", "b", "d", "c"]
    move(c, below=top, before=Post.objects.get(slug="b"))
    assert order(top) == ["a", "c", "b", "d"]
    move(Post.objects.get(slug="d"), below=top, before=Post.objects.get(slug="c"))
    assert order(top) == ["a", "d", "c", "b"]


def test_few_neighbours_change_their_order() -> None:
    top = page("top")
    pages = [page(f"p{at}", top, orderIndex=at) for at in range(8)]
    versions = dict(Post.objects.values_list("pk", "version"))
    dates = dict(Post.objects.values_list("slug", "updated_at"))

    move(pages[7], below=top, before=pages[2])

    assert order(top) == ["p0", "p1", "p7", "p2", "p3", "p4", "p5", "p6"]
    changed = [one for one in Post.objects.all() if one.version != versions[one.pk]]
    assert {one.slug for one in changed} == {"p0", "p1", "p7"}
    # Shifted siblings do not count as updated.
    assert [one.slug for one in changed if one.updated_at != dates[one.slug]] == ["p7"]
    assert Event.objects.filter(name="post.updated").count() == 3


def test_a_neighbour_that_is_gone_is_a_conflict() -> None:
    top, other = page("top"), page("other")
    with pytest.raises(Conflict):
        move(other, below=top, before=page("elsewhere"))


def test_a_move_asks_as_much_for_many_pages_below_as_for_one() -> None:
    first, second = page("first"), page("second")
    few, many = page("few"), page("many")
    page("below", few)
    for number in range(12):
        page(f"below{number}", many)
    move(few, many, below=first)

    counts = []
    for post in (few, many):
        # Redirects are looked up and created one by one; this test only covers the lookup.
        Post.objects.filter(parent=post).update(published_at=None)
        counts.append(count_queries(move, post, below=second))

    assert counts[1] - counts[0] == 11
