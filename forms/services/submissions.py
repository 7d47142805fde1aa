"""Accept submissions of visitors, validated by the form's fields, and delete them on request or by age."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import isfinite
from typing import Final
from uuid import UUID, uuid4

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.db import transaction
from django.utils import timezone, translation
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext as _

from forms.fields import HONEYPOT, Field
from forms.form_input import clean_locale
from forms.models import FormSubmission
from forms.queries import fields_of, find_form
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.person import Person
from proofroom.core.validation import patterns
from proofroom.core.validation.input_validation import MAX_INTEGER, is_one_line, reject_unstorable

# Bounds the response to a request with many unknown fields.
_MAX_REFUSALS: Final = 50
_NUMBER: Final = re.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_PHONE: Final = re.compile(r"(?=.*\d)[-+0-9()./ #*xX]+\Z", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_YES: Final = frozenset({"true", "on", "1", "yes"})
_NO: Final = frozenset({"false", "off", "0", "no", ""})
_email = EmailValidator()
_url = URLValidator(schemes=["http", "https"])


class InvalidAnswer(Exception):
    """An invalid answer. The message contains `%(label)s` of the field."""

    def __init__(self, sentence: str, number: int = 0) -> None:
        super().__init__(sentence)
        self.sentence, self.number = sentence, number

    def of(self, label: str) -> str:
        number = number_format(self.number, use_l10n=True, force_grouping=True)
        return self.sentence % {"label": label, "number": number}


def read_answers(fields: Sequence[Field], given: Mapping[str, Json]) -> JsonObject:
    """Return the values to store by field name, without empty ones. Raises `RuleViolation` by name."""
    reject_unstorable(given)
    known = {field.name: field for field in fields}
    strange = [name for name in given if name not in known][:_MAX_REFUSALS]
    details: dict[str, list[str]] = {
        name[:80]: [f"There is no field {name[:80]!r} in this form; known: {', '.join(known)}."]
        for name in strange
    }
    values: JsonObject = {}
    for field in fields:
        answer = given.get(field.name)
        try:
            value = _READERS[field.type](
                field, answer.strip() if isinstance(answer, str) else answer
            )
            # 0 is an answer, but a required checkbox must be checked.
            if field.required and (value is None or value is False):
                raise InvalidAnswer(gettext("%(label)s is required."))
        except InvalidAnswer as fault:
            details[field.name] = [fault.of(field.label)]
        else:
            if value is not None:
                values[field.name] = value
    if details:
        details = dict(list(details.items())[:_MAX_REFUSALS])
        raise RuleViolation(next(iter(details.values()))[0], details=details)
    return values


def _read_text(field: Field, given: Json) -> str | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise InvalidAnswer(gettext("%(label)s must be text."))
    text = given.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text) if field.type == "textarea" else not is_one_line(text):
        raise InvalidAnswer(
            gettext("%(label)s must not contain control characters or line breaks.")
        )
    if len(text) > field.longest:
        raise InvalidAnswer(
            gettext("%(label)s can have at most %(number)s characters."), field.longest
        )
    if len(text) < (field.min_length or 0):
        raise InvalidAnswer(
            gettext("%(label)s needs at least %(number)s characters."), field.min_length or 0
        )
    if field.pattern and not patterns.matches(field.pattern, text):
        raise InvalidAnswer(gettext("%(label)s does not match the required format."))
    return text


def _read_checked(check: Callable[[str], object], sentence: str) -> Callable[[Field, Json], Json]:
    def read(field: Field, given: Json) -> Json:
        text = _read_text(field, given)
        if text is None:
            return None
        try:
            check(text)
        except ValidationError:
            raise InvalidAnswer(gettext(sentence)) from None
        return text

    return read


def _check_phone(text: str) -> None:
    if not _PHONE.match(text):
        raise ValidationError("no number")


def _read_select(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if not isinstance(given, str) or given not in (field.options or ()):
        raise InvalidAnswer(gettext("%(label)s must be one of the options."))
    return given


def _read_checkbox(field: Field, given: Json) -> Json:
    if given is None:
        return False
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.lower() in _YES | _NO:
        return given.lower() in _YES
    raise InvalidAnswer(gettext("%(label)s must be true or false."))


def _read_number(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    if isinstance(given, str) and _NUMBER.match(given):
        number = float(given)
        given = int(number) if number.is_integer() and abs(number) <= MAX_INTEGER else number
    # bool is a subclass of int.
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise InvalidAnswer(gettext("%(label)s must be a number."))
    if not isfinite(given) or abs(given) > MAX_INTEGER:
        raise InvalidAnswer(gettext("The number in %(label)s is too large or too small."))
    return given


def _read_date(field: Field, given: Json) -> Json:
    if given is None or given == "":
        return None
    # fromisoformat() accepts other forms too, such as 20260131.
    if isinstance(given, str) and _DATE.match(given):
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError:
            pass
    raise InvalidAnswer(gettext("%(label)s must be a date, such as 2026-01-31."))


_READERS: Final[Mapping[str, Callable[[Field, Json], Json]]] = {
    "text": _read_text,
    "textarea": _read_text,
    "email": _read_checked(_email, gettext_noop("%(label)s must be an email address.")),
    "url": _read_checked(
        _url, gettext_noop("%(label)s must be an address that starts with http:// or https://.")
    ),
    "tel": _read_checked(_check_phone, gettext_noop("%(label)s must be a phone number.")),
    "select": _read_select,
    "checkbox": _read_checkbox,
    "number": _read_number,
    "date": _read_date,
}


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
) -> SubmissionReceipt:
    """Store a submission. `admit` is called for a valid one, and may refuse it by raising.

    Raises `NotFound`, or `RuleViolation` by field name, in the requested language.
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
        payload = read_answers(fields_of(form), given)
    # After the validation: invalid submissions do not count against the limit.
    admit()
    content: JsonObject = {"formSlug": form.slug, "submissionId": str(id_), "payload": payload}
    # The submission and its events are stored together or not at all.
    with transaction.atomic():
        # The first event is for webhooks and the log, the second one triggers agents.
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
