"""The confirmation by email: its definition, its text, and that it is sent once."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail

from forms.models import FormDefinition, FormSubmission
from forms.services.confirmations import send_confirmation
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
DEFINITIONS = "/api/forms-definitions"
URL = "/api/forms/contact/submit"
FIELDS: list[Any] = [
    {"name": "email", "label": "Email", "type": "email"},
    {"name": "name", "label": "Name", "type": "text"},
    {"name": "days", "label": "Days", "type": "checkboxes", "options": ["Mon", "Tue"]},
    {"name": "message", "label": "Message", "type": "textarea"},
]
CONFIRMATION: Any = {
    "emailField": "email",
    "subject": "Thank you, {{name}}",
    "text": "Hello {{ name }}!\n\n{{answers}}",
}


def test_only_editors_read_the_confirmation_and_it_is_checked_against_the_fields() -> None:
    editor = ApiClient("editor")
    body: Any = {"slug": "contact", "title": "X", "fields": FIELDS, "confirmation": CONFIRMATION}

    made = editor.write("POST", DEFINITIONS, body, expect=201)

    assert made["confirmation"] == CONFIRMATION
    assert editor.read(DEFINITIONS)["data"][0]["confirmation"] == CONFIRMATION
    assert "confirmation" not in ApiClient().read(f"{DEFINITIONS}/contact")
    for change, key in (
        ({"emailField": "name"}, "emailField"),
        ({"subject": "{{nobody}}"}, "subject"),
        ({"subject": "a\nBcc: x@example.com"}, "subject"),
        ({"text": "{{nobody}}"}, "text"),
        ({"text": ""}, "text"),
    ):
        wrong = {"confirmation": {**CONFIRMATION, **change}}
        refused = editor.write("PUT", f"{DEFINITIONS}/contact", wrong, expect=422)
        assert list(refused["details"]) == [f"confirmation.{key}"]
    # An unclosed placeholder is text. A pattern with spaces would look at it for a minute.
    unclosed = {**CONFIRMATION, "text": f"{{{{{' ' * 4_900}name"}
    assert editor.write("PUT", f"{DEFINITIONS}/contact", {"confirmation": unclosed})
    assert editor.write("PUT", f"{DEFINITIONS}/contact", {"confirmation": None})
    assert FormDefinition.objects.get().confirmation is None


def test_the_sender_gets_one_mail_in_plain_text(settings: Any) -> None:
    settings.HAS_EMAIL = True
    make.form(fields=FIELDS, confirmation=CONFIRMATION)
    answers = {
        "email": "ada@example.com",
        "name": "<b>Ada</b> {{message}}",
        "days": ["Mon", "Tue"],
        "message": "Secret\nBcc: x@example.com",
    }
    ApiClient().write("POST", URL, answers, expect=201)
    id_ = str(FormSubmission.objects.get().pk)

    sent = [send_confirmation(id_) for _ in range(2)]

    assert sent == [True, False]
    [message] = mail.outbox
    assert message.to == ["ada@example.com"]
    assert message.subject == "Thank you, <b>Ada</b> {{message}}"
    assert message.body == (
        "Hello <b>Ada</b> {{message}}!\n\nEmail: ada@example.com\nName: <b>Ada</b> {{message}}\n"
        "Days: Mon, Tue\nMessage: Secret\nBcc: x@example.com"
    )
    assert message.message().get_content_type() == "text/plain"
    assert message.extra_headers["Auto-Submitted"] == "auto-replied"
    logged = Event.objects.get(name="form.confirmation.sent")
    assert logged.payload == {"formSlug": "contact", "submissionId": id_}


def test_no_mail_without_an_address_for_programs_or_beyond_the_limit(
    settings: Any, monkeypatch: Any
) -> None:
    settings.HAS_EMAIL = True
    monkeypatch.setattr("forms.services.confirmations._RATE_TO_ADDRESS", "1/day")
    make.form(fields=FIELDS, confirmation={**CONFIRMATION, "subject": "{{message}}"})
    for answers in (
        {"email": "ada@example.com", "message": "One\r\nBcc: x@example.com"},
        {"email": "ADA@example.com"},
        {"email": "ada+more@example.com"},
        {"name": "No address"},
        {"email": '"a,b"@example.com'},
    ):
        ApiClient().write("POST", URL, answers, expect=201)
    ApiClient().write("POST", URL, {"email": "b@example.com", "homepage_url": "x"}, expect=201)

    rows = FormSubmission.objects.order_by("created_at")
    for row in rows:
        send_confirmation(str(row.pk))

    assert [row.confirmation for row in rows.all()] == ["sent", "limited", "limited", "", ""]
    assert [message.subject for message in mail.outbox] == ["One Bcc: x@example.com"]
    # An editor removes the confirmation before the worker comes to the mail.
    ApiClient().write("POST", URL, {"email": "late@example.com"}, expect=201)
    FormDefinition.objects.update(confirmation=None)
    late = rows.latest("created_at")
    assert late.confirmation == "due"
    assert send_confirmation(str(late.pk)) is False
    late.refresh_from_db()
    assert late.confirmation == ""
    assert len(mail.outbox) == 1


def test_a_refused_mail_is_sent_by_the_next_try(settings: Any, monkeypatch: Any) -> None:
    settings.HAS_EMAIL = True
    # The first try must not use up the limit.
    monkeypatch.setattr("forms.services.confirmations._RATE_TO_ADDRESS", "1/day")
    make.form(fields=FIELDS, confirmation=CONFIRMATION)
    ApiClient().write("POST", URL, {"email": "ada@example.com"}, expect=201)
    id_ = str(FormSubmission.objects.get().pk)
    works, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, f"{__name__}.Refusing"
    with pytest.raises(OSError, match="no mail today"):
        send_confirmation(id_)
    settings.EMAIL_BACKEND = works

    assert send_confirmation(id_) is True
    assert len(mail.outbox) == 1


class Refusing:
    """A mail server that refuses everything."""

    def __init__(self, **options: Any) -> None:
        pass

    def send_messages(self, messages: Any) -> int:
        raise OSError("no mail today")
