"""Scheduled tasks of notifications."""

from __future__ import annotations

from celery import shared_task

from proofroom.core.privacy.declarations import days_of
from proofroom.notifications.mail import mail_digests, mail_notifications
from proofroom.notifications.services import purge_notifications


@shared_task(name="notifications.tasks.purge")
def purge() -> int:
    """Delete notifications older than `NOTIFICATION_DAYS`. Return how many."""
    return purge_notifications(days=days_of("notifications"))


@shared_task(name="notifications.tasks.mail")
def mail() -> int:
    """Send the notification mails that are due at once. Return how many."""
    return mail_notifications()


@shared_task(name="notifications.tasks.digest")
def digest() -> int:
    """Send the digests that are due. Return how many."""
    return mail_digests()
