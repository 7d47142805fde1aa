"""Services that add, mark and delete notifications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import User
from proofroom.accounts.queries import active_people, roles_with
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import limits_of
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.realtime.messages import find_outside
from proofroom.core.task_queue import queue_task, send_after_commit
from proofroom.notifications.models import (
    MAILED,
    MAX_SUBJECTS,
    Channel,
    Notification,
    NotificationChoice,
)
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    mentions_added,
    notification_kinds,
)
from proofroom.notifications.queries import channels_of, listed_notifications, visible_notifications


@dataclass(frozen=True)
class _KindSubscriber:
    """A subscriber that adds the notifications of one kind. An error in one kind does not affect the others."""

    kind: NotificationKind

    def __call__(self, events: Sequence[Event]) -> None:
        _add_of_kind(self.kind, events)


def register_kind(kind: NotificationKind) -> None:
    """Register a kind and subscribe to its events. Call at startup."""
    notification_kinds.register(kind, name=kind.name)
    outbox.subscribe_to_many(
        kind.events, _KindSubscriber(kind), id=f"notifications.notify.{kind.name}"
    )


def users_with_permission(permission: str, *, but: int | None) -> list[int]:
    """Return the ids of active people with the permission, except `but`, the user who acted."""
    found = User.objects.filter(is_active=True, role__in=roles_with(permission))
    return [pk for pk in found.order_by("pk").values_list("pk", flat=True) if pk != but]


def add_notifications(events: Sequence[Event]) -> None:
    """Add these events to the notifications of the users they concern. Idempotent per event."""
    for kind in notification_kinds:
        _add_of_kind(kind, events)


def _add_of_kind(kind: NotificationKind, events: Sequence[Event]) -> None:
    groups: dict[str, list[tuple[Event, Notice]]] = defaultdict(list)
    for event in events:
        if event.name in kind.events and event.forgotten_at is None:
            for notice in kind.find_notices(event):
                groups[notice.group].append((event, notice))
    reached: set[int] = set()
    for group, found in groups.items():
        reached |= _add(kind, group, found)
    if reached and _wants_mail(kind, reached):
        # The sweep finds what this message does not.
        send_after_commit(_wake_mail, "notification mails", once=True)
    if groups and kind.category is Category.MENTION:
        mentioning = {event.pk: event for found in groups.values() for event, _notice in found}
        mentions_added([*mentioning.values()])


def _wants_mail(kind: NotificationKind, user_ids: set[int]) -> bool:
    if not settings.HAS_EMAIL or not kind.can_wake_mail:
        return False
    if kind.default_channel == Channel.MAIL:
        return True
    chosen = NotificationChoice.objects.filter(kind=kind.name, channel=Channel.MAIL)
    return chosen.filter(user__in=user_ids).exists()


def _wake_mail() -> None:
    queue_task("notifications.tasks.mail")


def _add(kind: NotificationKind, group: str, found: Sequence[tuple[Event, Notice]]) -> set[int]:
    """Add the events to the notifications of a group. Return the ids of the users who have something new."""
    by_user: dict[int, list[tuple[Event, Notice]]] = defaultdict(list)
    for event, notice in found:
        for user_id in notice.user_ids:
            by_user[user_id].append((event, notice))
    rows = active_people().filter(pk__in=by_user)
    off = NotificationChoice.objects.filter(kind=kind.name, channel=Channel.OFF)
    rows = rows.exclude(pk__in=off.values("user"))
    people = list(rows.order_by("pk"))
    User.preload_roles(people)
    ids = [person.pk for person in people]
    # Users get no notification about posts outside of their scopes for this permission.
    limits = {person.pk: limits_of(person, kind.permission) for person in people}
    posts = {event.post_id for event, _notice in found if event.post_id is not None}
    is_outside = find_outside(posts, limits.values())
    own = Notification.objects.filter(user__in=ids, kind=kind.name, group=group)
    # Locked, because two workers could add events to the same row at the same time.
    unread = {row.user_id: row for row in own.select_for_update().filter(read_at=None)}
    first = min(event.pk for event, _notice in found)
    # Read rows too: an event that is delivered a second time may already be in one of them.
    delivered = list(own.filter(event_id__gte=first).values_list("user_id", "event_id", "subjects"))
    now, added = timezone.now(), []
    reached: set[int] = set()
    for user_id in ids:
        row = unread.get(user_id)
        for event, notice in by_user[user_id]:
            if event.post_id is not None and is_outside(limits[user_id], event.post_id):
                continue
            if any(
                user == user_id and event.pk <= last and notice.subject in subjects
                for user, last, subjects in delivered
            ):
                continue
            if row is None:
                row = Notification(
                    user_id=user_id, kind=kind.name, group=group, count=0, created_at=now
                )
                added.append(row)
            # A new row has no event yet. A row of the version before digests has no time.
            if row.waiting_since is None or row.mailed_event_id >= (row.event_id or 0):
                row.waiting_since = now
            reached.add(user_id)
            other_subjects = [subject for subject in row.subjects if subject != notice.subject]
            # A subject counts once, however many events it has.
            row.count += len(other_subjects) == len(row.subjects)
            row.subjects = [notice.subject, *other_subjects][:MAX_SUBJECTS]
            row.event_id, row.updated_at, row.is_seen = event.pk, now, False
    changed = [unread[user_id] for user_id in ids if user_id in unread]
    Notification.objects.bulk_update(
        changed, ["subjects", "count", "event_id", "updated_at", "is_seen", "waiting_since"]
    )
    Notification.objects.bulk_create(added)
    return reached


@transaction.atomic
def mark_read(*, notification_id: int, actor: Actor) -> Notification:
    """Mark one of the actor's notifications as read. Raises `NotFound`, also for another user's."""
    row = visible_notifications(actor).select_for_update().filter(pk=notification_id).first()
    if row is None:
        raise NotFound(_("Notification not found."))
    if row.read_at is None:
        row.read_at = timezone.now()
        row.save(update_fields=["read_at"])
    return row


@transaction.atomic
def mark_seen(*, until: datetime, actor: Actor) -> int:
    """Mark the actor's notifications up to `until` as seen. They stay unread. Return how many were new."""
    rows = visible_notifications(actor).filter(is_seen=False, updated_at__lte=until)
    return rows.update(is_seen=True)


