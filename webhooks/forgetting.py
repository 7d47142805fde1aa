"""Words that must be gone are not sent any more, and nothing that receivers echoed of them stays."""

from __future__ import annotations

from django.utils import timezone

from webhooks.models import Attempt, Delivery, DeliveryStatus

SENTENCE = "The words of this event were deleted."


def forget(event_ids: list[int]) -> None:
    """Inside the transaction of the deletion."""
    rows = Delivery.objects.filter(event_id__in=event_ids)
    # In one order, as the sender does, so that the two never wait for each other.
    ids = list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
    if not ids:
        return
    Attempt.objects.filter(delivery__in=ids).update(response_body="", response_headers={})
    Delivery.objects.filter(pk__in=ids, next_attempt_at__isnull=False).update(
        status=DeliveryStatus.CANCELLED,
        next_attempt_at=None,
        claimed_until=None,
        finished_at=timezone.now(),
        last_error=SENTENCE,
    )
