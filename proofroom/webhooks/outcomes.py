"""Outcomes of calls: what an answer means, and storing it for the attempt, the delivery and the webhook."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.http_client import CallRefused, HttpResult, Unreachable
from proofroom.webhooks.delivery_queue import next_attempt_numbers
from proofroom.webhooks.http_calls import EndedCall
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, Webhook
from proofroom.webhooks.redaction import RequestRedactor
from proofroom.webhooks.services.webhooks import host_of

MAX_WAIT: Final = timedelta(days=1)
RETRIED_STATUSES: Final = frozenset({408, 425, 429})
"""Besides those from 500."""
RETRY_AFTER_STATUSES: Final = frozenset({429, 503})
JITTER: Final = 0.2
DISABLE_AFTER: Final = timedelta(hours=24)
"""How long all calls of a webhook must have failed before it is switched off."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """`error` is a sentence for people, empty where all went well. `wait` is what the receiver asked for."""

    is_success: bool
    may_retry: bool
    error: str = ""
    status_code: int | None = None
    wait: timedelta = timedelta()


def outcome_of(ended: HttpResult | CallRefused | Unreachable, now: datetime) -> CallOutcome:
    """Judge an answer, or the lack of one."""
    if isinstance(ended, CallRefused):
        return CallOutcome(False, False, ended.reason)
    if isinstance(ended, Unreachable):
        return CallOutcome(False, True, ended.reason)
    status = ended.status
    if 200 <= status < 300:
        return CallOutcome(True, False, "", status)
    may_retry = status in RETRIED_STATUSES or status >= 500
    wait = parse_retry_after(ended, now) if status in RETRY_AFTER_STATUSES else timedelta()
    return CallOutcome(False, may_retry, f"The address answered {status}.", status, wait)


def parse_retry_after(answer: HttpResult, now: datetime) -> timedelta:
    """Read Retry-After, in seconds or as a date; zero where it says neither."""
    given = answer.headers.get("retry-after", "").strip()[:40]
    if given.isascii() and given.isdigit():
        return timedelta(seconds=min(int(given), int(MAX_WAIT.total_seconds())))
    try:
        at = parsedate_to_datetime(given)
    except (ValueError, OverflowError, IndexError):
        return timedelta()
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(at - now, timedelta()), MAX_WAIT)


def max_attempts() -> int:
    return len(settings.CMS_ENV.webhook_retry_seconds) + 1


def next_wait(attempts: int, outcome: CallOutcome) -> timedelta | None:
    """Return how long to wait after so many attempts; None where there is no further one."""
    waits = settings.CMS_ENV.webhook_retry_seconds
    if not outcome.may_retry or attempts > len(waits):
        return None
    # Receivers that came back together are not called together.
    spread = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # hides nothing
    own = timedelta(seconds=waits[attempts - 1] * spread)
    return min(max(own, outcome.wait), MAX_WAIT)


@transaction.atomic
def store_outcomes(ended: Sequence[EndedCall]) -> None:
    """Store what ended. Deliveries taken from the sender meanwhile (forgotten, deleted) are left as they are."""
    # Webhooks are locked before their deliveries, both in the order in which everybody locks them.
    webhook_ids = {end.delivery.webhook_id for end in ended if end.delivery.webhook_id is not None}
    webhooks = Webhook.objects.select_for_update(no_key=True).filter(pk__in=webhook_ids)
    locked = {row.pk: row for row in webhooks.order_by("pk")}
    claimed = dict(
        Delivery.objects.select_for_update(no_key=True)
        .filter(pk__in=[end.delivery.pk for end in ended], status=DeliveryStatus.SENDING)
        .order_by("pk")
        .values_list("pk", "claimed_until")
    )
    now = timezone.now()
    outcomes = [
        (end, outcome_of(end.came, now))
        for end in ended
        if claimed.get(end.delivery.pk) == end.delivery.claimed_until
    ]
    store_attempts(outcomes)
    settle_deliveries(outcomes, now)
    by_webhook: dict[UUID, list[tuple[datetime, CallOutcome]]] = defaultdict(list)
    for end, outcome in outcomes:
        if end.delivery.webhook_id in locked:
            by_webhook[end.delivery.webhook_id].append((end.at, outcome))
    for webhook_id, of_webhook in by_webhook.items():
        disable_failing(locked[webhook_id], of_webhook, now)


def store_attempts(outcomes: Sequence[tuple[EndedCall, CallOutcome]]) -> None:
    """Store each call with what may be kept of it."""
    # Most deliveries never went out before: those need not be asked for their last number.
    repeated = [
        row.pk
        for row in (end.delivery for end, _ in outcomes)
        if row.attempts != 1 or row.last_status_code is not None or row.last_error
    ]
    numbers = next_attempt_numbers(repeated)
    attempts = []
    for end, outcome in outcomes:
        redactor = RequestRedactor(end.outgoing)
        answer = end.answer
        error = outcome.error or (answer.note if answer else "")
        attempts.append(
            Attempt(
                delivery=end.delivery,
                number=numbers.get(end.delivery.pk, 1),
                at=end.at,
                ms=end.ms,
                status_code=outcome.status_code,
                error=redactor.text(error)[:300],
                request_headers=redactor.request_headers(end.headers),
                response_headers=redactor.response_headers(answer.headers) if answer else {},
                response_body=redactor.body(answer.body) if answer else "",
            )
        )
    Attempt.objects.bulk_create(attempts)


def settle_deliveries(outcomes: Iterable[tuple[EndedCall, CallOutcome]], now: datetime) -> None:
    """Finish what succeeded or failed for good, and set the time of the next try of what is left."""
    succeeded: dict[int | None, list[UUID]] = defaultdict(list)
    others: list[Delivery] = []
    for end, outcome in outcomes:
        row = end.delivery
        if outcome.is_success:
            succeeded[outcome.status_code].append(row.pk)
            continue
        wait = next_wait(row.attempts, outcome)
        row.status = DeliveryStatus.FAILED if wait is None else DeliveryStatus.PENDING
        row.next_attempt_at = None if wait is None else now + wait
        row.finished_at = now if wait is None else None
        row.claimed_until = None
        row.last_status_code = outcome.status_code
        row.last_error = RequestRedactor(end.outgoing).text(outcome.error)[:300]
        others.append(row)
    for status_code, ids in succeeded.items():
        Delivery.objects.filter(pk__in=ids).update(
            status=DeliveryStatus.SUCCEEDED,
            next_attempt_at=None,
            claimed_until=None,
            finished_at=now,
            last_status_code=status_code,
            last_error="",
        )
    names = ["status", "next_attempt_at", "claimed_until", "finished_at"]
    Delivery.objects.bulk_update(others, [*names, "last_status_code", "last_error"])


@transaction.atomic
def give_up(delivery: Delivery, reason: str, *, failed: bool = False) -> None:
    """Finish a claimed delivery for which no call is made."""
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


def disable_failing(
    webhook: Webhook, outcomes: Iterable[tuple[datetime, CallOutcome]], now: datetime
) -> None:
    """Note since when calls fail, and switch the webhook off after a day. The caller has locked it."""
    since = webhook.failing_since
    error = ""
    for at, outcome in sorted(outcomes, key=lambda pair: pair[0]):
        since = None if outcome.is_success else since or at
        error = outcome.error
    if since != webhook.failing_since:
        webhook.failing_since = since
        webhook.save(update_fields=["failing_since"])
    if not webhook.is_active or since is None or now - since < DISABLE_AFTER:
        return
    webhook.is_active = False
    webhook.disabled_at = webhook.updated_at = now
    webhook.disabled_reason = f"No call succeeded for a day. The last one: {error}"[:300]
    webhook.version += 1
    webhook.save(
        update_fields=["is_active", "disabled_at", "disabled_reason", "version", "updated_at"]
    )
    outbox.record(
        "webhook.disabled",
        actor=Actor(user=Visitor(username="system", role="system"), via="system"),
        payload={
            "id": str(webhook.pk),
            "name": webhook.name,
            "host": host_of(webhook.url),
            "reason": webhook.disabled_reason,
        },
    )
