"""Who sends at present. One process does, so that order and lanes are kept in one place."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from webhooks.models import SenderLease

SECONDS: Final = 15
_TOO_FAR: Final = timedelta(minutes=5)
"""Nobody's lease reaches so far: the clock was set back since."""


def take(holder: UUID) -> bool:
    """Whether the lease is this holder's now. Nobody waits for it."""
    now = timezone.now()
    free = Q(holder__isnull=True) | Q(until__isnull=True) | Q(until__lt=now)
    free |= Q(until__gt=now + _TOO_FAR)
    until = now + timedelta(seconds=SECONDS)
    if SenderLease.objects.filter(free, pk=1).update(holder=holder, until=until):
        return True
    _, is_new = SenderLease.objects.get_or_create(pk=1, defaults={"holder": holder, "until": until})
    return is_new


def refresh(holder: UUID) -> bool:
    """Hold on to it. False where another one has it by now."""
    until = timezone.now() + timedelta(seconds=SECONDS)
    return bool(SenderLease.objects.filter(pk=1, holder=holder).update(until=until))


def let_go(holder: UUID) -> None:
    SenderLease.objects.filter(pk=1, holder=holder).update(holder=None, until=None)


def is_held() -> bool:
    now = timezone.now()
    return SenderLease.objects.filter(
        pk=1, holder__isnull=False, until__range=(now, now + _TOO_FAR)
    ).exists()
