"""Stores views and clicks, as they are reported.

They are no writes to content: nothing of the site depends on them, and the activity log holds none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from analytics.ingest.event_store import write_events
from analytics.models import EventType
from content.models import Post
from proofroom.core.database.statements import Statement
from proofroom.core.json import Json

_GOAL: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_MAX_VERSIONS_BACK: Final = 100
"""How old a page may be that still says which version of the post it shows."""
_SIZES: Final = (1, 4, 16, 100)
"""Numbers of ids that are asked for at once: each is a statement that the database keeps prepared."""


class Seen(NamedTuple):
    """A view or a click, as a page reports it. Only the server names a `goal` here; pages do in `metadata`."""

    event_type: str
    post_id: UUID | None = None
    x: float | None = None
    y: float | None = None
    viewport_width: int | None = None
    metadata: Mapping[str, Json] = MappingProxyType({})
    goal: str = ""


@dataclass(frozen=True, slots=True)
class VisiblePost:
    """A post as the server knows it. `tested` is the original while a variation of it runs."""

    locale: str
    version: int
    tested: UUID | None


def record_events(*, seen: Sequence[Seen]) -> int:
    """Keep what pages report; answers how many. Two statements at most, and each call is kept whole or not at all.

    What names a post that nobody can see is left out, whether there is such a post or not. Metadata is a stranger's:
    what of it does not fit is kept as it came, and stands for nothing.
    """
    posts = load_visible_posts(one.post_id for one in seen if one.post_id is not None)
    rows = []
    for one in seen:
        if one.post_id is not None and one.post_id not in posts:
            continue
        post = None if one.post_id is None else posts[one.post_id]
        locale, version, goal = (one.metadata.get(name) for name in ("locale", "version", "goal"))
        if post is not None:
            locale = post.locale
            # An older version was shown, where a page from before the last change is still open.
            oldest = max(1, post.version - _MAX_VERSIONS_BACK)
            is_number = isinstance(version, int) and not isinstance(version, bool)
            if not is_number or version not in range(oldest, post.version + 1):
                version = post.version
        elif not isinstance(locale, str) or locale not in settings.CMS_ENV.locales:
            locale = ""
        is_click = one.event_type == EventType.CLICK
        if not is_click or not isinstance(goal, str) or not _GOAL.fullmatch(goal):
            goal = ""
        rows.append(
            {
                "event_type": one.event_type,
                "post_id": None if one.post_id is None else str(one.post_id),
                "x": one.x,
                "y": one.y,
                "viewport_width": one.viewport_width,
                "metadata": dict(one.metadata),
                "locale": locale,
                "version": None if post is None else version,
                "variation_of": str(post.tested) if post and post.tested else None,
                "goal": one.goal or goal,
            }
        )
    write_events(rows, at=timezone.now())
    return len(rows)


def load_visible_posts(ids: Iterable[UUID]) -> dict[UUID, VisiblePost]:
    """Return those of the posts that visitors can see, 100 at most. One query, none without ids.

    They are published ones, and the variations of them that are running.
    """
    wanted = list(dict.fromkeys(ids))
    if wanted:
        size = next(size for size in _SIZES if size >= len(wanted))
        wanted += wanted[:1] * (size - len(wanted))
    return {
        row["id"]: VisiblePost(
            locale=row["locale"],
            version=row["version"],
            tested=row["variation_of_id"] or (row["id"] if row["is_tested"] else None),
        )
        for row in _VISIBLE_POSTS.rows(wanted)
    }


def _visible_posts(ids: list[UUID]) -> QuerySet[Any, Any]:
    running = Post.objects.kept().filter(variation_running=True)
    of_published = Q(
        variation_running=True,
        variation_of__status="published",
        variation_of__is_placeholder=False,
        variation_of__deleted_at__isnull=True,
    )
    published = Q(variation_of__isnull=True, status="published", is_placeholder=False)
    return (
        Post.objects.kept()
        .filter(published | of_published, pk__in=ids)
        .annotate(is_tested=Exists(running.filter(variation_of=OuterRef("pk"))))
        .values("id", "locale", "version", "variation_of_id", "is_tested")
    )


_VISIBLE_POSTS: Final = Statement(_visible_posts)
