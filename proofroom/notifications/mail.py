"""Notification mails: one per user, with the notifications since the last mail."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone, translation

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.actor import Actor
from proofroom.core.independent_steps import independent_steps
from proofroom.notifications.models import Channel, Notification, NotificationChoice
from proofroom.notifications.notification_types import notification_kinds
from proofroom.notifications.queries import describe, visible_notifications

MAX_LINES = 50
"""Largest number of notifications in one mail. The next mail has the rest."""

logger = logging.getLogger(__name__)


def mail_notifications() -> int:
    """Mail unread notifications to users who chose mail. Return the number of mails sent.

    If a mail cannot be sent, its notifications are sent next time.
    """
    names = [kind.name for kind in notification_kinds if kind.can_be_mailed]
    if not settings.HAS_EMAIL or not names:
        return 0
    wanted = NotificationChoice.objects.filter(kind__in=names, channel=Channel.MAIL)
    fresh = Notification.objects.filter(
        read_at=None, kind__in=names, mailed_event_id__lt=F("event_id")
    )
    users = User.objects.filter(
        pk__in=wanted.values("user"), notifications__in=fresh, is_active=True
    ).exclude(email="")
    count = 0
    with independent_steps() as step:
        for user in users.distinct().order_by("pk"):
            with step(f"the mail to account {user.pk}"):
                count += _mail(user)
    return count


def _mail(user: User) -> bool:
    names = [kind.name for kind in notification_kinds if kind.can_be_mailed]
    kinds = user.notification_choices.filter(kind__in=names, channel=Channel.MAIL)
    with transaction.atomic():
        # Rows are claimed before sending, under a lock, so that two processes do not send the same notification.
        rows_of_user = visible_notifications(Actor(user, "system")).select_for_update(of=("self",))
        unsent = rows_of_user.filter(
            read_at=None, kind__in=kinds.values("kind"), mailed_event_id__lt=F("event_id")
        )
        rows = list(unsent[:MAX_LINES])
        claimed = {row.pk: row.mailed_event_id for row in rows}
        Notification.objects.filter(pk__in=claimed).update(mailed_event_id=F("event_id"))
    if not rows:
        return False
    try:
        _send(user, rows)
    # Release the claim, unless the row got a later event since: that one has not been claimed.
    except Exception as error:
        for row in rows:
            still_claimed = Notification.objects.filter(pk=row.pk, mailed_event_id=row.event_id)
            still_claimed.update(mailed_event_id=claimed[row.pk])
        if not isinstance(error, OSError):  # SMTPException is a subclass of OSError
            raise
        logger.exception("Cannot mail the notifications of account %s", user.pk)
        return False
    return True


def _send(user: User, rows: Sequence[Notification]) -> None:
    stored = preferences_of(user)
    with (
        translation.override(stored.language or settings.LANGUAGE_CODE),
        timezone.override(stored.time_zone or None),
    ):
        lines = [
            (line.text.text, settings.SITE_URL + line.text.url)
            for line in describe(rows)
            if line.text.url
        ]
        if not lines:
            return
        choices = settings.SITE_URL + reverse("admin:notification-choices")
        context = {"lines": lines, "choices": choices, "first": lines[0][0], "count": len(lines)}
        get_adapter().render_mail("account/email/notifications", user.email, context).send()
