"""Choices, files, conditions and steps: refused when a form is saved, and judged when it is sent."""

from __future__ import annotations

import io
import struct
import zipfile
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from forms.conditions import shown_fields
from forms.fields import Field
from forms.file_types import find_file_type
from forms.models import FormSubmission, SubmissionFile
from forms.services.submissions import delete_submission, prune_submissions
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
DEFINITIONS = "/api/forms-definitions"
URL = "/api/forms/contact/submit"
SENT = "/api/forms/contact/submissions"
PDF = b"%PDF-1.7\n%content"
ODT = "application/vnd.oasis.opendocument.text"
FIELDS: list[Any] = [
    {"name": "email", "label": "Email", "type": "email"},
    {
        "name": "kind",
        "label": "Kind",
        "type": "radio",
        "options": ["Job", "Other"],
        "required": True,
    },
    {
        "name": "days",
        "label": "Days",
        "type": "checkboxes",
        "options": ["Mon", "Tue", "Wed"],
        "required": True,
    },
    {
        "name": "application",
        "label": "Your application",
        "type": "step",
        "showIf": {"field": "kind", "operator": "equals", "value": "Job"},
    },
    {
        "name": "cv",
        "label": "CV",
        "type": "file",
        "required": True,
        "accept": ["application/pdf", ".docx"],
        "maxBytes": 2000,
    },
    {
        "name": "why",
        "label": "Why",
        "type": "text",
        "required": True,
        "showIf": {"field": "days", "operator": "contains", "value": "Tue"},
    },
]


def upload(name: str = "Mein Lebenslauf.pdf", content: bytes = PDF) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, content_type="text/html")


def send(**values: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(URL, values)


def test_hidden_fields_are_neither_required_nor_stored() -> None:
    make.form(fields=FIELDS)

    ApiClient().write(
        "POST", URL, {"kind": "Other", "days": ["Wed", "Mon"], "why": "x"}, expect=201
    )
    job = send(kind="Job", days=["Mon", "Tue"])

    row = FormSubmission.objects.get()
    # In the order of the form, and without the answer to a field that was not shown.
    assert row.payload == {"kind": "Other", "days": ["Mon", "Wed"]}
    assert job.status_code == 422
    assert job.json()["details"] == {"cv": ["CV is required."], "why": ["Why is required."]}


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"kind": "Nothing", "days": ["Mon"]}, "kind"),
        ({"kind": "Other", "days": ["Sun"]}, "days"),
        ({"kind": "Other", "days": []}, "days"),
        ({"kind": "Other", "days": [["Mon"]]}, "days"),
        ({"kind": "Other", "days": ["Mon"], "application": "x"}, "application"),
        ({"kind": "Job", "days": ["Mon"], "cv": "text"}, "cv"),
    ],
)
def test_wrong_choices_are_refused_by_name(values: Any, key: str) -> None:
    make.form(fields=FIELDS)

    answer = ApiClient().write("POST", URL, values, expect=422)

    assert list(answer["details"]) == [key]
    assert not FormSubmission.objects.exists()


def docx(*names: str) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return found.getvalue()


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (upload(content=b"<html><script>"), "The file in CV must be of type PDF, Word."),
        (upload(content=b"\x89PNG\r\n\x1a\n"), "The file in CV must be of type PDF, Word."),
        (
            upload(
                "a.docx", docx("[Content_Types].xml", "word/document.xml", "word/vbaProject.bin")
            ),
            "The file in CV must be of type PDF, Word.",
        ),
        (upload("a.docx", docx("a.txt")), "The file in CV must be of type PDF, Word."),
        (upload(content=PDF + b"x" * 2000), "The file in CV can have at most 2.0\xa0KB."),
        (upload(content=b""), "The file in CV is empty."),
    ],
    ids=["html", "png", "macros", "zip", "large", "empty"],
)
def test_files_are_judged_by_their_content(file: SimpleUploadedFile, says: str) -> None:
    make.form(fields=FIELDS)

    answer = send(kind="Job", days="Mon", cv=file)

    assert answer.status_code == 422
    assert answer.json()["details"] == {"cv": [says]}
    assert not SubmissionFile.objects.exists()


