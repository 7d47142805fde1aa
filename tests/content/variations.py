"""Variations, created and started."""

from __future__ import annotations

from typing import Any

from content.models import Post
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from proofroom.core.models import Event
from tests import make


def varied(post: Post, name: str = "B", weight: int = 50) -> Post:
    return create_variation(post_id=post.pk, variation=name, actor=make.actor(), weight=weight)


def change(variation: Post, role: str = "editor", **words: Any) -> Post:
    of = variation.variation_of_id
    assert of is not None
    return change_variation(post_id=of, variation_id=variation.pk, actor=make.actor(role), **words)


def running(post: Post, name: str = "B", weight: int = 50) -> Post:
    return change(varied(post, name, weight), running=True)


def state(variation: Post) -> tuple[int | None, bool]:
    row = Post.objects.get(pk=variation.pk)
    return row.variation_weight, row.variation_running


def told() -> list[str]:
    names = Event.objects.filter(name__startswith="post.variation.").order_by("id")
    return list(names.values_list("name", flat=True))
