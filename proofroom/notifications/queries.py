"""Reads of notifications: a person's own, of kinds that they may see."""

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
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.models import Event
from proofroom.core.repeated_errors import log_once
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import NotificationText, notification_kinds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NotificationLine:
    """A notification and its text."""

    pk: int
    text: NotificationText
    at: datetime
    is_unread: bool


def notifications_of(actor: Actor) -> QuerySet[Notification]:
    """The actor's own, of the kinds that they may see, the latest first.

    Of posts that they may see: where they are limited, or may see none, what happened last must be known for it.
    """
    names = [kind.name for kind in notification_kinds if actor.can(kind.permission)]
    own = Notification.objects.filter(user_id=actor.user.pk, kind__in=names)
    post_ids = visible_post_ids(actor)
    sees_posts = actor.can("posts.view")
    if (reading_scopes(actor) or not sees_posts) and post_ids is not None:
        events = Event.objects.filter(pk=OuterRef("event_id"))
        seen = Q(post_id__isnull=True)
        if sees_posts:
            seen |= Q(post_id__in=post_ids)
        own = own.filter(Exists(events.filter(seen)))
    return own.order_by("-updated_at", "-pk")


def count_unread(actor: Actor) -> int:
    """How many are unread, one more than `MAX_COUNT` at most. One query."""
    return notifications_of(actor).filter(read_at=None).order_by()[: MAX_COUNT + 1].count()


def count_unseen(actor: Actor) -> int:
    """How many came since the actor last looked, one more than `MAX_COUNT` at most. One query."""
    rows = notifications_of(actor).filter(read_at=None, is_seen=False)
    return rows.order_by()[: MAX_COUNT + 1].count()


def describe(rows: Sequence[Notification]) -> list[NotificationLine]:
    """Return the lines of these rows, in their order. A query or two for each kind among them.

    The lines of a kind that fails are left out, and those of no other one.
    """
    by_kind: dict[str, list[Notification]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    texts: dict[int, NotificationText] = {}
    for name, of_kind in by_kind.items():
        kind = notification_kinds.get(name)
        if kind is None:
            continue
        try:
            texts.update(kind.describe(of_kind))
        except DATABASE_AWAY:
            raise
        except Exception as error:
            log_once(logger, f"Notifications of the kind {name} cannot be shown.", error)
    return [
        NotificationLine(row.pk, texts[row.pk], row.updated_at, row.read_at is None)
        for row in rows
        if row.pk in texts
    ]
