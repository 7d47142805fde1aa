"""Queries for a user's own notifications."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from proofroom.core.admin.navigation import MAX_COUNT
from proofroom.core.content_scope import limits_of, reading_scopes, visible_post_ids
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.models import Event
from proofroom.core.realtime.messages import find_outside
from proofroom.core.repeated_errors import log_once
from proofroom.notifications.models import Channel, Notification, NotificationChoice
from proofroom.notifications.notification_types import (
    Category,
    NotificationText,
    notification_kinds,
)

logger = logging.getLogger(__name__)
MAX_MAIL_AGE: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class NotificationLine:
    """A notification with its text."""

    pk: int
    kind: str
    category: Category | None
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


def channels_of(user: User) -> dict[str, str]:
    """Return the user's channel for each registered kind. One query."""
    chosen = dict(user.notification_choices.values_list("kind", "channel"))
    return {kind.name: chosen.get(kind.name, kind.default_channel) for kind in notification_kinds}


def unmailed_notifications(channel: Channel) -> QuerySet[Notification]:
    """Return unread notifications that a mail of this channel is due for, of all users.

    Those of the last week: after a longer outage, the list in the admin is enough.
    """
    kinds = [kind for kind in notification_kinds if kind.can_be_mailed]
    by_default = [kind.name for kind in kinds if kind.default_channel == channel]
    chosen = NotificationChoice.objects.filter(user=OuterRef("user"), kind=OuterRef("kind"))
    is_wanted = Q(Exists(chosen.filter(channel=channel))) | (
        Q(kind__in=by_default) & ~Q(Exists(chosen))
    )
    return Notification.objects.filter(
        is_wanted,
        kind__in=[kind.name for kind in kinds],
        read_at=None,
        mailed_event_id__lt=F("event_id"),
        updated_at__gte=timezone.now() - MAX_MAIL_AGE,
    )


def people_mentioned(event: Event) -> list[str]:
    """Return the names of the people whom an event mentions and who may see it, sorted. Empty for other events."""
    names: set[str] = set()
    for kind in notification_kinds:
        is_mention = kind.category is Category.MENTION and event.name in kind.events
        if is_mention and event.forgotten_at is None:
            ids = {user_id for notice in kind.find_notices(event) for user_id in notice.user_ids}
            people = list(User.objects.filter(pk__in=ids, is_active=True))
            User.preload_roles(people)
            names |= {
                person.username for person in people if _may_see(person, event, kind.permission)
            }
    return sorted(names)


def _may_see(person: User, event: Event, permission: str) -> bool:
    if not person.has_perm(permission):
        return False
    if event.post_id is None:
        return True
    limits = limits_of(person, permission)
    return not find_outside([event.post_id], [limits])(limits, event.post_id)


def listed_notifications(actor: Actor) -> QuerySet[Notification]:
    """Return the actor's notifications of kinds with a category, the latest first."""
    names = [kind.name for kind in notification_kinds if kind.category is not None]
    return visible_notifications(actor).filter(kind__in=names)


def posts_of(rows: Sequence[Notification]) -> dict[int, UUID]:
    """Return the post of each notification's last event, by the id of the event. One query."""
    found = Event.objects.filter(pk__in={row.event_id for row in rows}, post_id__isnull=False)
    return {pk: post_id for pk, post_id in found.values_list("pk", "post_id") if post_id}


def count_unread(actor: Actor) -> int:
    """Return the number of unread notifications that the list shows, at most `MAX_COUNT` + 1."""
    return _count_shown(visible_notifications(actor).filter(read_at=None), actor)


def count_unseen(actor: Actor) -> int:
    """Return the number of notifications since the actor last looked, at most `MAX_COUNT` + 1."""
    rows = visible_notifications(actor).filter(read_at=None, is_seen=False)
    return _count_shown(rows, actor)


def _count_shown(rows: QuerySet[Notification], actor: Actor) -> int:
    """Return the number of rows that `describe` shows. One query for actors without limits, else two a kind more.

    At most `MAX_COUNT` + 1, because the database would count all rows, and pages show no more than `MAX_COUNT`+.
    """
    rows, most = rows.order_by(), MAX_COUNT + 1
    checked = [kind for kind in notification_kinds if kind.find_visible is not None]
    if not reading_scopes(actor) and actor.can("media.view"):
        checked = []  # every subject is visible
    if not checked:
        return rows[:most].count()
    found = list(rows[:most])
    hidden = 0
    for kind in checked:
        of_kind = [row for row in found if row.kind == kind.name]
        if of_kind and kind.find_visible is not None:
            hidden += len(of_kind) - len(kind.find_visible(actor, of_kind))
    return len(found) - hidden


def describe(rows: Sequence[Notification], actor: Actor) -> list[NotificationLine]:
    """Return the lines of these rows of `visible_notifications`, in order. One to three queries per kind.

    Rows whose subject the actor may not see are left out. A kind that fails is left out, too; the others are still
    returned.
    """
    by_kind: dict[str, list[Notification]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    texts: dict[int, NotificationText] = {}
    categories: dict[str, Category | None] = {}
    for name, kind_rows in by_kind.items():
        kind = notification_kinds.get(name)
        if kind is None:
            continue
        categories[name] = kind.category
        try:
            if kind.find_visible is not None:
                visible = kind.find_visible(actor, kind_rows)
                kind_rows = [row for row in kind_rows if row.pk in visible]
            texts.update(kind.describe(kind_rows) if kind_rows else {})
        # The page as a whole cannot work without the database, so this error is not the kind's.
        except DATABASE_UNREACHABLE:
            raise
        except Exception as error:
            log_once(logger, f"Notifications of the kind {name} cannot be shown.", error)
    return [
        NotificationLine(
            row.pk,
            row.kind,
            categories[row.kind],
            texts[row.pk],
            row.updated_at,
            row.read_at is None,
        )
        for row in rows
        if row.pk in texts
    ]
