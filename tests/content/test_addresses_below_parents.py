"""The same slug below different parents: taken addresses, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from content.models import Layer, Post
from content.posts.trash import delete_post, restore_post
from content.translations.translate import create_translation
from proofroom.core.errors import RuleViolation
from tests import make
from tests.api.refusals import refused
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def page(title: str, slug: str = "", parent: Post | None = None, **words: Any) -> Post:
    above = {"parentId": str(parent.pk)} if parent is not None else {}
    return make.post(title, type="page", slug=slug or title.lower(), **above, **words)


def branches() -> tuple[Post, Post, Post, Post]:
    """Create two parents, each with an overview."""
    products, services = page("Products"), page("Services")
    return (
        products,
        services,
        page("Overview", parent=products),
        page("Overview", parent=services),
    )


def test_pages_below_different_parents_share_a_slug() -> None:
    _, _, one, other = branches()

    root = page("Overview")

    assert [one.path, other.path, root.path] == [
        "/products/overview",
        "/services/overview",
        "/overview",
    ]


def test_a_look_up_by_slug_answers_all_that_match() -> None:
    _, _, one, other = branches()

    rows = ApiClient("editor").read("/api/posts?slug=overview")["data"]

    assert {row["id"] for row in rows} == {str(one.pk), str(other.pk)}
    assert {row["url"] for row in rows} == {one.path, other.path}


@pytest.mark.parametrize("has_parent", [True, False])
def test_a_second_page_at_one_address_is_refused(has_parent: bool) -> None:
    products, *_ = branches()
    page("Overview")
    body = {"type": "page", "title": "Again", "slug": "overview"}
    if has_parent:
        body["parentId"] = str(products.pk)

    refused("POST", "/api/posts", body, 422, "slug_taken", "slug")


def test_a_move_to_where_the_slug_is_taken_is_refused_and_says_where() -> None:
    products, _, one, other = branches()

    answer = ApiClient("editor").write(
        "PUT", f"/api/posts/{other.pk}", {"parentId": str(products.pk)}, expect=422
    )

    assert (answer["code"], list(answer["details"])) == ("slug_taken", ["slug"])
    assert "/products" in answer["details"]["slug"][0]
    other.refresh_from_db()
    assert other.path == "/services/overview"
    moved = ApiClient("editor").write(
        "PUT", f"/api/posts/{other.pk}", {"parentId": str(products.pk), "slug": "summary"}
    )
    assert moved["url"] == "/products/summary"
    assert one.slug == "overview"


def test_a_move_to_the_top_where_the_slug_is_taken_is_refused() -> None:
    _, _, one, _ = branches()
    page("Overview")

    refused("PUT", f"/api/posts/{one.pk}", {"parentId": None}, 422, "slug_taken", "slug")


def test_a_move_between_check_and_write_is_refused_by_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from content.rules import check

    products, _, _, other = branches()
    monkeypatch.setattr(check, "check_slug_is_free", lambda *_args, **_named: None)

    body = {"parentId": str(products.pk)}
    answer = ApiClient("editor").write("PUT", f"/api/posts/{other.pk}", body, expect=422)

    assert (answer["code"], list(answer["details"])) == ("slug_taken", ["slug"])


def test_a_slug_proposed_below_a_parent_is_judged_there() -> None:
    products, _, _, _ = branches()
    other = page("Summary", parent=products)
    page("Pricing")

    make.staged(other, {"slug": "pricing"}, layer=Layer.REVIEW)
    with pytest.raises(RuleViolation) as refusal:
        make.staged(other, {"slug": "overview"}, layer=Layer.REVIEW)

    assert refusal.value.code == "slug_taken"


def test_a_page_is_restored_beside_its_namesake_elsewhere_but_not_onto_it() -> None:
    _, services, one, other = branches()
    actor = make.actor()
    for post in (one, other):
        delete_post(post_id=post.pk, actor=actor)
    page("Overview", parent=services)

    restore_post(post_id=one.pk, actor=actor)
    with pytest.raises(RuleViolation) as refusal:
        restore_post(post_id=other.pk, actor=actor)

    assert (refusal.value.code, list(refusal.value.details)) == ("slug_taken", ["slug"])


def test_translations_stand_below_the_parents_of_their_language() -> None:
    products, services, one, other = branches()
    actor = make.actor()

    def translated(post: Post) -> Post:
        return create_translation(post_id=post.pk, locale="de", actor=actor)

    for post in (products, services):
        translated(post)

    assert [translated(post).path for post in (one, other)] == [
        "/de/products/overview",
        "/de/services/overview",
    ]


def test_types_without_hierarchy_have_a_slug_once_in_a_language() -> None:
    make.post("One", slug="one")

    body = {"type": "blog", "title": "Other", "slug": "one"}
    refused("POST", "/api/posts", body, 422, "slug_taken", "slug")


@pytest.mark.parametrize("has_parent", [True, False])
def test_the_database_keeps_addresses_unique(has_parent: bool) -> None:
    products, _, one, other = branches()
    root = page("Overview")
    copied, parent = (one, products.pk) if has_parent else (root, None)

    with pytest.raises(IntegrityError), transaction.atomic():
        Post.objects.filter(pk=other.pk).update(parent=parent)

    assert copied.slug == other.slug
