"""Request facts about the addresses that saved posts embed: from the editor, the API and imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from content.document.contents import EMBED
from content.models import PostModule
from proofroom.core import outbox
from proofroom.core.models import Event
from proofroom_apps.embeds.services import request_facts

_EVENTS: Final = ("post.created", "post.updated", "post.approve", "post.restored")


def subscribe_to_posts() -> None:
    """Call once, at start."""
    outbox.subscribe_to_many(_EVENTS, request_facts_of_posts, id="embeds.post_events.follow")


def request_facts_of_posts(events: Sequence[Event]) -> None:
    """Request facts about the embeds of posts that were saved. One query if there are none."""
    ids = {event.post_id for event in events if event.post_id is not None}
    placed = PostModule.objects.filter(post__in=ids, instance__type=EMBED)
    urls = [
        values.get("url")
        for row in placed.values_list("instance__props", "overrides")
        for values in row
        if isinstance(values, dict)
    ]
    request_facts(url for url in urls if isinstance(url, str) and url)
