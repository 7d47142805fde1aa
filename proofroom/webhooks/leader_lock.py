"""The lock of the one process that sends deliveries, so that order and channels are kept in one place."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from proofroom.webhooks.models import SenderLease

LOCK_SECONDS: Final = 15
MAX_AHEAD: Final = timedelta(minutes=5)
"""A lock that ends later than this was taken before the clock was set back, and counts as free."""


def acquire_lock(holder: UUID) -> bool:
    """Take the lock if it is free. Returns whether the holder has it; never waits."""
    now = timezone.now()
    free = Q(holder__isnull=True) | Q(until__isnull=True) | Q(until__lt=now)
    free |= Q(until__gt=now + MAX_AHEAD)
    until = now + timedelta(seconds=LOCK_SECONDS)
    if SenderLease.objects.filter(free, pk=1).update(holder=holder, until=until):
        return True
    _, is_new = SenderLease.objects.get_or_create(pk=1, defaults={"holder": holder, "until": until})
    return is_new


def renew_lock(holder: UUID) -> bool:
    """Extend the lock. Returns False if another process has it by now."""
    until = timezone.now() + timedelta(seconds=LOCK_SECONDS)
    return bool(SenderLease.objects.filter(pk=1, holder=holder).update(until=until))


def release_lock(holder: UUID) -> None:
    SenderLease.objects.filter(pk=1, holder=holder).update(holder=None, until=None)


def is_locked() -> bool:
    now = timezone.now()
    return SenderLease.objects.filter(
        pk=1, holder__isnull=False, until__range=(now, now + MAX_AHEAD)
    ).exists()
