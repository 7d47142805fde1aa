"""The activity log."""

from __future__ import annotations

from uuid import uuid4

from proofroom.core.activity.chain import seal_events
from proofroom.core.models import Event
from tests import make
from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    make.post()
    seal_events()
    return {"entry_id": Event.objects.latest("id").pk}


def grow(number: int) -> None:
    make.copies(Event.objects.latest("id"), number, uid=lambda _: uuid4())


ENDPOINTS = [
    Endpoint("GET /api/activity", ADMIN, invalid=("?via=window", "via"), grow=grow),
    Endpoint("GET /api/activity/export", ADMIN, invalid=("?format=xls", "format")),
    Endpoint("GET /api/activity/<entry_id>", ADMIN),
]