def odt(compression: int) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", compression) as archive:
        archive.writestr("mimetype", ODT)
    return found.getvalue()


def odt_far_away() -> bytes:
    """Return an archive whose part begins beyond what a system can seek to, by a ZIP64 extra field."""
    found = odt(zipfile.ZIP_STORED)
    at = found.index(b"PK\x01\x02")
    entry, end = bytearray(found[at : found.index(b"PK\x05\x06")]), found.index(b"PK\x05\x06")
    extra = struct.pack("<HHQ", 1, 8, 2**63 + 5)
    entry[30:32] = struct.pack("<H", len(extra))
    entry[42:46] = b"\xff" * 4
    tail = bytearray(found[end:])
    tail[12:16] = struct.pack("<I", len(entry) + len(extra))
    return found[:at] + bytes(entry) + extra + bytes(tail)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(odt(zipfile.ZIP_STORED), ODT, id="stored"),
        pytest.param(odt_far_away(), None, id="far away"),
        # Nothing is unpacked: 50 kB could become gigabytes.
        pytest.param(odt(zipfile.ZIP_DEFLATED), None, id="deflated"),
        pytest.param(odt(zipfile.ZIP_BZIP2), None, id="bzip2"),
        pytest.param(odt(zipfile.ZIP_STORED)[:60], None, id="cut"),
        # A pattern with two runs of spaces would take hours here.
        pytest.param(b" " * 5_000_000 + b"a", "text/plain", id="spaces"),
        (b"\n\xef\xbb\xbf \t<ScRipt>", None),
        (b"\xef\xbb\xbf  ", None),
    ],
)
def test_crafted_files_cost_little(content: bytes, found: str | None) -> None:
    assert find_file_type(io.BytesIO(content), "a.odt") == found


