"""Other users at the post of an open page. An app that knows says so with `presence_sources`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from proofroom.core.hooks import Hook
from proofroom.core.json import JsonObject


@dataclass(frozen=True, slots=True)
class OpenEditor:
    """An open page of somebody. `key` is its own name for itself, by which it knows itself in the list."""

    key: str
    user_id: int
    name: str
    layer: str
    since: str


presence_sources: Hook[[Collection[UUID]], Mapping[UUID, Sequence[OpenEditor]]] = Hook()
"""Asked while pages of posts are open. At most one query, however many posts."""


def who_is_at(post_ids: Collection[UUID]) -> dict[UUID, list[OpenEditor]]:
    """Return who is at these posts."""
    found: dict[UUID, list[OpenEditor]] = {}
    if post_ids:
        for pages_by_post in presence_sources(post_ids):
            for post_id, pages in pages_by_post.items():
                found.setdefault(post_id, []).extend(pages)
    return found


def presence_message(user_id: int, pages: Sequence[OpenEditor]) -> list[JsonObject]:
    """The pages on the wire, for one person."""
    return [
        {
            "key": page.key,
            "name": page.name,
            "layer": page.layer,
            "since": page.since,
            "mine": page.user_id == user_id,
        }
        for page in pages
    ]
