"""Notification mails: at once, or once a day as a digest. One per user, with the notifications since the last one.

What a mail names is checked when it is made, against what its reader may see then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import ngettext

from proofroom.accounts.models import User
from proofroom.accounts.queries import preferences_of
from proofroom.core.actor import Actor
from proofroom.core.independent_steps import independent_steps
from proofroom.core.site_urls import absolute
from proofroom.notifications.models import Channel, Notification
from proofroom.notifications.queries import (
    NotificationLine,
    describe,
    unmailed_notifications,
    visible_notifications,
)
from proofroom.notifications.services import unsubscribe_token

MAX_LINES: Final = 50
"""Largest number of notifications in one mail. The next mail has the rest."""
DIGEST_HOUR: Final = 7
"""The hour of a digest, in its reader's time zone."""

logger = logging.getLogger(__name__)


def mail_notifications() -> int:
    """Mail unread notifications to users who get them at once. Return the number of mails sent.

    If a mail cannot be sent, its notifications are sent next time.
    """
    return _mail_all(Channel.MAIL)


def mail_digests() -> int:
    """Mail digests with what was unread at the last `DIGEST_HOUR`. Return the number of mails sent.

    May run at any time and any number of times: what came later waits for the next day.
    """
    return _mail_all(Channel.DIGEST)


def last_digest_time(zone: str) -> datetime:
    """Return the last time at which digests were due in a time zone."""
    local = timezone.localtime(timezone=ZoneInfo(zone))
    due = local.replace(hour=DIGEST_HOUR, minute=0, second=0, microsecond=0)
    return due if due <= local else due - timedelta(days=1)


def _mail_all(channel: Channel) -> int:
    if not settings.HAS_EMAIL:
        return 0
    waiting = unmailed_notifications(channel).values("user")
    users = User.objects.filter(pk__in=waiting, is_active=True).exclude(email="")
    count = 0
    with independent_steps() as step:
        for user in users.order_by("pk"):
            with step(f"the mail to account {user.pk}"):
                count += _mail(user, channel)
    return count


def _mail(user: User, channel: Channel) -> bool:
    unmailed = unmailed_notifications(channel).filter(user=user)
    if channel == Channel.DIGEST:
        zone = preferences_of(user).time_zone or settings.TIME_ZONE
        unmailed = unmailed.filter(waiting_since__lte=last_digest_time(zone))
    with transaction.atomic():
        # Rows are claimed before sending, under a lock, so that two processes do not send the same notification.
        visible = visible_notifications(Actor(user, "system")).filter(pk__in=unmailed.values("pk"))
        locked = visible.select_for_update(of=("self",))
        # The database evaluates the subquery before it waits for the lock, so this condition stands outside, too.
        rows = list(locked.filter(read_at=None, mailed_event_id__lt=F("event_id"))[:MAX_LINES])
        claimed = {row.pk: row.mailed_event_id for row in rows}
        Notification.objects.filter(pk__in=claimed).update(mailed_event_id=F("event_id"))
    if not rows:
        return False
    try:
        return _send(user, channel, rows)
    # Release the claim, unless the row got a later event since: that one has not been claimed.
    except Exception as error:
        for row in rows:
            still_claimed = Notification.objects.filter(pk=row.pk, mailed_event_id=row.event_id)
            still_claimed.update(mailed_event_id=claimed[row.pk])
        if not isinstance(error, OSError):  # SMTPException is a subclass of OSError
            raise
        logger.exception("Cannot mail the notifications of account %s", user.pk)
        return False


def _send(user: User, channel: Channel, rows: Sequence[Notification]) -> bool:
    stored = preferences_of(user)
    with (
        translation.override(stored.language or settings.LANGUAGE_CODE),
        timezone.override(stored.time_zone or None),
    ):
        # Without an address, the subject was deleted since.
        lines = [line for line in describe(rows, Actor(user, "system")) if line.text.url]
        if not lines:
            return False
        token = unsubscribe_token(user, channel, {line.kind for line in lines})
        address = absolute(reverse("admin:notification-unsubscribe", args=[token]))
        context = {
            "title": _title(channel, lines),
            "lines": [_parts_of(line) for line in lines],
            "is_digest": channel == Channel.DIGEST,
            "choices": absolute(reverse("admin:notification-choices")),
            "unsubscribe": address,
            "language": translation.get_language(),
        }
        headers = {
            "List-Unsubscribe": f"<{address}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",  # RFC 8058
            "Auto-Submitted": "auto-generated",
        }
        prefix = "account/email/notifications"
        get_adapter().render_mail(prefix, user.email, context, headers).send()
    return True


def _title(channel: Channel, lines: Sequence[NotificationLine]) -> str:
    """Return the subject of the mail."""
    if len(lines) == 1:
        return lines[0].text.text
    if channel == Channel.DIGEST:
        text = ngettext("Today: %(n)s notification", "Today: %(n)s notifications", len(lines))
    else:
        text = ngettext("%(n)s notification", "%(n)s notifications", len(lines))
    return text % {"n": len(lines)}


def _parts_of(line: NotificationLine) -> dict[str, object]:
    return {"text": line.text.text, "address": absolute(line.text.url), "at": line.at}
