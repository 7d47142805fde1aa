"""Search follows a global module: its words are those of every post that places it."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from content import search
from content.models import PostModule
from core.models import Event

AT_ONCE: Final = 100
"""Posts whose words are kept anew while somebody waits; those beyond follow in a task."""


def posts_with(instance_id: UUID | str) -> list[UUID]:
    """The posts that place the instance live."""
    rows = PostModule.objects.filter(instance_id=instance_id).order_by("post_id")
    return list(rows.values_list("post_id", flat=True).distinct())


def follow_at_once(instance_id: UUID | str) -> None:
    """Keep the words of the first posts anew, inside the transaction of the change."""
    search.reindex(posts_with(instance_id)[:AT_ONCE])


def follow_later(event: Event) -> None:
    """Keep the words of the other posts anew, after a change of a global module."""
    if event.payload.get("what") == "global-module":
        search.reindex(posts_with(str(event.payload["id"]))[AT_ONCE:])
