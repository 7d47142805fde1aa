"""A post read with one statement equals one read with many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from content.layers import open_layers
from content.models import Layer
from content.store import post_queries
from content.store.layered_post import read_layered_post
from tests import make

pytestmark = pytest.mark.django_db


def test_all_layers_equal_separately_read_ones(
    django_assert_num_queries: Callable[..., Any],
) -> None:
    post, other, someone = make.post(), make.post("Other"), make.actor()
    make.copies(post, 1, slug=lambda _: "de", path=lambda _: "/de", locale=lambda _: "de")
    make.staged(post, {"title": "From an agent"})
    make.staged(post, {"metaTitle": "From a person"}, layer=Layer.REVIEW)
    read_layered_post(other.pk, someone)

    with django_assert_num_queries(1):
        read = read_layered_post(post.pk, someone)

    assert read is not None
    whole = post_queries.find_post_with_author(post.pk)
    assert whole is not None
    apart = open_layers(whole)
    assert (read.post, read.layers.live) == (whole, apart.live)
    for layer in Layer:
        one, another = read.layers.view(layer), apart.view(layer)
        assert (one.document, one.changes, one.marks) == (
            another.document, another.changes, another.marks,
        )  # fmt: skip
        assert (one.version, one.drifted) == (another.version, another.drifted)
    assert [locale for _, locale in read.translations] == ["de"]
    assert read.translations == [
        (str(row["id"]), row["locale"]) for row in post_queries.translations_of(whole)
    ]


def test_a_post_that_is_not_there_or_in_the_trash_is_none() -> None:
    post = make.post()
    post.deleted_at = post.created_at
    post.save(update_fields=["deleted_at"])

    assert (read_layered_post(post.pk, make.actor()), read_layered_post(uuid4(), make.actor())) == (
        None,
        None,
    )
