"""Start, cancel and find requests about personal data."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.services.erasure import deactivate_account, find_person, require_erasable
from proofroom.core.actor import Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.models import Event
from proofroom.core.privacy.declarations import kinds
from proofroom.core.privacy.person import clean_email
from proofroom_apps.privacy.models import ExportChunk, PersonalDataRequest, RequestAction
from proofroom_apps.privacy.request_runs import COPIES, REQUESTS

_MAX_EVENTS_IN_REQUEST = 20_000
"""Largest number of events with which a request is carried out at once. Larger sites need a worker."""


def require_manager(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may handle the data of people. Agents and AI clients never may."""
    actor.require_person("handle the data of people")
    actor.require("privacy.manage")


def start_request(
    *, email: str, action: str, actor: Actor, confirm: str | None = None
) -> PersonalDataRequest:
    """Start a request, and carry it out at once on a small site.

    An erasure needs the address again as `confirm`. It turns the person's account off first. Raises `NotAllowed`, or
    `RuleViolation` on `email`, `action` or `confirm`.
    """
    require_manager(actor)
    if action not in RequestAction.values:
        known = ", ".join(RequestAction.values)
        raise invalid("action", _("action must be one of: %(known)s.") % {"known": known})
    person = find_person(clean_email(email))
    if person.user_id is not None and action != RequestAction.SEARCH:
        actor.require("users.manage")
    if action == RequestAction.ERASE:
        if clean_email(confirm or "", "confirm") != person.email:
            raise invalid("confirm", _("Enter the same email address to confirm."))
        require_erasable(person=person, actor=actor)
    with transaction.atomic():
        job = REQUESTS.create(
            actor,
            action=action,
            email=person.email,
            account_id=person.user_id,
            username=person.username,
            pending=[COPIES, *(kind.name for kind in kinds())],
            via=actor.via,
        )
        if action == RequestAction.ERASE:
            # An export must not outlive what it copied.
            REQUESTS.cancel_others(job, actor)
            # At once: nobody may act in this name while the rest is being erased.
            deactivate_account(person=person, actor=actor)
    return REQUESTS.begin(job, at_once=_is_small())


def finish_request(job: PersonalDataRequest) -> PersonalDataRequest:
    """Carry out what is left of a request in this process. For commands."""
    while REQUESTS.execute_part(job.pk):
        pass
    job.refresh_from_db()
    return job


def find_request(request_id: UUID | str, *, actor: Actor) -> PersonalDataRequest:
    """Return a request. Raises `NotAllowed` or `NotFound`."""
    require_manager(actor)
    found = find_by_id(PersonalDataRequest.objects, request_id)
    if found is None:
        raise NotFound(_("Request not found."))
    return found


def cancel_request(*, request_id: UUID | str, actor: Actor) -> PersonalDataRequest:
    """Stop a request. What was erased stays erased. Raises `Conflict` if it has ended."""
    return REQUESTS.cancel(find_request(request_id, actor=actor).pk, actor)


def repeat_request(
    *, request_id: UUID | str, action: str, actor: Actor, confirm: str | None = None
) -> PersonalDataRequest:
    """Start another action for the person of a request. Raises `Conflict` if the person was erased."""
    before = find_request(request_id, actor=actor)
    if not before.email:
        raise Conflict(_("The data of this person was erased."), code="erased")
    return start_request(email=before.email, action=action, actor=actor, confirm=confirm)


def delete_expired_exports() -> int:
    """Delete the files of exports that expired. Return the number of parts. Idempotent."""
    over = PersonalDataRequest.objects.exclude(state=JobState.RUNNING)
    expired = over.filter(expires_at__lte=timezone.now())
    return ExportChunk.objects.filter(request__in=expired).delete()[0]


def _is_small() -> bool:
    # Counted no further than one above the limit: the log of a large site has millions of rows.
    return Event.objects.all()[: _MAX_EVENTS_IN_REQUEST + 1].count() <= _MAX_EVENTS_IN_REQUEST
