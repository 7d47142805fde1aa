"""Telling subscribers of events, from tasks."""

from __future__ import annotations

import logging

from django.db import models
from django.utils import timezone

from core.events.subscribers import subscribers_of
from core.models import Event

logger = logging.getLogger(__name__)
MAX_ATTEMPTS = 20


def dispatch(event_id: int) -> bool:
    """Tell every subscriber of the event. Answers whether all of them took it; a failing one is told again later."""
    event = Event.objects.filter(pk=event_id, dispatched_at__isnull=True).first()
    if event is None:
        return True
    failed = False
    for subscriber in subscribers_of(event.name):
        try:
            subscriber(event)
        except Exception:
            failed = True
            logger.exception("subscriber %s failed on %s", subscriber.__qualname__, event)
    Event.objects.filter(pk=event_id).update(
        attempts=models.F("attempts") + 1, dispatched_at=None if failed else timezone.now()
    )
    if failed and event.attempts + 1 == MAX_ATTEMPTS:
        logger.error("%s failed %s times and is not tried again", event, MAX_ATTEMPTS)
    return not failed


def waiting(limit: int = 500) -> list[int]:
    """Ids of events that nobody was told of yet, oldest first, leaving out what failed too often."""
    return list(
        Event.objects.filter(dispatched_at__isnull=True, attempts__lt=MAX_ATTEMPTS)
        .order_by("id")
        .values_list("id", flat=True)[:limit]
    )
