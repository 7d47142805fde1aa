"""Stops runs that are not finished."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.models import UNFINISHED, AgentRun, RunStatus
from agents_app.running.ending import lock_posts
from agents_app.running.takeback import take_back
from agents_app.runs.events import record_run
from agents_app.runs.finding import find_run
from agents_app.runs.queue import wake_next
from agents_app.runs.starting import PERMISSIONS
from core.actor import Actor
from core.errors import Conflict, NotAllowed


@transaction.atomic
def cancel_run(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Stop a run that is not finished. What its tools staged goes, and its worker stages nothing any more."""
    run = find_run(run_id=run_id, actor=actor)
    if actor.is_person:
        actor.require(PERMISSIONS.get(run.scope, "agents.edit"))
    elif run.by_id != actor.user.pk:
        raise NotAllowed(_("Only whoever began a run, or a person with the right, may cancel it."))
    lock_posts(run)
    changed = AgentRun.objects.filter(pk=run.pk, status__in=UNFINISHED).update(
        status=RunStatus.CANCELLED, finished_at=timezone.now(), doing=""
    )
    run.refresh_from_db()
    if not changed:
        raise Conflict(
            _("The run is %(status)s already.") % {"status": run.status}, code="run_finished"
        )
    take_back(run)
    record_run("cancelled", run, actor)
    wake_next(run)
    return run
