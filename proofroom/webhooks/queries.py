"""Queries for webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.observability.metrics import MetricReading, count_readings
from proofroom.webhooks.delivery_channels import NothingToSend, build_request
from proofroom.webhooks.models import Attempt, Delivery, Webhook
from proofroom.webhooks.redaction import RequestRedactor

RECEIVERS: Final = {
    "webhook": gettext_noop("Webhook"),
    "workflow": gettext_noop("Workflow"),
    "chat": gettext_noop("Chat"),
    "reaction": gettext_noop("Reaction"),
}
"""Kinds of receivers, by prefix of their lanes."""
MAX_CALLS_SHOWN: Final = 30


def webhooks() -> QuerySet[Webhook]:
    """Return webhooks by name, with their latest delivery as `last_delivery_id` and `last_status`."""
    return with_last_delivery(Webhook.objects.order_by("name", "id"))


def with_last_delivery(rows: QuerySet[Webhook]) -> QuerySet[Webhook]:
    latest = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("-created_at")
    return rows.annotate(
        last_delivery_id=Subquery(latest.values("pk")[:1]),
        last_status=Subquery(latest.values("status")[:1]),
    )


def load_last_deliveries(rows: Iterable[Webhook]) -> list[Webhook]:
    """Return these rows of `webhooks()` with `last_delivery` set. One query."""
    found = list(rows)
    ids = [id_ for row in found if (id_ := getattr(row, "last_delivery_id", None)) is not None]
    last = {row.webhook_id: row for row in Delivery.objects.filter(pk__in=ids)} if ids else {}
    for row in found:
        row.last_delivery = last.get(row.pk)
    return found


def deliveries(
    *,
    webhook_id: UUID | str | None = None,
    workflow_id: str | None = None,
    receiver: str | None = None,
    status: str | None = None,
    event: str | None = None,
    post_id: UUID | str | None = None,
) -> QuerySet[Delivery]:
    """Return the matching deliveries, latest first, with event and webhook."""
    wanted = {
        "webhook_id": webhook_id,
        "lane": f"workflow:{workflow_id}" if workflow_id else None,  # indexed, unlike workflow_id
        "status": status,
        "event_name": event,
        "post_id": post_id,
    }
    rows = Delivery.objects.filter(**{name: value for name, value in wanted.items() if value})
    if receiver:
        rows = of_receiver(rows, receiver)
    return rows.select_related("event", "webhook").order_by("-created_at", "-id")


def of_receiver(rows: QuerySet[Delivery], receiver: str) -> QuerySet[Delivery]:
    return rows.filter(Q(lane=receiver) | Q(lane__startswith=f"{receiver}:"))


def find_delivery(delivery_id: UUID | str, rows: QuerySet[Delivery] | None = None) -> Delivery:
    """Return the delivery with this id, with event and webhook. Raises `NotFound`.

    Also raised if its webhook was deleted, because the delivery will be too. `rows`: must load event and webhook.
    """
    rows = deliveries() if rows is None else rows
    row = find_by_id(rows, delivery_id)
    # The column has no foreign key, so the id outlives its webhook until a task deletes the delivery.
    if row is None or (row.webhook_id is not None and row.webhook is None):
        raise NotFound(
            _("No delivery has the ID %(delivery_id)s.") % {"delivery_id": str(delivery_id)[:80]}
        )
    return row


@dataclass(frozen=True, slots=True)
class VisibleRequest:
    """The request of a delivery, for display. `withheld`: why the body is hidden."""

    host: str
    body: str | None
    withheld: str | None


def visible_request(delivery: Delivery, actor: Actor) -> VisibleRequest:
    """Return the request of a delivery, without secrets and without a body the actor may not see."""
    try:
        request = build_request(delivery)
    except NothingToSend as nothing:
        return VisibleRequest("", None, nothing.reason)
    host = urlsplit(request.url).hostname or ""
    kind = outbox.find_kind(delivery.event_name)
    if kind is not None and not actor.can(kind.permission):
        withheld = f"What this event says is for accounts with {kind.permission}."
        return VisibleRequest(host, None, withheld)
    return VisibleRequest(
        host, RequestRedactor(request).text(request.body.decode("utf-8", "replace")), None
    )


@dataclass(frozen=True, slots=True)
class CallBar:
    """A bar in the chart of a webhook's calls. `left`: its horizontal position."""

    is_ok: bool
    left: int


def recent_calls(webhook: Webhook) -> list[CallBar]:
    """Return the latest attempts of the latest deliveries, oldest first."""
    latest = (
        Delivery.objects.filter(webhook=webhook)
        .order_by("-created_at")
        .values("pk")[:MAX_CALLS_SHOWN]
    )
    ids = [row["pk"] for row in latest]
    codes = (
        Attempt.objects.filter(delivery__in=ids)
        .order_by("-at", "-id")
        .values_list("status_code", flat=True)[:MAX_CALLS_SHOWN]
    )
    found = [code is not None and 200 <= code < 300 for code in codes]
    return [CallBar(is_ok, place * 10) for place, is_ok in enumerate(reversed(found))]


def failed_since(moment: object) -> QuerySet[Delivery]:
    """Return deliveries that finally failed after this time, latest first."""
    rows = Delivery.objects.filter(status="failed", finished_at__gte=moment)
    return rows.select_related("webhook").order_by(F("created_at").desc())


def switched_off() -> QuerySet[Webhook]:
    """Return webhooks disabled because of failing calls."""
    return Webhook.objects.filter(is_active=False, disabled_at__isnull=False)


def read_delivery_metrics() -> list[MetricReading]:
    """Return the number of unfinished deliveries by status. One query."""
    open_rows = Delivery.objects.filter(next_attempt_at__isnull=False)
    counts = open_rows.values_list("status").annotate(Count("pk")).order_by("status")
    return count_readings("proofroom_deliveries", "Deliveries not finished.", "status", counts)
