"""Forms and submissions."""

from __future__ import annotations

from uuid import uuid4

from forms.models import FormDefinition, FormSubmission, SubmissionFile
from forms.services.files import link_to
from tests import make
from tests.contract.endpoint import ALL, EDITORS, Endpoint, Names


def scene() -> Names:
    make.form("contact")
    make.form("newsletter")
    submission = make.submission("contact", email="a@example.com")
    file = SubmissionFile.objects.create(
        submission=submission, field="email", media_type="text/plain", size=2, content=b"Hi"
    )
    answer = {"id": str(file.pk), "filename": "a.txt", "type": "text/plain", "size": 2}
    FormSubmission.objects.update(payload={"email": answer})
    token = link_to(submission, str(file.pk)).partition("?token=")[2]
    return {
        "slug": "contact",
        "submission_id": str(submission.pk),
        "file_id": str(file.pk),
        "token": token,
    }


def grow(number: int) -> None:
    form = FormDefinition.objects.earliest("created_at")
    make.copies(form, number, slug=lambda _: uuid4().hex)


def grow_submissions(number: int) -> None:
    make.copies(FormSubmission.objects.earliest("created_at"), number)


_FIELDS = [{"name": "email", "label": "Email", "type": "email"}]
ENDPOINTS = [
    Endpoint("GET /api/forms-definitions", EDITORS, invalid=("?locale=xx", "locale"), grow=grow),
    Endpoint(
        "POST /api/forms-definitions",
        EDITORS,
        201,
        body={"slug": "walked", "title": "Walked", "fields": _FIELDS},
        invalid=({"slug": "contact", "title": "Taken", "fields": _FIELDS}, "slug"),
    ),
    Endpoint("GET /api/forms-definitions/<slug>", ALL, invalid=("?locale=xx", "locale")),
    Endpoint(
        "PUT /api/forms-definitions/<slug>",
        EDITORS,
        body={"title": "Walked"},
        invalid=({"fields": [{"name": "1", "label": "x", "type": "text"}]}, "fields.0.name"),
        stale={"title": "Walked", "version": 99},
    ),
    Endpoint("DELETE /api/forms-definitions/<slug>", EDITORS),
    Endpoint(
        "POST /api/forms/<slug>/submit",
        ALL,
        201,
        body={"email": "visitor@example.com"},
        invalid=({"email": "no address"}, "email"),
    ),
    Endpoint(
        "GET /api/forms/<slug>/submissions",
        EDITORS,
        invalid=("?from=yesterday", "from"),
        grow=grow_submissions,
    ),
    Endpoint("GET /api/forms/<slug>/submissions/<submission_id>", EDITORS),
    Endpoint("DELETE /api/forms/<slug>/submissions/<submission_id>", EDITORS),
    Endpoint(
        "GET /api/forms/<slug>/submissions/<submission_id>/files/<file_id>",
        EDITORS,
        query="?token=<token>",
    ),
    Endpoint("GET /api/forms/<slug>/submissions/export", EDITORS, invalid=("?to=tomorrow", "to")),
]
