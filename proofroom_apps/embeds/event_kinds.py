"""Kinds of events of embeds."""

from __future__ import annotations

from typing import Final

from proofroom.core.caching.cache_tags import post_tag
from proofroom.core.json import JsonObject
from proofroom.core.outbox.events import EventKind
from proofroom.core.outbox.live_effects import LiveEffect


def _changed(payload: JsonObject) -> LiveEffect | None:
    posts = payload.get("posts")
    ids = [one for one in posts if isinstance(one, str)] if isinstance(posts, list) else []
    return LiveEffect("embed", tuple(map(post_tag, ids))) if ids else None


KINDS: Final = (
    EventKind(
        "embed.changed", "Facts about an embed stored", "posts.view", is_live=True, effect=_changed
    ),
)
