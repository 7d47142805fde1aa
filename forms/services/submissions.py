"""Takes submissions from visitors, and deletes them for people or by age."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from forms.fields import HONEYPOT
from forms.form_input import clean_locale
from forms.models import FormSubmission
from forms.queries import fields_of, find_form
from forms.submitted_answers import read_answers
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import Json, JsonObject

_BATCH_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The receipt for the visitor. Of a submission that filled the field for programs, nothing was kept."""

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
) -> SubmissionReceipt:
    """Take what a visitor sent. `admit` is called once it is known to fit, and may refuse by raising.

    Raises `NotFound`, or `RuleViolation` by the names of fields, in the language that was asked for.
    """
    language = clean_locale(locale)
    form = find_form(slug, language)
    id_ = uuid4()
    receipt = SubmissionReceipt(id_, form.success_message, form.redirect_url)
    if values.get(HONEYPOT) not in (None, ""):
        return replace(receipt, is_kept=False)
    given = {name: value for name, value in values.items() if name != HONEYPOT}
    with translation.override(language):
        payload = read_answers(fields_of(form), given)
    admit()
    content: JsonObject = {"formSlug": form.slug, "submissionId": str(id_), "payload": payload}
    with transaction.atomic():
        # The first is for webhooks and the log, the second is the scope that starts agents.
        names = ("form.submitted", "form.submit")
        events = [outbox.record(name, actor=actor, payload=content) for name in names]
        FormSubmission.objects.create(
            pk=id_,
            form_slug=form.slug,
            locale=form.locale,
            payload=payload,
            event_ids=[event.pk for event in events],
            created_at=timezone.now(),
        )
    return receipt


@transaction.atomic
def delete_submission(*, slug: str, submission_id: UUID | str, actor: Actor) -> UUID:
    """Delete one submission of a form, also from the events that carry its words."""
    actor.require_person("delete submissions")
    actor.require("forms.submissions")
    row = find_submission(slug, submission_id, locked=True)
    _delete_with_events([row])
    outbox.record(
        "form.submission.deleted",
        actor=actor,
        payload={"formSlug": row.form_slug, "submissionId": str(row.pk)},
    )
    return row.pk


def record_export(*, slug: str, actor: Actor) -> None:
    """Write down that somebody takes the submissions of a form along."""
    actor.require("forms.submissions")
    outbox.record("form.submissions.exported", actor=actor, payload={"formSlug": slug[:200]})


def find_submission(
    slug: str, submission_id: UUID | str, *, locked: bool = False
) -> FormSubmission:
    """The submission of that id to that form. Raises `NotFound`."""
    rows = FormSubmission.objects.select_for_update() if locked else FormSubmission.objects.all()
    try:
        row = rows.filter(pk=UUID(str(submission_id))).first()
    except ValueError:
        row = None
    if row is None or row.form_slug != slug:
        raise NotFound(_("The form %(slug)r has no such submission.") % {"slug": slug[:100]})
    return row


def prune_submissions(*, days: int) -> int:
    """Delete what was submitted more than that many days ago. Answers how much; 0 days keep everything."""
    if days <= 0:
        return 0
    rows = FormSubmission.objects.filter(created_at__lt=timezone.now() - timedelta(days=days))
    total = 0
    while True:
        with transaction.atomic():
            batch = list(rows.select_for_update().order_by("created_at")[:_BATCH_SIZE])
            if not batch:
                return total
            _delete_with_events(batch)
            total += len(batch)


def _delete_with_events(rows: list[FormSubmission]) -> None:
    outbox.forget([event_id for row in rows for event_id in row.event_ids])
    FormSubmission.objects.filter(pk__in=[row.pk for row in rows]).delete()
