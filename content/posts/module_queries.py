"""Reads of modules by their type."""

from __future__ import annotations

from content.models import PostModule


def posts_with_module(type_name: str) -> int:
    """How many posts have a module of the type live, trash aside. One query."""
    placed = PostModule.objects.filter(instance__type=type_name, post__deleted_at__isnull=True)
    return placed.values("post_id").distinct().count()
