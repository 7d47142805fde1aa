"""Kinds of events of forms."""

from __future__ import annotations

from typing import Final

from proofroom.core.outbox.events import EventKind

_SEE: Final = "forms.submissions"

KINDS = (
    EventKind("form.submitted", "Form submitted", _SEE, is_webhook=True, is_private=True),
    EventKind("form.submit", "Form submission", _SEE, is_trigger=True, is_private=True),
    EventKind("form.submission.deleted", "Submission deleted", _SEE),
    EventKind("form.submissions.viewed", "Submissions viewed", _SEE),
    EventKind("form.confirmation.sent", "Confirmation of a submission sent", _SEE),
    EventKind("form.file.opened", "File of a submission opened", _SEE),
    EventKind("form.submissions.exported", "Submissions exported", _SEE),
)
