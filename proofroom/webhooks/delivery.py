"""Sends due deliveries, and stores the outcomes of their calls and the time of the next attempt.

One thread does all database work, another makes the calls (`http_calls`). Channels share only the two threads: each
channel has its own limit of running deliveries and gets new ones as soon as some have ended, so that no receiver
delays another.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.database.compiled_queries import (
    BoundUpdate,
    CompiledQuery,
    Update,
    columns_of,
    instance_from_row,
)
from proofroom.core.database.errors import DATABASE_UNREACHABLE
from proofroom.core.database.inserts import insert_rows
from proofroom.core.http_client import CallRefused, HttpResult, Unreachable
from proofroom.webhooks import delivery_channels, delivery_queue
from proofroom.webhooks.delivery_queue import MAX_CHANNELS, UNKNOWN_OUTCOME, next_attempt_numbers
from proofroom.webhooks.http_calls import Call, CallThread, EndedCall
from proofroom.webhooks.models import Attempt, Delivery, DeliveryStatus, Webhook
from proofroom.webhooks.redaction import RequestRedactor
from proofroom.webhooks.services.webhooks import host_of

# Also limits what a receiver can ask for with Retry-After.
MAX_WAIT: Final = timedelta(days=1)
RETRIED_STATUSES: Final = frozenset({408, 425, 429})
"""Statuses below 500 that are retried. All from 500 are retried."""
RETRY_AFTER_STATUSES: Final = frozenset({429, 503})
# As a share of the wait.
JITTER: Final = 0.2
DISABLE_AFTER: Final = timedelta(hours=24)
"""Time for which all calls of a webhook must have failed before it is disabled."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call.

    `error`: a sentence for people, empty on success. `wait`: the delay the receiver asked for.
    """

    is_success: bool
    may_retry: bool
    error: str = ""
    status_code: int | None = None
    wait: timedelta = timedelta()


def outcome_of(ended: HttpResult | CallRefused | Unreachable, now: datetime) -> CallOutcome:
    """Return the outcome of a response, or of a call without one."""
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
    """Return the delay of a Retry-After header, in seconds or as a date; zero if it has neither."""
    given = answer.headers.get("retry-after", "").strip()[:40]
    # At most 40 ASCII digits, so `int` cannot fail.
    if given.isascii() and given.isdigit():
        return timedelta(seconds=min(int(given), int(MAX_WAIT.total_seconds())))
    try:
        at = parsedate_to_datetime(given)
    except (ValueError, OverflowError, IndexError):
        return timedelta()
    # `parsedate_to_datetime` returns a naive time for the zone -0000, which means UTC (RFC 5322, 3.3).
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(at - now, timedelta()), MAX_WAIT)


def max_attempts() -> int:
    return len(settings.CMS_ENV.webhook_retry_seconds) + 1


def next_wait(attempts: int, outcome: CallOutcome) -> timedelta | None:
    """Return the wait after this number of attempts; None if there is no further attempt."""
    waits = settings.CMS_ENV.webhook_retry_seconds
    # `attempts` counts the first call, which no wait precedes.
    if not outcome.may_retry or attempts > len(waits):
        return None
    # Random, so that deliveries that failed together are not retried together.
    spread = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # not used for security
    own = timedelta(seconds=waits[attempts - 1] * spread)
    return min(max(own, outcome.wait), MAX_WAIT)


# In order of id, like all other code that locks webhooks, so that no two transactions deadlock.
_LOCK_WEBHOOKS: Final = CompiledQuery(
    lambda ids: (
        Webhook.objects.select_for_update(no_key=True)
        .filter(pk__in=ids)
        .order_by("pk")
        .values(*columns_of(Webhook))
    )
)
_LOCK_CLAIMS: Final = CompiledQuery(
    lambda ids: (
        Delivery.objects.select_for_update(no_key=True)
        .filter(pk__in=ids, status=DeliveryStatus.SENDING)
        .order_by("pk")
        .annotate(
            fails_since=Subquery(
                Webhook.objects.filter(pk=OuterRef("webhook_id")).values("failing_since")
            )
        )
        .values("id", "claimed_until", "fails_since")
    )
)


class WebhookRecovers(Exception):
    """A webhook that was failing had a successful call, so its row must change too."""


def store_outcomes(ended: Sequence[EndedCall]) -> None:
    """Store the outcomes of ended calls. Deliveries that the sender no longer holds are left unchanged.

    An outcome that cannot be stored ends its own delivery only.
    """
    claims_before = [end.delivery.claimed_until for end in ended]
    try:
        _store_together(ended)
    except DATABASE_UNREACHABLE:
        raise
    except Exception:
        # A failed attempt to store has changed the rows in memory, so their claims are restored.
        for end, claimed_until in zip(ended, claims_before, strict=True):
            end.delivery.claimed_until = claimed_until
        # One by one, so that only the failing one is lost.
        if len(ended) > 1:
            for end in ended:
                store_outcomes([end])
            return
        # Sending it again would have the same outcome.
        delivery = ended[0].delivery
        logger.exception("cannot store the outcome of delivery %s", delivery.pk)
        give_up(
            delivery, "The outcome of the call could not be stored; the log says why.", failed=True
        )


def _store_together(ended: Sequence[EndedCall]) -> None:
    now = timezone.now()
    outcomes = [(end, outcome_of(end.came, now)) for end in ended]
    failed = {end.delivery.webhook_id for end, outcome in outcomes if not outcome.is_success}
    try:
        _store_outcomes(outcomes, failed, now)
    except WebhookRecovers:
        # Again, now with the webhooks of successful calls locked. They are not locked at first,
        # because a success rarely changes a webhook.
        _store_outcomes(outcomes, {end.delivery.webhook_id for end in ended}, now)


@transaction.atomic
def _store_outcomes(
    found: Sequence[tuple[EndedCall, CallOutcome]],
    webhook_ids: Iterable[UUID | None],
    now: datetime,
) -> None:
    """Store the outcomes, and the state of these webhooks.

    Raises `WebhookRecovers` if other webhooks must change, too.
    """
    # Webhooks are locked before their deliveries, both in order of id, like everywhere else. After deliveries are
    # locked, it is too late to lock another webhook.
    rows = _LOCK_WEBHOOKS.rows([id_ for id_ in webhook_ids if id_ is not None])
    locked: dict[UUID, Webhook] = {row["id"]: instance_from_row(Webhook, row) for row in rows}
    claims = _LOCK_CLAIMS.rows([end.delivery.pk for end, _ in found])
    claimed = {row["id"]: row for row in claims}
    # A claim with another time belongs to another process, which took the delivery when this claim ran out.
    outcomes = [
        (end, outcome)
        for end, outcome in found
        if end.delivery.pk in claimed
        and claimed[end.delivery.pk]["claimed_until"] == end.delivery.claimed_until
    ]
    if any(
        claimed[end.delivery.pk]["fails_since"] and end.delivery.webhook_id not in locked
        for end, _ in outcomes
    ):
        raise WebhookRecovers
    insert_rows(attempts_of(outcomes), updates=settle_deliveries(outcomes, now))
    by_webhook: dict[UUID, list[tuple[datetime, CallOutcome]]] = defaultdict(list)
    for end, outcome in outcomes:
        if end.delivery.webhook_id in locked:
            by_webhook[end.delivery.webhook_id].append((end.at, outcome))
    for webhook_id, of_webhook in by_webhook.items():
        disable_failing(locked[webhook_id], of_webhook, now)


def attempts_of(outcomes: Sequence[tuple[EndedCall, CallOutcome]]) -> list[Attempt]:
    """Return unsaved rows of the calls, with redacted content."""
    # Most deliveries are sent for the first time and have no earlier attempts to count.
    repeated = [
        row.pk
        for row in (end.delivery for end, _ in outcomes)
        # The number of attempts alone is not enough: a replay sets it back to 0.
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
    return attempts


def settle_deliveries(
    outcomes: Iterable[tuple[EndedCall, CallOutcome]], now: datetime
) -> list[BoundUpdate]:
    """Store the state of failed deliveries: finished, or due again later.

    Return the updates that finish the successful ones.
    """
    # Most calls succeed. One update for all with the same status code is cheaper than one per row.
    succeeded: dict[int, list[UUID]] = defaultdict(list)
    others: list[Delivery] = []
    for end, outcome in outcomes:
        row = end.delivery
        if outcome.is_success:
            succeeded[outcome.status_code or 0].append(row.pk)
            continue
        wait = next_wait(row.attempts, outcome)
        row.status = DeliveryStatus.FAILED if wait is None else DeliveryStatus.PENDING
        row.next_attempt_at = None if wait is None else now + wait
        row.finished_at = now if wait is None else None
        row.claimed_until = None
        row.last_status_code = outcome.status_code
        row.last_error = RequestRedactor(end.outgoing).text(outcome.error)[:300]
        others.append(row)
    if others:
        names = ["status", "next_attempt_at", "claimed_until", "finished_at"]
        Delivery.objects.bulk_update(others, [*names, "last_status_code", "last_error"])
    return [_NOTE_SUCCESS.bound(ids, now, status_code) for status_code, ids in succeeded.items()]


def _note_success(
    ids: Sequence[UUID], now: datetime, status_code: int
) -> tuple[QuerySet[Delivery], dict[str, object]]:
    new = {"finished_at": now, "last_status_code": status_code, "last_error": ""}
    ended = {"status": DeliveryStatus.SUCCEEDED, "next_attempt_at": None, "claimed_until": None}
    return Delivery.objects.filter(pk__in=ids), {**ended, **new}


_NOTE_SUCCESS: Final = Update(_note_success)


@transaction.atomic
def give_up(delivery: Delivery, reason: str, *, failed: bool = False) -> None:
    """Finish a claimed delivery without a call."""
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
    """Store the time since which all calls fail, and disable the webhook after a day. The caller has locked it."""
    since = webhook.failing_since
    error = ""
    # Calls run in parallel, so they end in another order than they began.
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
        actor=Actor(user=SYSTEM, via="system"),
        payload={
            "id": str(webhook.pk),
            "name": webhook.name,
            "host": host_of(webhook.url),
            "reason": webhook.disabled_reason,
        },
    )


logger = logging.getLogger(__name__)
MAX_CLAIMED_PER_CHANNEL: Final = 24
"""Maximum number of claimed deliveries of a channel.

