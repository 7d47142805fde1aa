"""Attempts are counted over the life of a delivery, replays included."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Max

from webhooks.models import Attempt


def next_numbers(delivery_ids: Collection[UUID]) -> dict[UUID, int]:
    """The number of the next attempt of each. The deliveries are locked by the caller."""
    if not delivery_ids:
        return {}
    last = (
        Attempt.objects.filter(delivery__in=delivery_ids)
        .order_by()
        .values_list("delivery")
        .annotate(last=Max("number"))
    )
    return dict.fromkeys(delivery_ids, 1) | {id_: number + 1 for id_, number in last}
