"""Personal data of visitors in submissions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.utils.translation import gettext_lazy

from forms.models import FormSubmission
from forms.queries import addresses_in, columns_of, email_fields, titles_of_forms
from forms.services.submissions import delete_with_events, mask_submission, record_view
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.json import JsonObject
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention

_BATCH_ROWS: Final = 500


class _Submissions(PersonalDataKind):
    """Submissions that contain the address: sent by the person, or by others."""

    models = ("forms.FormSubmission", "forms.SubmissionFile")
    is_own: bool

    def count(self, person: Person) -> int:
        return sum(1 for _row in self._rows(person))

    def records(self, person: Person) -> Iterator[JsonObject]:
        titles = titles_of_forms()
        labels: dict[str, dict[str, str]] = {}
        for row in self._rows(person):
            of_form = labels.setdefault(row.form_slug, columns_of(row.form_slug, ()))
            answers: JsonObject = {
                of_form.get(name, name): value
                for name, value in row.payload.items()
                # In another visitor's submission, only the answers about this person are theirs.
                if self.is_own or person.is_mentioned(value)
            }
            yield {
                "record": titles.get(row.form_slug, row.form_slug),
                "id": str(row.pk),
                "sent": row.created_at.isoformat(),
                "language": row.locale,
                "answers": answers,
            }

    def _rows(self, person: Person, *, locked: bool = False) -> Iterator[FormSubmission]:
        rows = FormSubmission.objects.select_for_update() if locked else FormSubmission.objects
        found = person.filter_mentions(rows.all(), "payload").order_by("pk")
        fields = email_fields()
        for row in found.iterator(chunk_size=_BATCH_ROWS):
            is_own = _is_sent_by(row, fields.get(row.form_slug, ()), person)
            if self.is_own == is_own and person.is_mentioned(row.payload):
                yield row


def _is_sent_by(row: FormSubmission, fields: Sequence[str], person: Person) -> bool:
    """Return whether the person sent it: the first answer to a field for an email address decides.

    Without such an answer, as of a form that was changed since, an answer that is only the address does.
    """
    for name in fields:
        if name in row.payload:
            return person.is_whole(row.payload[name])
    return any(person.is_whole(value) for value in row.payload.values())


class OwnSubmissions(_Submissions):
    name = "forms.submissions"
    label = gettext_lazy("Submissions of forms")
    erasure = Erasure.DELETED
    reason = gettext_lazy(
        "Also deleted from the activity log, from waiting webhooks and from agent runs."
    )
    is_own = True
    # Before the activity log, whose entries go with the submissions.
    order = 20

    def erase(self, person: Person, actor: Actor) -> int:
        rows = list(self._rows(person, locked=True))
        for start in range(0, len(rows), _BATCH_ROWS):
            delete_with_events(rows[start : start + _BATCH_ROWS])
        return len(rows)


class MentionsInSubmissions(_Submissions):
    name = "forms.mentions"
    label = gettext_lazy("Submissions of others with this address")
    erasure = Erasure.MASKED
    reason = gettext_lazy("The other answers belong to another visitor and stay.")
    is_own = False
    order = 20

    def erase(self, person: Person, actor: Actor) -> int:
        rows = list(self._rows(person, locked=True))
        for row in rows:
            mask_submission(row, person)
        return len(rows)


def _address_of(reference: str, actor: Actor) -> str:
    """Return an address in a submission. `reference`: its id, and the number of the address if there are several."""
    id_ = reference.partition(".")[0]
    row = find_by_id(FormSubmission.objects, id_) if actor.can("forms.submissions") else None
    if row is None:
        return ""
    record_view(rows=[row], actor=actor)
    return addresses_in(row).get(reference, "")


ADDRESSES: Final = (("submission", _address_of),)
KINDS: Final = (OwnSubmissions(), MentionsInSubmissions())
WITHOUT_PERSONAL_DATA: Final = ("forms.FormDefinition",)
RETENTIONS: Final = (
    Retention(
        "submissions",
        gettext_lazy("Submissions of forms"),
        setting="FORM_RETENTION_DAYS",
        task_name="forms.tasks.prune_submissions",
    ),
)
