"""Events that did not happen: what would be sent, to whom, signed how; and sent to webhooks that are for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import events
from core.actor import Actor
from core.errors import invalid
from core.hostile import refuse_unstorable
from core.json import JsonObject
from core.models import Event
from webhooks.bodies import SIMULATED, encoded, envelope, headers_of
from webhooks.delivering import lane_of, new_delivery, queue_all
from webhooks.lanes import request_of
from webhooks.models import Delivery, Webhook
from webhooks.rules import webhook_events
from webhooks.services.testing import sample
from webhooks.subscribers import wants

LARGEST: Final = 100_000
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Told:
    """A webhook that wants the event, and the names of the headers that it would get."""

    webhook: Webhook
    header_names: tuple[str, ...]
    delivery: Delivery | None


@dataclass(frozen=True, slots=True)
class Simulation:
    body: JsonObject
    told: tuple[Told, ...]


def simulate_event(
    *, actor: Actor, event: str, payload: JsonObject | None = None, send: bool = False
) -> Simulation:
    """What an event would send. With `send` it goes to active webhooks for tests, and to no other.

    Raises `RuleViolation` on `event` or `payload`.
    """
    actor.require_diagnosis("webhooks.manage")
    if event not in webhook_events():
        known = ", ".join(webhook_events())
        raise invalid(
            "event",
            _("%(event)r is no event of webhooks; known: %(known)s.")
            % {"event": event[:60], "known": known},
        )
    data = sample(event, Webhook()) if payload is None else _checked(payload)
    with transaction.atomic():
        made = _event(event, data, actor, is_kept=send)
        told = tuple(
            _told(row, made, event, is_sent=send and row.is_test) for row in _wanting(event, data)
        )
        queue_all([one.delivery for one in told if one.delivery is not None])
    return Simulation(envelope(made), told)


def _checked(payload: JsonObject) -> JsonObject:
    refuse_unstorable(payload, "payload")
    if len(encoded(payload)) > LARGEST:
        raise invalid(
            "payload",
            _("payload may have at most %(largest)s bytes.") % {"largest": f"{LARGEST:,}"},
        )
    return payload


def _wanting(event: str, data: JsonObject) -> list[Webhook]:
    asked = Event(name=event, payload=data)
    rows = Webhook.objects.filter(is_active=True).order_by("name", "id")
    return [row for row in rows if wants(row, asked)][:_MOST]


def _event(name: str, data: JsonObject, actor: Actor, *, is_kept: bool) -> Event:
    """Under a name of its own: nobody but these webhooks is told of what did not happen."""
    payload: JsonObject = {"event": name, "data": data}
    if is_kept:
        return events.record(SIMULATED, actor=actor, payload=payload)
    return Event(name=SIMULATED, uid=uuid4(), payload=payload, created_at=timezone.now())


def _told(row: Webhook, made: Event, name: str, *, is_sent: bool) -> Told:
    delivery = new_delivery(made, lane_of(row), webhook=row)
    delivery.event_name = name
    names = headers_of(delivery, request_of(delivery), timezone.now())
    return Told(row, tuple(names), delivery if is_sent else None)
