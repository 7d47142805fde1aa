"""What is read of webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core import events
from core.actor import Actor
from core.errors import NotFound
from webhooks.models import Attempt, Delivery, Webhook

RECEIVERS: Final = {
    "webhook": gettext_noop("Webhook"),
    "workflow": gettext_noop("Workflow"),
    "chat": gettext_noop("Chat"),
    "reaction": gettext_noop("Reaction"),
}
"""Kinds of receivers, by the beginning of their lanes."""
STRIP: Final = 30


def webhooks() -> QuerySet[Webhook]:
    """In order of name, each with its latest delivery as `last_delivery_id` and `last_status`."""
    return with_last_delivery(Webhook.objects.order_by("name", "id"))


def with_last_delivery(rows: QuerySet[Webhook]) -> QuerySet[Webhook]:
    latest = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("-created_at")
    return rows.annotate(
        last_delivery_id=Subquery(latest.values("pk")[:1]),
        last_status=Subquery(latest.values("status")[:1]),
    )


def last_deliveries(rows: Iterable[Webhook]) -> dict[UUID, Delivery]:
    """The latest delivery of each of these rows of `webhooks()`, by the id of the webhook. One query."""
    ids = [id_ for row in rows if (id_ := getattr(row, "last_delivery_id", None)) is not None]
    found = Delivery.objects.filter(pk__in=ids) if ids else ()
    return {row.webhook_id: row for row in found if row.webhook_id is not None}


def deliveries(
    *,
    webhook_id: UUID | str | None = None,
    workflow_id: str | None = None,
    receiver: str | None = None,
    status: str | None = None,
    event: str | None = None,
    post_id: UUID | str | None = None,
) -> QuerySet[Delivery]:
    """Deliveries that fit, latest first, each with its event and webhook."""
    wanted = {
        "webhook_id": webhook_id,
        "lane": f"workflow:{workflow_id}" if workflow_id else None,  # which has an index
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


def receiver_of(delivery: Delivery) -> str:
    """The kind of receiver: one of `RECEIVERS`."""
    return delivery.lane.partition(":")[0]


def find_delivery(delivery_id: UUID | str) -> Delivery:
    """The delivery of that id, with its event and webhook. Raises `NotFound`."""
    try:
        row = deliveries().filter(pk=UUID(str(delivery_id))).first()
    except ValueError:
        row = None
    if row is None or is_left_over(row):
        raise NotFound(
            _("No delivery has the id %(delivery_id)s.") % {"delivery_id": str(delivery_id)[:80]}
        )
    return row


def is_left_over(delivery: Delivery) -> bool:
    """Whether its webhook is gone, and it goes soon. Its webhook is loaded."""
    return delivery.webhook_id is not None and delivery.webhook is None


def permission_missing(delivery: Delivery, actor: Actor) -> str | None:
    """The permission without which the actor may not learn what the event says; None where there is none."""
    kind = events.find_kind(delivery.event_name)
    return None if kind is None or actor.can(kind.permission) else kind.permission


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt, as the picture of a webhook shows it: `left` is where its bar stands."""

    is_ok: bool
    left: int


def recent_calls(webhook: Webhook) -> list[Call]:
    """The latest attempts of its latest deliveries, oldest first."""
    latest = Delivery.objects.filter(webhook=webhook).order_by("-created_at").values("pk")[:STRIP]
    ids = [row["pk"] for row in latest]
    codes = (
        Attempt.objects.filter(delivery__in=ids)
        .order_by("-at", "-id")
        .values_list("status_code", flat=True)[:STRIP]
    )
    found = [code is not None and 200 <= code < 300 for code in codes]
    return [Call(is_ok, place * 10) for place, is_ok in enumerate(reversed(found))]


def failed_since(moment: object) -> QuerySet[Delivery]:
    """Deliveries that were given up after that moment, latest first."""
    rows = Delivery.objects.filter(status="failed", finished_at__gte=moment)
    return rows.select_related("webhook").order_by(F("created_at").desc())


def switched_off() -> QuerySet[Webhook]:
    """Webhooks that were switched off because their address failed."""
    return Webhook.objects.filter(is_active=False, disabled_at__isnull=False)
