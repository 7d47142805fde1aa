"""What became of calls, written in one transaction: attempts, the states of deliveries, failing addresses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from webhooks.failing import judge
from webhooks.models import Attempt, Delivery, DeliveryStatus, Webhook
from webhooks.numbering import next_numbers
from webhooks.outcomes import Outcome, next_wait, outcome_of
from webhooks.redaction import Redactor
from webhooks.wire import Ended

_FIELDS = [
    "status",
    "next_attempt_at",
    "claimed_until",
    "finished_at",
    "last_status_code",
    "last_error",
]


@transaction.atomic
def write(ended: Sequence[Ended]) -> None:
    """Store what ended. What was taken from the sender meanwhile (forgotten, deleted) is left as it is."""
    webhooks = _locked_webhooks(
        {id_ for end in ended if (id_ := end.delivery.webhook_id) is not None}
    )
    ours = _still_ours(ended)
    numbers = next_numbers([end.delivery.pk for end in ours if not _is_first(end.delivery)])
    now = timezone.now()
    outcomes = [(end, outcome_of(end.came, now)) for end in ours]
    Attempt.objects.bulk_create(
        _attempt(end, outcome, numbers.get(end.delivery.pk, 1)) for end, outcome in outcomes
    )
    _settle(outcomes, now)
    for webhook_id, told in _by_webhook(outcomes).items():
        if webhook_id in webhooks:
            judge(webhooks[webhook_id], told, now)


@transaction.atomic
def give_up(delivery: Delivery, reason: str, *, failed: bool = False) -> None:
    """A claimed delivery for which no call is made."""
    status = DeliveryStatus.FAILED if failed else DeliveryStatus.CANCELLED
    Delivery.objects.filter(
        pk=delivery.pk, status=DeliveryStatus.SENDING, claimed_until=delivery.claimed_until
    ).update(
        status=status,
        next_attempt_at=None,
        claimed_until=None,
        finished_at=timezone.now(),
        last_error=reason[:300],
    )


def _locked_webhooks(ids: set[UUID]) -> dict[UUID, Webhook]:
    """Before their deliveries, in the order in which everybody locks them."""
    rows = Webhook.objects.select_for_update(no_key=True).filter(pk__in=ids)
    return {row.pk: row for row in rows.order_by("pk")}


def _still_ours(ended: Sequence[Ended]) -> list[Ended]:
    claimed = dict(
        Delivery.objects.select_for_update(no_key=True)
        .filter(pk__in=[end.delivery.pk for end in ended], status=DeliveryStatus.SENDING)
        .order_by("pk")
        .values_list("pk", "claimed_until")
    )
    return [end for end in ended if claimed.get(end.delivery.pk) == end.delivery.claimed_until]


def _is_first(delivery: Delivery) -> bool:
    """Whether it never went out before, replays included: most never do, and nobody need be asked."""
    return delivery.attempts == 1 and delivery.last_status_code is None and not delivery.last_error


def _attempt(end: Ended, outcome: Outcome, number: int) -> Attempt:
    redactor = Redactor(end.outgoing)
    answer = end.answer
    error = outcome.error or (answer.note if answer else "")
    return Attempt(
        delivery=end.delivery,
        number=number,
        at=end.at,
        ms=end.ms,
        status_code=outcome.status_code,
        error=redactor.text(error)[:300],
        request_headers=redactor.request_headers(end.headers),
        response_headers=redactor.response_headers(answer.headers) if answer else {},
        response_body=redactor.body(answer.body) if answer else "",
    )


def _settle(outcomes: Iterable[tuple[Ended, Outcome]], now: datetime) -> None:
    done: dict[int | None, list[UUID]] = defaultdict(list)
    others: list[Delivery] = []
    for end, outcome in outcomes:
        if outcome.is_success:
            done[outcome.status_code].append(end.delivery.pk)
        else:
            others.append(_not_done(end, outcome, now))
    for status_code, ids in done.items():
        Delivery.objects.filter(pk__in=ids).update(
            status=DeliveryStatus.SUCCEEDED,
            next_attempt_at=None,
            claimed_until=None,
            finished_at=now,
            last_status_code=status_code,
            last_error="",
        )
    Delivery.objects.bulk_update(others, _FIELDS)


def _not_done(end: Ended, outcome: Outcome, now: datetime) -> Delivery:
    row = end.delivery
    wait = next_wait(row.attempts, outcome)
    row.status = DeliveryStatus.FAILED if wait is None else DeliveryStatus.PENDING
    row.next_attempt_at = None if wait is None else now + wait
    row.finished_at = now if wait is None else None
    row.claimed_until = None
    row.last_status_code = outcome.status_code
    row.last_error = Redactor(end.outgoing).text(outcome.error)[:300]
    return row


def _by_webhook(
    outcomes: Iterable[tuple[Ended, Outcome]],
) -> dict[UUID | None, list[tuple[datetime, Outcome]]]:
    found: dict[UUID | None, list[tuple[datetime, Outcome]]] = defaultdict(list)
    for end, outcome in outcomes:
        found[end.delivery.webhook_id].append((end.at, outcome))
    return found
