"""Views and clicks, as they are reported.

They are no writes to content: nothing of the site depends on them, and the activity log holds none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from analytics.ingest.insert_events import write_events
from analytics.ingest.visible_posts import VisiblePost, load_visible_posts
from analytics.models import EventType
from proofroom.core.json import Json, JsonObject

_GOAL: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_VERSIONS_BACK: Final = 100
"""How old a page may be that still says which version of the post it shows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A view or a click, as a page reports it. Only the server names a `goal` here; pages do in `metadata`."""

    event_type: str
    post_id: UUID | None = None
    x: float | None = None
    y: float | None = None
    viewport_width: int | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    goal: str = ""


def record_events(*, seen: Sequence[Seen]) -> int:
    """Keep what pages report; answers how many. Two statements at most, and each call is kept whole or not at all.

    What names a post that nobody can see is left out, whether there is such a post or not. Metadata is a stranger's:
    what of it does not fit is kept as it came, and stands for nothing.
    """
    shown = load_visible_posts(one.post_id for one in seen if one.post_id is not None)
    rows = [
        _row(one, None if one.post_id is None else shown[one.post_id])
        for one in seen
        if one.post_id is None or one.post_id in shown
    ]
    write_events(rows, at=timezone.now())
    return len(rows)


def _row(one: Seen, post: VisiblePost | None) -> JsonObject:
    tested = post.tested if post is not None else None
    return {
        "event_type": one.event_type,
        "post_id": None if one.post_id is None else str(one.post_id),
        "x": one.x,
        "y": one.y,
        "viewport_width": one.viewport_width,
        "metadata": dict(one.metadata),
        "locale": post.locale if post is not None else _locale(one.metadata.get("locale")),
        "version": None if post is None else _version(one.metadata.get("version"), post.version),
        "variation_of": None if tested is None else str(tested),
        "goal": one.goal or _goal(one),
    }


def _locale(told: Json) -> str:
    return told if isinstance(told, str) and told in settings.CMS_ENV.locales else ""


def _version(told: Json, present: int) -> int:
    """The version that was shown: an older one, where a page from before the last change is still open."""
    if not isinstance(told, int) or isinstance(told, bool):
        return present
    return told if max(1, present - _VERSIONS_BACK) <= told <= present else present


def _goal(one: Seen) -> str:
    told = one.metadata.get("goal")
    if one.event_type != EventType.CLICK or not isinstance(told, str):
        return ""
    return told if _GOAL.fullmatch(told) else ""
