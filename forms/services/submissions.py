"""Accept submissions of visitors, validated by the form's fields, and delete them on request or by age."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from forms.answers import files_in, read_answers
from forms.confirmation import is_due
from forms.fields import HONEYPOT
from forms.form_input import clean_locale
from forms.models import ConfirmationState, FormSubmission, SubmissionFile
from forms.queries import fields_of, find_form
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.person import Person

_BATCH_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The response to the visitor. A submission that filled the honeypot was not stored."""

    id: UUID
    success_message: str
    redirect_url: str
    is_kept: bool = True


def submit_form(
    *,
    slug: str,
    locale: str | None,
    values: Mapping[str, Json],
    actor: Actor,
    admit: Callable[[], None],
    files: Mapping[str, UploadedFile[bytes]] | None = None,
) -> SubmissionReceipt:
    """Store a submission. `admit` is called for a valid one, and may refuse it by raising.

    `files` are by field name. Raises `NotFound`, or `RuleViolation` by field name, in the requested language.
    """
    language = clean_locale(locale)
    form = find_form(slug, language)
    id_ = uuid4()
    receipt = SubmissionReceipt(id_, form.success_message, form.redirect_url)
    # Programs get the usual response, so that they don't learn of the honeypot.
    if values.get(HONEYPOT) not in (None, ""):
        return replace(receipt, is_kept=False)
    given = {name: value for name, value in values.items() if name != HONEYPOT}
    with translation.override(language):
        payload = read_answers(fields_of(form), given, files)
    # After the validation: invalid submissions do not count against the limit.
    admit()
    content: JsonObject = {"formSlug": form.slug, "submissionId": str(id_), "payload": payload}
    # The submission and its events are stored together or not at all.
    with transaction.atomic():
        # The first event is for webhooks and the log, the second one triggers agents.
        names = ("form.submitted", "form.submit")
        events = [outbox.record(name, actor=actor, payload=content) for name in names]
        row = FormSubmission.objects.create(
            pk=id_,
            form_slug=form.slug,
            locale=form.locale,
            payload=payload,
            event_ids=[event.pk for event in events],
            created_at=timezone.now(),
            confirmation=ConfirmationState.DUE if is_due(form, payload) else ConfirmationState.NONE,
        )
        SubmissionFile.objects.bulk_create(
            SubmissionFile(
                id=answer["id"],
                submission=row,
                field=name,
                media_type=answer["type"],
                size=answer["size"],
                content=file.open("rb").read(),
            )
            for name, answer, file in files_in(payload, files or {})
        )
    return receipt


@transaction.atomic
def delete_submission(*, slug: str, submission_id: UUID | str, actor: Actor) -> UUID:
    """Delete one submission, also from the events that contain its values."""
    actor.require_person("delete submissions")
    actor.require("forms.submissions")
    row = find_submission(slug, submission_id, locked=True)
    delete_with_events([row])
    outbox.record(
        "form.submission.deleted",
        actor=actor,
        payload={"formSlug": row.form_slug, "submissionId": str(row.pk)},
    )
    return row.pk


def record_export(*, slug: str, count: int, actor: Actor) -> None:
    """Record an export of the submissions of a form."""
    actor.require("forms.submissions")
    payload: JsonObject = {"formSlug": slug[:200], "count": count}
    outbox.record("form.submissions.exported", actor=actor, payload=payload)


def record_view(*, rows: Sequence[FormSubmission], actor: Actor) -> None:
    """Record that the actor saw these submissions: one entry for a page of a list. One statement."""
    if not rows:
        return
    slugs = sorted({row.form_slug for row in rows})
    payload: JsonObject = {
        "count": len(rows),
        "submissionIds": [str(row.pk) for row in rows],
        **({"formSlug": slugs[0]} if len(slugs) == 1 else {"formSlugs": [*slugs]}),
    }
    outbox.record("form.submissions.viewed", actor=actor, payload=payload)


def find_submission(
    slug: str, submission_id: UUID | str, *, locked: bool = False
) -> FormSubmission:
    """Return the submission with this id to this form. Raises `NotFound`."""
    rows = FormSubmission.objects.select_for_update() if locked else FormSubmission.objects.all()
    row = find_by_id(rows, submission_id)
    if row is None or row.form_slug != slug:
        raise NotFound(_("The form %(slug)r does not have this submission.") % {"slug": slug[:100]})
    return row


def prune_submissions(*, days: int) -> int:
    """Delete submissions older than this many days, and return their number. 0 days retain everything."""
    if days <= 0:
        return 0
    rows = FormSubmission.objects.filter(created_at__lt=timezone.now() - timedelta(days=days))
    total = 0
    while True:
        # A transaction per batch, so that a large backlog doesn't hold its locks for long.
        with transaction.atomic():
            batch = list(rows.select_for_update().order_by("created_at")[:_BATCH_SIZE])
            if not batch:
                return total
            delete_with_events(batch)
            total += len(batch)


def delete_with_events(rows: Sequence[FormSubmission]) -> None:
    """Delete submissions and the texts of their events. The caller opens the transaction."""
    outbox.forget([event_id for row in rows for event_id in row.event_ids])
    FormSubmission.objects.filter(pk__in=[row.pk for row in rows]).delete()


def mask_submission(row: FormSubmission, person: Person) -> None:
    """Remove a person's address from another visitor's submission, and delete the texts of its events."""
    outbox.forget(row.event_ids)
    FormSubmission.objects.filter(pk=row.pk).update(payload=person.mask(row.payload))
