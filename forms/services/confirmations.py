"""Send the confirmation of a submission by email, once."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import translation

from forms.confirmation import confirmation_of, recipient_in, write_subject, write_text
from forms.models import ConfirmationState, FormSubmission
from forms.queries import fields_of, find_form
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.caching.rate_limits import HitCount
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.models import Event

_RATE_TO_ADDRESS: Final = "3/day"
_RATE_OF_FORM: Final = "200/hour"
"""Visitors can enter addresses of other people, so few mails go to one address and from one form."""


def subscribe_to_submissions() -> None:
    """Call once, at start."""
    outbox.subscribe(
        ["form.submitted"], send_of_event, id="forms.confirmations.send_of_event", apart=True
    )


def send_of_event(event: Event) -> None:
    """Send the confirmation of the submission that an event names."""
    send_confirmation(str(event.payload.get("submissionId", "")))


def send_confirmation(submission_id: str) -> bool:
    """Send the confirmation if it is due, and return whether it was sent. May be called again.

    The row is claimed before the mail is sent, so that two processes do not send it twice. If the mail server
    refuses it, the claim is released and the error is raised, so that the caller tries again.
    """
    row = find_by_id(FormSubmission.objects, submission_id)
    if row is None or not _move(row, ConfirmationState.DUE, ConfirmationState.SENT):
        return False
    counts: list[HitCount] = []
    try:
        mail = _write_mail(row)
        if mail is None:
            _move(row, ConfirmationState.SENT, ConfirmationState.NONE)
            return False
        if _is_over_limit(row.form_slug, mail.to[0], counts):
            _move(row, ConfirmationState.SENT, ConfirmationState.LIMITED)
            return False
        mail.send()
    # Whatever goes wrong, the claim must not keep the mail from being sent later.
    except Exception:
        # What was not sent does not count, or a few failures would use up the limit.
        for count in counts:
            count.take_back()
        _move(row, ConfirmationState.SENT, ConfirmationState.DUE)
        raise
    with transaction.atomic():
        outbox.record(
            "form.confirmation.sent",
            actor=Actor(SYSTEM, "system"),
            payload={"formSlug": row.form_slug, "submissionId": str(row.pk)},
        )
    return True


def _move(row: FormSubmission, old: ConfirmationState, new: ConfirmationState) -> bool:
    with transaction.atomic():
        rows = FormSubmission.objects.filter(pk=row.pk, confirmation=old)
        return rows.update(confirmation=new) == 1


def _write_mail(row: FormSubmission) -> EmailMessage | None:
    """Return the mail, or None if the form no longer has a confirmation."""
    try:
        form = find_form(row.form_slug, row.locale)
    except NotFound:
        return None
    confirmation = confirmation_of(form)
    address = recipient_in(confirmation, row.payload) if confirmation else ""
    if confirmation is None or not address:
        return None
    fields = fields_of(form)
    with translation.override(row.locale):
        return EmailMessage(
            write_subject(confirmation, fields, row.payload),
            write_text(confirmation, fields, row.payload),
            to=[address],
            headers={"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All"},
        )


def _is_over_limit(slug: str, address: str, counts: list[HitCount]) -> bool:
    """Return whether a limit is reached. Adds the counts of this mail to `counts`."""
    # The counter may be in another database, which has no use for the address itself.
    ident = sha256(_mailbox_of(address).encode()).hexdigest()
    for scope, key, rate in (
        ("forms-mail-to", ident, _RATE_TO_ADDRESS),
        # Counts only mails that the address may get, so that one address cannot use up the limit of the form.
        ("forms-mail-of", slug, _RATE_OF_FORM),
    ):
        counts.append(HitCount(scope, key, rate=rate))
        if counts[-1].is_over:
            return True
    return False


def _mailbox_of(address: str) -> str:
    """Return the address without a tag after `+`, which leads to the same mailbox."""
    name, _at, domain = address.lower().rpartition("@")
    return f"{name.partition('+')[0]}@{domain}"
