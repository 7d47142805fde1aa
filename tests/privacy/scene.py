"""A person known to the site in many places, and the requests about their data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zipfile import ZipFile

from django.db import connection
from django.test.utils import CaptureQueriesContext

from forms.services.definitions import create_form
from forms.services.submissions import submit_form
from proofroom.core.actor import Actor, Visitor
from proofroom.core.json import Json
from proofroom_apps.privacy.models import PersonalDataRequest
from proofroom_apps.privacy.services.export_file import open_export
from proofroom_apps.privacy.services.requests import start_request
from tests import make

ANNA = "anna@example.com"
FIELDS: list[Json] = [
    {"name": "email", "label": "Email", "type": "email", "required": True},
    {"name": "friend", "label": "Friend", "type": "email", "required": False},
    {"name": "message", "label": "Message", "type": "textarea", "required": False},
]


def contact_form() -> None:
    create_form(
        slug="write",
        locale="en",
        values={
            "title": "Write to us",
            "fields": FIELDS,
            "submitLabel": "Send",
            "successMessage": "Thanks",
        },
        actor=make.actor("admin"),
    )


def submit(**values: Any) -> str:
    """Submit the form as a visitor. Return the id of the submission."""
    receipt = submit_form(
        slug="write",
        locale="en",
        values=values,
        actor=Actor(user=Visitor(), via="site"),
        admit=lambda: None,
    )
    return str(receipt.id)


def request(action: str, email: str = ANNA, **more: Any) -> PersonalDataRequest:
    """Carry out a request as the admin."""
    return start_request(
        email=email,
        action=action,
        actor=make.actor("admin", via="admin"),
        confirm=email if action == "erase" else None,
        **more,
    )


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements of the block, without the session, which may come from a cache."""
    collected: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield collected
    collected += [row["sql"] for row in captured if "django_session" not in row["sql"]]


def found(job: PersonalDataRequest) -> dict[str, int]:
    """Return the number of objects by kind, without kinds that found none."""
    assert job.state == "done", job.why
    return {name: one["found"] for name, one in job.results.items() if one["found"]}


def records_of(job: PersonalDataRequest) -> dict[str, list[dict[str, Any]]]:
    """Return the records of an export by kind."""
    with ZipFile(open_export(job, make.actor("admin", via="admin"))) as archive:
        data = json.loads(archive.read("data.json"))
    return {kind["kind"]: kind["records"] for kind in data["data"]}
