"""Concurrent changes of slugs and of the tree of pages."""

from __future__ import annotations

import pytest

from content.models import Post
from content.posts.create import create_post
from content.posts.edit import edit_post
from content.posts.move import Place, move_posts
from content.store import document_edits
from proofroom.core.errors import CmsError
from tests import make
from tests.content.at_once import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def test_of_posts_created_at_once_with_one_slug_exactly_one_stands() -> None:
    by = make.actor("editor")

    answers = at_once(
        *[lambda: create_post(actor=by, type="blog", fields={"title": "Same"}) for _ in range(6)]
    )

    refused = [answer for answer in answers if isinstance(answer, CmsError)]
    assert len(refused) == 5
    assert {(error.code, *error.details) for error in refused} == {("slug_taken", "slug")}
    assert Post.objects.count() == 1


def test_two_pages_put_below_each_other_at_once_make_no_cycle() -> None:
    by = make.actor("editor")
    for number in range(5):
        one, other = (
            create_post(actor=by, type="page", fields={"title": f"{name} {number}"})
            for name in ("One", "Other")
        )

        def below(child: Post, parent: Post) -> Post:
            return edit_post(
                post_id=child.pk,
                actor=by,
                edit=lambda document: document_edits.patch_fields(
                    document, {"parentId": str(parent.pk)}
                ),
            )

        answers = at_once(lambda: below(one, other), lambda: below(other, one))  # noqa: B023

        refused = [answer for answer in answers if isinstance(answer, CmsError)]
        assert [error.code for error in refused] == ["parent_cycle"]
        parents = set(
            Post.objects.filter(pk__in=[one.pk, other.pk]).values_list("parent_id", flat=True)
        )
        assert None in parents
        assert len(parents) == 2


def test_parents_and_children_renamed_at_once_end_at_the_right_address() -> None:
    by = make.actor("editor")
    for number in range(8):
        parent = create_post(actor=by, type="page", fields={"title": f"Parent {number}"})
        child = create_post(
            actor=by, type="page", fields={"title": f"Child {number}", "parentId": str(parent.pk)}
        )

        def rename(post: Post, slug: str) -> Post:
            return edit_post(
                post_id=post.pk,
                actor=by,
                edit=lambda document: document_edits.patch_fields(document, {"slug": slug}),
            )

        answers = at_once(
            lambda: rename(parent, f"p{number}"),  # noqa: B023
            lambda: rename(child, f"c{number}"),  # noqa: B023
        )

        assert not [answer for answer in answers if isinstance(answer, CmsError)]
        child.refresh_from_db()
        assert child.path == f"/p{number}/c{number}"


def test_pages_moved_below_each_other_and_put_in_order_at_once_stay_a_tree() -> None:
    by = make.actor("editor")
    for number in range(4):
        one, other, third = (
            create_post(actor=by, type="page", fields={"title": f"{name} {number}"})
            for name in ("One", "Other", "Third")
        )
        create_post(
            actor=by, type="page", fields={"title": f"Below {number}", "parentId": str(one.pk)}
        )

        answers = at_once(
            lambda: move_posts(post_ids=[one.pk, third.pk], place=Place(other.pk), actor=by),  # noqa: B023
            lambda: move_posts(post_ids=[third.pk, other.pk], place=Place(one.pk), actor=by),  # noqa: B023
            lambda: move_posts(post_ids=[third.pk], place=Place(None, other.pk), actor=by),  # noqa: B023
        )

        refused = [answer for answer in answers if isinstance(answer, CmsError)]
        assert "parent_cycle" in [error.code for error in refused]
        assert {error.code for error in refused} <= {"parent_cycle", "stale_place"}
        one.refresh_from_db()
        other.refresh_from_db()
        assert None in (one.parent_id, other.parent_id)
        for post in Post.objects.select_related("parent"):
            above = post.parent.path if post.parent is not None else ""
            assert post.path == f"{above}/{post.slug}"
