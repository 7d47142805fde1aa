"""Who looked at submissions is in the activity log: one entry for a page of a list."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from forms.models import FormSubmission
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient
from tests.privacy.scene import contact_form, statements, submit

pytestmark = pytest.mark.django_db
LIST = "/api/forms/write/submissions"


@pytest.fixture(autouse=True)
def _submissions() -> None:
    contact_form()
    for number in range(3):
        submit(email=f"v{number}@example.com")


def views() -> list[Any]:
    rows = Event.objects.filter(name="form.submissions.viewed").order_by("pk")
    return [(event.actor_name, event.via, event.payload) for event in rows]


def ids() -> list[str]:
    rows = FormSubmission.objects.order_by("-created_at", "-id")
    return [str(pk) for pk in rows.values_list("pk", flat=True)]


def test_a_list_is_one_entry_with_what_it_showed() -> None:
    client = ApiClient("editor")

    client.read(f"{LIST}?per_page=2")
    client.read(f"{LIST}/{ids()[2]}")

    assert views() == [
        ("editor", "api", {"formSlug": "write", "count": 2, "submissionIds": ids()[:2]}),
        ("editor", "api", {"formSlug": "write", "count": 1, "submissionIds": [ids()[2]]}),
    ]


def test_an_empty_page_and_a_refusal_are_no_entries() -> None:
    ApiClient("editor").read(f"{LIST}?page=9")
    ApiClient("translator").read(LIST, expect=403)

    assert views() == []


def test_pages_of_the_admin_are_entries_too() -> None:
    client = ApiClient("editor")

    assert client.get(reverse("admin:forms_formsubmission_changelist")).status_code == 200
    page = reverse("admin:forms_formsubmission_change", args=[ids()[0]])
    assert client.get(page).status_code == 200

    assert [(who, via, payload["count"]) for who, via, payload in views()] == [
        ("editor", "admin", 3),
        ("editor", "admin", 1),
    ]
    assert "v0@example.com" not in str(views())


def test_an_export_says_how_many() -> None:
    answer: Any = ApiClient("editor").get(f"{LIST}/export")
    b"".join(answer.streaming_content)

    event = Event.objects.get(name="form.submissions.exported")
    assert event.payload == {"formSlug": "write", "count": 3}


def test_the_entry_is_readable_in_the_log() -> None:
    ApiClient("editor").read(LIST)

    entry = ApiClient("admin").read("/api/activity?event=form.submissions.viewed")["data"][0]

    assert entry["sentence"] == "editor viewed submissions of the form ‘write’"


def test_an_entry_takes_one_statement_however_many_rows() -> None:
    client = ApiClient("editor")
    client.read(LIST)
    make.copies(FormSubmission.objects.earliest("created_at"), 40)

    with statements() as found:
        client.read(f"{LIST}?per_page=40")

    # Account, form, rows, their number, and the entry.
    assert len(found) == 5, found
