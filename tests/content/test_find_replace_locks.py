"""Find and replace: number of statements, and order of locks."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.find_replace.services import Substitution
from content.find_replace.sources import PostSource
from content.models import Post
from content.posts.variations import create_variation
from tests import make
from tests.content.replacing import keys_of, send

pytestmark = pytest.mark.django_db


def test_many_posts_take_as_many_statements_as_few() -> None:
    first = make.post("Coffee", markdown="Coffee")
    place = first.placements.select_related("instance").order_by("order_index")[1]
    counts = []

    for number in (10, 80):
        posts = make.copies(
            first, number, slug=lambda _: uuid4().hex, translation_group=lambda _: uuid4()
        )
        instances = make.copies(place.instance, number)
        make.copies(
            place,
            number,
            post_id=keys_of(posts),
            instance_id=keys_of(instances),
        )
        with CaptureQueriesContext(connection) as caught:
            answer = send("Coffee", "Cocoa")
        # Search words are stored row by row; beyond a hundred posts in a task.
        counts.append(len([row for row in caught if "searchentry" not in row["sql"]]))
        assert answer["total"] >= 2 * number
        send("Cocoa", "Coffee")

    # A few more batches, because SQLite limits parameters; never one for each of the 70 additional
    # rows.
    assert counts[1] - counts[0] < 15
    assert Post.objects.filter(title="Coffee").count() == 91


def test_the_content_version_is_the_last_that_is_locked() -> None:
    """Live writers hold the search words of a post and wait for the version, so nothing may wait for
    words after it.
    """
    shared = make.global_module(title="Coffee")
    post, other = make.post("Coffee", slug="coffee"), make.post("Tea", slug="tea")
    for of in (post, other):
        make.placed(of, shared)

    with CaptureQueriesContext(connection) as caught:
        answer = send("Coffee", "Cocoa", "posts", "global_modules")

    assert answer["tables"] == {"posts": 1, "global_modules": 1}
    statements = [query["sql"] for query in caught]
    raised = [
        n
        for n, sql in enumerate(statements)
        if sql.startswith('UPDATE "proofroom_core_contentversion"')
    ]
    words = [n for n, sql in enumerate(statements) if '"content_searchentry' in sql]
    assert len(raised) == 1
    assert words[-1] < raised[0]


def test_variations_are_locked_behind_their_originals() -> None:
    """In the same order as promotions and changes of slugs, to avoid a deadlock."""
    originals = [make.post("Coffee", slug=f"coffee-{n}") for n in range(3)]
    for post in originals:
        for name in "BCD":
            create_variation(post_id=post.pk, variation=name, actor=make.actor("admin"))
    edit = Substitution(reason="", old="Coffee", new="Cocoa")

    found = PostSource().find(edit, frozenset({"posts"}))

    assert found[:3] == sorted(post.pk for post in originals)
    assert len(found) == 12
