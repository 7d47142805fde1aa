"""Page locks: until a time, only the person who locked a post may change it.

A lock ends by itself, and with the account of its holder. Work that was scheduled before runs as the system, which
no lock stops.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import Post
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict
from proofroom.core.i18n.time_zones import exact_time
from proofroom.core.json import JsonObject, format_time

LOCKED_BY = "locked_by"
"""Code of the error for a write to a locked post."""
HOLDER_COLUMNS = tuple(f"locked_by__{name}" for name in ("username", "role", "is_active"))
"""Columns to read with a post, so that `find_page_lock` needs no query."""


@dataclass(frozen=True, slots=True)
class PageLock:
    """A lock that holds now."""

    user_id: int
    username: str
    until: datetime

    def to_json(self) -> JsonObject:
        return {
            "by": {"id": self.user_id, "username": self.username},
            "until": format_time(self.until),
        }


def find_page_lock(post: Post) -> PageLock | None:
    """Return the lock of a post, or None. One query if it has one and `locked_by` is not loaded."""
    if post.locked_until is None or post.locked_until <= timezone.now():
        return None
    holder = post.locked_by
    if holder is None or not holder.can_log_in:
        return None
    return PageLock(holder.pk, holder.username, post.locked_until)


def require_unlocked(post: Post, actor: Actor) -> None:
    """Raise `Conflict` (`locked_by`), naming the holder, if another person has locked the post."""
    if actor.via == "system" or post.locked_by_id is None or post.locked_by_id == actor.user.pk:
        return
    lock = find_page_lock(post)
    if lock is not None:
        raise locked_error(post, lock)


def locked_by_others(post_ids: Collection[UUID | str], actor: Actor) -> dict[str, str]:
    """Return why the actor may not change posts that another person has locked, by id. One query."""
    rows = Post.objects.filter(pk__in=post_ids, locked_by__isnull=False)
    others = rows.exclude(locked_by=actor.user.pk).select_related("locked_by")
    return {
        str(post.pk): locked_error(post, lock).message
        for post in others
        if (lock := find_page_lock(post)) is not None
    }


def locked_error(post: Post, lock: PageLock) -> Conflict:
    """Return the error of a write to a locked post."""
    message = _("“%(title)s” is locked by %(name)s until %(until)s.") % {
        "title": post.title,
        "name": lock.username,
        "until": exact_time(lock.until),
    }
    details = {"lockedBy": [lock.username], "until": [format_time(lock.until) or ""]}
    return Conflict(message, code=LOCKED_BY, details=details)
