"""Requests of people about their data, and the privacy facts of the site."""

from __future__ import annotations

from uuid import uuid4

from proofroom.core.background_jobs.models import JobState
from proofroom_apps.privacy.models import PersonalDataRequest
from proofroom_apps.privacy.services.requests import start_request
from tests import make
from tests.contract.endpoint import ADMIN, ALL, Endpoint, Names

URL = "/api/personal-data/requests"
ANNA = "anna@example.com"


def scene() -> Names:
    admin = make.actor("admin", via="admin")
    job = start_request(email=ANNA, action="export", actor=admin)
    running = PersonalDataRequest.objects.get(pk=job.pk)
    running.pk, running.state, running.ended_at = uuid4(), JobState.RUNNING, None
    running.save(force_insert=True)
    return {"request_id": str(job.pk), "running_id": str(running.pk)}


def grow(number: int) -> None:
    make.copies(PersonalDataRequest.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint(f"GET {URL}", ADMIN, invalid=("?page=0", "page"), grow=grow),
    Endpoint(
        f"POST {URL}",
        ADMIN,
        201,
        body={"email": ANNA, "action": "search"},
        invalid=({"email": "anna", "action": "search"}, "email"),
    ),
    Endpoint(f"GET {URL}/<request_id>", ADMIN),
    Endpoint(f"POST {URL}/<running_id>/cancel", ADMIN),
    Endpoint(f"GET {URL}/<request_id>/file", ADMIN),
    Endpoint("GET /api/personal-data/retention", ADMIN, invalid=("?page=0", "page")),
    Endpoint("GET /api/public/privacy", ALL, invalid=("?locale=xx", "locale")),
]
