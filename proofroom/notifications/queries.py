"""Queries for a user's own notifications."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from proofroom.core.actor import Actor
from proofroom.core.admin.navigation import MAX_COUNT
from proofroom.core.content_scope import reading_scopes, visible_post_ids
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.models import Event
from proofroom.core.repeated_errors import log_once
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import NotificationText, notification_kinds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NotificationLine:
    """A notification with its text."""

    pk: int
    text: NotificationText
    at: datetime
    is_unread: bool


def visible_notifications(actor: Actor) -> QuerySet[Notification]:
    """Return the actor's notifications of kinds they may see, the latest first.

    For actors who may not see all posts, only notifications whose last event is about a post they may see, or no
    post.
    """
    names = [kind.name for kind in notification_kinds if actor.can(kind.permission)]
    notifications = Notification.objects.filter(user_id=actor.user.pk, kind__in=names)
    post_ids = visible_post_ids(actor)
    sees_posts = actor.can("posts.view")
    if (reading_scopes(actor) or not sees_posts) and post_ids is not None:
        events = Event.objects.filter(pk=OuterRef("event_id"))
        is_visible = Q(post_id__isnull=True)
        if sees_posts:
            is_visible |= Q(post_id__in=post_ids)
        # Old events are deleted. Without its event, the post of a notification is unknown, so it is hidden.
        notifications = notifications.filter(Exists(events.filter(is_visible)))
    return notifications.order_by("-updated_at", "-pk")


def count_unread(actor: Actor) -> int:
    """Return the number of unread notifications, at most `MAX_COUNT` + 1. One query."""
    # A limit, because the database would count all rows, and the page shows no more than `MAX_COUNT`+.
    return visible_notifications(actor).filter(read_at=None).order_by()[: MAX_COUNT + 1].count()


def count_unseen(actor: Actor) -> int:
    """Return the number of notifications since the actor last looked, at most `MAX_COUNT` + 1. One query."""
    rows = visible_notifications(actor).filter(read_at=None, is_seen=False)
    return rows.order_by()[: MAX_COUNT + 1].count()


def describe(rows: Sequence[Notification]) -> list[NotificationLine]:
    """Return the lines of these rows, in order. One or two queries per kind.

    A kind that fails is left out; the others are still returned.
    """
    by_kind: dict[str, list[Notification]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    texts: dict[int, NotificationText] = {}
    for name, kind_rows in by_kind.items():
        kind = notification_kinds.get(name)
        if kind is None:
            continue
        try:
            texts.update(kind.describe(kind_rows))
        # The page as a whole cannot work without the database, so this error is not the kind's.
        except DATABASE_UNREACHABLE:
            raise
        except Exception as error:
            log_once(logger, f"Notifications of the kind {name} cannot be shown.", error)
    return [
        NotificationLine(row.pk, texts[row.pk], row.updated_at, row.read_at is None)
        for row in rows
        if row.pk in texts
    ]
