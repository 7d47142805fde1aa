"""Stores views and clicks, as they are reported.

They are no writes to content: nothing of the site depends on them, and the activity log holds none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from analytics.ingest.seen_posts import write_seen
from analytics.models import EventType
from proofroom.core.json import Json, JsonObject

_GOAL: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_MAX_VERSION: Final = 2**31 - 1
"""What the column holds."""


class Seen(NamedTuple):
    """A view or a click, as a page reports it. Only the server names a `goal` here; pages do in `metadata`."""

    event_type: str
    post_id: UUID | str | None = None
    x: float | None = None
    y: float | None = None
    viewport_width: int | None = None
    metadata: Mapping[str, Json] = MappingProxyType({})
    goal: str = ""


def record_events(*, seen: Sequence[Seen]) -> int:
    """Keep what pages report; answers how many. One statement, and each call is kept whole or not at all.

    What names a post that nobody can see is left out, whether there is such a post or not. Metadata is a stranger's:
    what of it does not fit is kept as it came, and stands for nothing.
    """
    locales = settings.CMS_ENV.locales
    rows: list[JsonObject] = []
    for one in seen:
        locale, version, goal = (one.metadata.get(name) for name in ("locale", "version", "goal"))
        is_click = one.event_type == EventType.CLICK
        if not is_click or not isinstance(goal, str) or not _GOAL.fullmatch(goal):
            goal = ""
        is_version = type(version) is int and 0 < version <= _MAX_VERSION
        rows.append(
            {
                "event_type": one.event_type,
                "post_id": None if one.post_id is None else str(one.post_id),
                "x": one.x,
                "y": one.y,
                "viewport_width": one.viewport_width,
                "metadata": dict(one.metadata),
                "locale": locale if isinstance(locale, str) and locale in locales else "",
                "version": version if is_version else None,
                "goal": one.goal or goal,
            }
        )
    return write_seen(rows, at=timezone.now())