def test_a_file_is_private_and_read_by_a_link_that_expires(monkeypatch: Any) -> None:
    make.form(fields=FIELDS)
    name = "../../Anna <b>; Größe.PDF"

    assert send(kind="Job", days="Mon", cv=upload(name)).status_code == 201

    row, file = FormSubmission.objects.get(), SubmissionFile.objects.get()
    stored = row.payload["cv"]
    assert {**stored, "id": None} == {
        "id": None,
        "filename": "Anna _b__ Größe.pdf",
        "type": "application/pdf",
        "size": len(PDF),
    }
    shown = ApiClient("editor").read(f"{SENT}/{row.pk}")["payload"]["cv"]
    found = ApiClient("editor").get(shown["url"])
    assert (found.status_code, found.content) == (200, PDF)
    assert found["Content-Type"] == "application/octet-stream"
    assert found["Content-Disposition"].startswith("attachment; ")
    assert (found["Cache-Control"], found["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert Event.objects.filter(name="form.file.opened").count() == 1
    refused = {
        "stranger": Client().get(shown["url"]).status_code,
        "translator": ApiClient("translator").get(shown["url"]).status_code,
        "unsigned": ApiClient("editor").get(shown["url"].partition("?")[0]).status_code,
        "another": ApiClient("editor").get(shown["url"] + "x").status_code,
    }
    assert refused == {"stranger": 401, "translator": 403, "unsigned": 404, "another": 404}
    ends = datetime.fromisoformat(shown["expiresAt"])
    assert timedelta(minutes=15) < ends - timezone.now() <= timedelta(minutes=20)
    monkeypatch.setattr("forms.services.files.timezone.now", lambda: ends + timedelta(seconds=1))
    assert ApiClient("editor").get(shown["url"]).status_code == 410
    assert str(file.pk) == stored["id"]


def test_files_are_deleted_with_their_submission() -> None:
    make.form(fields=FIELDS)
    send(kind="Job", days="Mon", cv=upload())
    send(kind="Job", days="Mon", cv=upload())
    old, other = FormSubmission.objects.order_by("created_at")
    FormSubmission.objects.filter(pk=old.pk).update(created_at="2020-01-01T00:00:00Z")

    prune_submissions(days=30)

    assert [file.submission_id for file in SubmissionFile.objects.all()] == [other.pk]
    delete_submission(slug="contact", submission_id=other.pk, actor=make.actor("editor"))
    assert not SubmissionFile.objects.exists()


def test_files_count_against_a_limit_per_address_and_submission(monkeypatch: Any) -> None:
    make.form(fields=FIELDS)
    monkeypatch.setattr("forms.uploads.FILES_PER_ADDRESS", "1/hour")

    first = send(kind="Job", days="Mon", cv=upload())
    second = send(kind="Job", days="Mon", cv=upload())
    # Beyond what the form accepts: refused before it is read.
    large = send(kind="Job", days="Mon", cv=upload(content=PDF + b"x" * 300_000))

    assert (first.status_code, second.status_code, large.status_code) == (201, 429, 413)
    assert second["Retry-After"]
    assert SubmissionFile.objects.count() == 1


CONDITION_FAULTS: list[Any] = [
    ({"field": "nobody"}, "fields.1.showIf.field"),
    ({"field": "b"}, "fields.1.showIf.field"),
    ({"field": "c", "operator": "isEmpty"}, "fields.1.showIf.field"),
    ({"field": "a"}, "fields.1.showIf.value"),
    ({"field": "a", "operator": "equals", "value": "Z"}, "fields.1.showIf.value"),
    ({"field": "a", "operator": "isEmpty", "value": "X"}, "fields.1.showIf.value"),
    ({"field": "a", "operator": "like", "value": "X"}, "fields.1.showIf.operator"),
]


@pytest.mark.parametrize(("condition", "path"), CONDITION_FAULTS)
def test_impossible_conditions_are_refused_when_a_form_is_saved(condition: Any, path: str) -> None:
    fields = [
        {"name": "a", "label": "A", "type": "select", "options": ["X"]},
        {"name": "b", "label": "B", "type": "text", "showIf": condition},
        {
            "name": "c",
            "label": "C",
            "type": "text",
            "showIf": {"field": "b", "operator": "isEmpty"},
        },
    ]

    answer = ApiClient("editor").write(
        "POST", DEFINITIONS, {"slug": "x", "title": "X", "fields": fields}, expect=422
    )

    assert path in answer["details"]


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ({"type": "file", "accept": ["text/html"]}, "accept"),
        ({"type": "file", "maxBytes": 11_000_000}, "maxBytes"),
        ({"type": "text", "accept": [".pdf"]}, "accept"),
        ({"type": "radio"}, "options"),
        ({"type": "checkboxes", "options": ["A", "A"]}, "options"),
        ({"type": "step", "required": True}, "required"),
    ],
)
def test_impossible_fields_are_refused_when_a_form_is_saved(field: Any, path: str) -> None:
    row = {"name": "a", "label": "A", **field}

    answer = ApiClient("editor").write(
        "POST", DEFINITIONS, {"slug": "x", "title": "X", "fields": [row]}, expect=422
    )

    assert list(answer["details"]) == [f"fields.0.{path}"]


@pytest.mark.parametrize(
    ("operator", "value", "answer", "is_shown"),
    [
        ("equals", "4", "4.0", True),
        ("equals", "4", 4, True),
        ("equals", "4", "5", False),
        ("notEquals", "4", None, True),
        ("contains", "4", "14", True),
        ("notContains", "4", "14", False),
        ("isEmpty", None, " ", True),
        ("isNotEmpty", None, 0, True),
    ],
)
def test_conditions_compare_answers(operator: str, value: Any, answer: Any, is_shown: bool) -> None:
    condition = {"field": "n", "operator": operator, **({"value": value} if value else {})}
    rows: list[Any] = [
        {"name": "n", "label": "N", "type": "number"},
        {"name": "t", "label": "T", "type": "text", "showIf": condition},
    ]
    fields = [Field.model_validate(row) for row in rows]

    names = [field.name for field in shown_fields(fields, {"n": answer})]

    assert names == (["n", "t"] if is_shown else ["n"])