More than its parallel calls, so that calls go on while outcomes are stored, and few enough to end within
`CLAIM_DURATION` if all calls time out.
"""
MAX_CLAIMED: Final = 480
POLL_SECONDS: Final = 0.25
RENEW_SECONDS: Final = 3.0
WORK_SECONDS: Final = 60.0
"""Seconds after which the rest is left to a new task, so that a worker can be stopped."""


def send_due() -> tuple[int, bool]:
    """Send until nothing is due. Return the number of calls, and whether more is due.

    Does nothing if another process is sending.
    """
    made = 0
    holder = uuid4()
    until = time.monotonic() + WORK_SECONDS
    # A delivery queued just before the lock is released may be missed by this sender and start no other one, so look
    # again.
    while (due := delivery_queue.find_due_channels()) and delivery_queue.acquire_lock(holder):
        loop = None
        try:
            with CallThread() as calls:
                loop = DeliveryLoop(calls, holder, until, due)
                loop.run()
        finally:
            if loop is None or loop.has_lock:
                delivery_queue.release_lock(holder)
        made += loop.made
        if time.monotonic() >= until:
            return made, delivery_queue.is_due()
        if not loop.claimed:
            break  # other processes have locked what is due; the sweep tries it again
    return made, False


def needs_sender() -> bool:
    """Return True if something is due and no process is sending."""
    return delivery_queue.is_due() and not delivery_queue.is_locked()


class DeliveryLoop:
    """Sends due deliveries while this process holds the leader lock. `due`: the channels to begin with."""

    def __init__(self, calls: CallThread, holder: UUID, until: float, due: Sequence[str]) -> None:
        self.calls = calls
        self.holder = holder
        self.until = until
        self.under_way: Counter[str] = Counter()
        self.ready_channels = set(due[:MAX_CHANNELS])
        self.find_at = time.monotonic() + POLL_SECONDS
        # The caller has just taken the lock.
        self.renew_at = time.monotonic() + RENEW_SECONDS
        self.has_lock = True
        self.made = self.claimed = 0

    def run(self) -> None:
        """Send until nothing is due or the time is over, then wait for all running calls."""
        if time.monotonic() < self.until:
            self.start_calls()
        while self.under_way:
            self.finish_calls()
            self.renew_lock()
            if self.has_lock and time.monotonic() < self.until:
                self.find_due_channels()
                self.start_calls()

    def renew_lock(self) -> None:
        if time.monotonic() >= self.renew_at:
            self.has_lock = delivery_queue.renew_lock(self.holder)
            self.renew_at = time.monotonic() + RENEW_SECONDS

    def find_due_channels(self) -> None:
        """Find channels with due deliveries. The longer the query takes, the less often it is repeated."""
        started = time.monotonic()
        if started < self.find_at and self.under_way:
            return
        if not self.under_way:
            # Claiming from each of these channels would cost a transaction each. The query below finds what is due.
            self.ready_channels.clear()
            if delivery_queue.release_lock_if_done(self.holder):
                self.has_lock = False
                return
        room = MAX_CHANNELS - len(self.ready_channels | set(self.under_way))
        if room > 0:
            found = delivery_queue.find_due_channels(exclude=self.ready_channels)
            self.ready_channels |= set(found[:room])
        now = time.monotonic()
        self.find_at = now + max(POLL_SECONDS, 20 * (now - started))

    def start_calls(self) -> None:
        """Claim deliveries of the channels with free capacity, and start their calls."""
        share = MAX_CLAIMED // max(1, len(self.ready_channels | set(self.under_way)))
        most = max(2, min(MAX_CLAIMED_PER_CHANNEL, share))
        room = {channel: most - self.under_way[channel] for channel in sorted(self.ready_channels)}
        # Claim at least half of the capacity at a time, because each claim is a transaction.
        room = {channel: free for channel, free in room.items() if free >= max(1, most // 2)}
        if not room:
            return
        claimed = delivery_queue.claim_deliveries(room)
        for channel, free in room.items():
            rows = claimed.get(channel, [])
            self.claimed += len(rows)
            if len(rows) < free:
                # The channel becomes ready again after its next response or the next query.
                self.ready_channels.discard(channel)
            calls = [call for row in rows if (call := self.prepare_call(row)) is not None]
            self.under_way[channel] += len(calls)
            self.calls.send(calls)
        # Unary plus removes zero counts of a Counter.
        self.under_way = +self.under_way

    def prepare_call(self, delivery: Delivery) -> Call | None:
        """Return the call of a claimed delivery. If there is nothing to send, finish the delivery and return None."""
        # The row has its status from before the claim: SENDING if an earlier sender ended without an outcome.
        is_lost = delivery.status == DeliveryStatus.SENDING
        if is_lost and delivery.attempts > max_attempts() + 1:
            # No outcome of its calls was ever stored: perhaps this delivery crashes the sender.
            give_up(delivery, UNKNOWN_OUTCOME, failed=True)
            return None
        try:
            return Call(delivery, delivery_channels.build_request(delivery))
        except delivery_channels.NothingToSend as nothing:
            give_up(delivery, nothing.reason)
        except Exception:  # one invalid definition must not stop the other deliveries
            logger.exception("cannot build the request of delivery %s", delivery.pk)
            give_up(delivery, "The request could not be made.", failed=True)
        return None

    def finish_calls(self) -> None:
        """Wait briefly for calls to end, and store their outcomes."""
        ended = self.calls.ended(POLL_SECONDS)
        if not ended:
            return
        store_outcomes(ended)
        self.made += len(ended)
        for end in ended:
            self.under_way[end.delivery.lane] -= 1
            self.ready_channels.add(end.delivery.lane)
        self.under_way = +self.under_way