@transaction.atomic
def mark_all_read(*, actor: Actor) -> int:
    """Mark all of the actor's notifications as read. Return how many."""
    return visible_notifications(actor).filter(read_at=None).update(read_at=timezone.now())


@transaction.atomic
def mark_listed_read(*, actor: Actor) -> int:
    """Mark all of the actor's notifications that the API lists as read. Return how many."""
    return listed_notifications(actor).filter(read_at=None).update(read_at=timezone.now())


@transaction.atomic
def mark_some_read(*, notification_ids: Collection[int], actor: Actor) -> int:
    """Mark these notifications of the actor as read. Return how many were unread.

    Raises `RuleViolation` if the actor has no such notification; then none is marked.
    """
    rows = visible_notifications(actor)
    found = set(rows.filter(pk__in=notification_ids).values_list("pk", flat=True))
    if unknown := sorted(set(notification_ids) - found):
        raise invalid("ids", _("Notification not found: %(id)s.") % {"id": unknown[0]})
    return rows.filter(pk__in=found, read_at=None).update(read_at=timezone.now())


@transaction.atomic
def choose_channels(*, actor: Actor, channels: Mapping[str, str]) -> None:
    """Set the actor's channels for these kinds. Other kinds stay unchanged.

    Raises `NotAllowed` for programs, and `RuleViolation` by kind if the actor may not see it or it cannot be mailed.
    """
    actor.require_session("choose their notifications")
    # Lock the account, because the rows may not exist yet: concurrent first choices must wait.
    user = User.objects.select_for_update().get(pk=actor.user.pk)
    for name, channel in channels.items():
        kind = notification_kinds.get(name)
        if kind is None or not actor.can(kind.permission):
            raise invalid(name, _("Unknown kind of notifications."))
        if channel not in Channel.values or (channel in MAILED and not kind.can_be_mailed):
            raise invalid(name, _("Choose one of the options."))
    _store_channels(user, channels, actor=actor)


def _store_channels(user: User, channels: Mapping[str, str], *, actor: Actor) -> None:
    stored = channels_of(user)
    changed = {name: channel for name, channel in channels.items() if channel != stored.get(name)}
    if not changed:
        return
    for name, channel in changed.items():
        user.notification_choices.update_or_create(kind=name, defaults={"channel": channel})
        if channel in MAILED:
            # Existing notifications are in the list already; mails start with the next event.
            user.notifications.filter(kind=name).update(mailed_event_id=F("event_id"))
    payload: JsonObject = {
        "id": user.pk,
        "changed": ["notifications"],
        "role": user.role,
        "active": user.is_active,
    }
    outbox.record("user.changed", actor=actor, payload=payload)


_UNSUBSCRIBE_SALT: Final = "notifications.unsubscribe"


def unsubscribe_token(user: User, channel: Channel, kinds: Collection[str]) -> str:
    """Return the token of a mail's unsubscribe link: it turns off mails of these kinds by this channel."""
    content = [user.pk, channel.value, sorted(kinds)]
    return signing.dumps(content, salt=_UNSUBSCRIBE_SALT, compress=True)


def parse_unsubscribe_token(token: str) -> tuple[User, Channel, list[str]]:
    """Return the user, the channel and the kinds of a token. Raises `NotFound` if it is not one of ours."""
    try:
        user_id, channel, kinds = signing.loads(token, salt=_UNSUBSCRIBE_SALT)
        return User.objects.get(pk=user_id), Channel(channel), [str(kind) for kind in kinds]
    # A token of another salt or version can have any content.
    except (signing.BadSignature, User.DoesNotExist, TypeError, ValueError):
        raise NotFound(_("This link is not valid.")) from None


@transaction.atomic
def unsubscribe(token: str) -> int:
    """Turn off the mails that a token names. Their notifications stay in the admin. Idempotent.

    Kinds that were set to another channel since the mail keep it. Return how many kinds changed. Raises `NotFound`
    for a wrong token.
    """
    found, channel, kinds = parse_unsubscribe_token(token)
    user = User.objects.select_for_update().get(pk=found.pk)
    present = channels_of(user)
    off = {kind: Channel.ADMIN.value for kind in kinds if present.get(kind) == channel}
    # The link proves that the user got the mail, but there is no session.
    _store_channels(user, off, actor=Actor(user=user, via="site"))
    return len(off)


def purge_notifications(*, days: int) -> int:
    """Delete notifications older than `days`; 0 keeps all. Return how many. Idempotent."""
    if days < 1:
        return 0
    old = Notification.objects.filter(updated_at__lt=timezone.now() - timedelta(days=days))
    return old.delete()[0]
