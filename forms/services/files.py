"""Links to files of submissions: signed, for about fifteen minutes, and only for users who may read submissions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.core import signing
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from forms.models import FormSubmission, SubmissionFile
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Gone, NotFound
from proofroom.core.json import Json, JsonObject, format_time

LINK_SECONDS: Final = 15 * 60
"""How long a link works at least."""
_STEP: Final = 5 * 60
"""In seconds. Links end at multiples of it, so that answers stay the same, and their ETags, between two of them."""
_SALT: Final = "forms.submission_file"


def is_file(answer: Json) -> bool:
    """Return whether a stored answer describes a file."""
    return isinstance(answer, Mapping) and {"id", "filename", "type", "size"} <= answer.keys()


def with_links(row: FormSubmission) -> JsonObject:
    """Return the answers of a submission, with the address of each file and the time at which it expires."""
    expires = format_time(datetime.fromtimestamp(_link_end(), tz=UTC))
    return {
        name: {**answer, "url": link_to(row, str(answer["id"])), "expiresAt": expires}
        if isinstance(answer, dict) and is_file(answer)
        else answer
        for name, answer in row.payload.items()
    }


def link_to(row: FormSubmission, file_id: str) -> str:
    """Return the address of a file, with the time at which it expires."""
    token = signing.Signer(salt=_SALT).sign(f"{file_id}:{_link_end()}").partition(":")[2]
    address = f"/api/forms/{row.form_slug}/submissions/{row.pk}/files/{file_id}"
    return f"{address}?{urlencode({'token': token})}"


def _link_end() -> int:
    """Return when links made now expire, in seconds since 1970."""
    return (int(timezone.now().timestamp()) // _STEP + 1) * _STEP + LINK_SECONDS


def open_file(
    *, submission: FormSubmission, file_id: UUID | str, token: str, actor: Actor
) -> tuple[SubmissionFile, str]:
    """Return a file with its content, and its name. Raises `NotFound` or `Gone`, and records the access."""
    actor.require("forms.submissions")
    try:
        _id, _colon, ends = signing.Signer(salt=_SALT).unsign(f"{file_id}:{token}").partition(":")
    except signing.BadSignature:
        raise _not_found() from None
    if int(ends) < timezone.now().timestamp():
        raise Gone(_("This link has expired. Open the submission again."))
    file = find_by_id(SubmissionFile.objects.filter(submission=submission), str(file_id))
    answer = submission.payload.get(file.field) if file is not None else None
    if file is None or not isinstance(answer, dict) or not is_file(answer):
        raise _not_found()
    outbox.record(
        "form.file.opened",
        actor=actor,
        payload={
            "formSlug": submission.form_slug,
            "submissionId": str(submission.pk),
            "field": file.field,
        },
    )
    return file, str(answer["filename"])


def _not_found() -> NotFound:
    return NotFound(_("The submission does not have this file."))
