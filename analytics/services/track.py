"""Stores reported views and clicks.

They are not content, so they are not recorded in the activity log.
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
"""Maximum value of the column."""


class Seen(NamedTuple):
    """A reported view or click. `goal` is set by the server only; pages report goals in `metadata`."""

    event_type: str
    post_id: UUID | str | None = None
    x: float | None = None
    y: float | None = None
    viewport_width: int | None = None
    metadata: Mapping[str, Json] = MappingProxyType({})
    goal: str = ""


def record_events(*, seen: Sequence[Seen]) -> int:
    """Store reported events; return their number. One statement, all or nothing.

    Events of posts that visitors cannot see, or that do not exist, are dropped. Metadata comes from
    strangers: invalid values are stored unchanged but not used.
    """
    locales = settings.CMS_ENV.locales
    rows: list[JsonObject] = []
    for one in seen:
        locale, version, goal = (one.metadata.get(name) for name in ("locale", "version", "goal"))
        is_click = one.event_type == EventType.CLICK
        # Pages cannot report `form:` goals, which only the server counts.
        if not is_click or not isinstance(goal, str) or not _GOAL.fullmatch(goal):
            goal = ""
        # Not `isinstance`, because `bool` is a subclass of `int`.
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
