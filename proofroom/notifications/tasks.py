"""Scheduled tasks for notifications."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from proofroom.notifications.mail import mail_notifications
from proofroom.notifications.services import purge_notifications


@shared_task(name="notifications.tasks.purge")
def purge() -> int:
    """Delete what is older than `NOTIFICATION_DAYS`. Returns how many."""
    return purge_notifications(days=settings.CMS_ENV.notification_days)


@shared_task(name="notifications.tasks.mail")
def mail() -> int:
    """Mail what people want by mail. Returns how many mails went out."""
    return mail_notifications()
