"""What the tries at one field answered, and the one of them that a person wants proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from agents_app.models import AgentRun, RunStatus
from agents_app.running.fields import find_field
from agents_app.runs.events import record_run
from agents_app.runs.finding import find_run
from content.layers import open_layers, stage
from content.models import Layer
from core.actor import Actor
from core.errors import Conflict, NotFound, invalid
from core.json import Json

MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Candidate:
    """One try. Only one that succeeded has a value; `note` is what a person said before it."""

    run_id: UUID
    value: Json
    note: str
    created_at: datetime
    status: str
    is_staged: bool

    @property
    def is_one(self) -> bool:
        return self.status == RunStatus.SUCCEEDED


def candidates_of(run: AgentRun) -> Sequence[Candidate]:
    """All tries of a field, oldest first. None where the run was about no field."""
    if run.scope != "field":
        return ()
    first = run.first_try_id or run.pk
    tries = AgentRun.objects.filter(Q(pk=first) | Q(first_try_id=first))
    rows = tries.only("value", "note", "created_at", "status", "staged").order_by("-created_at")
    return [
        Candidate(
            run_id=row.pk,
            value=row.value,
            note=row.note,
            created_at=row.created_at,
            status=row.status,
            is_staged=bool(row.staged),
        )
        for row in reversed(rows[:MOST])
    ]


@transaction.atomic
def stage_candidate(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Put what a run of a field answered into AI Review, as the words of that run; a later try's give way to it.

    What stands there already is not put there twice.
    Raises `RuleViolation` where the value may no longer stand there, `Conflict` (`run_unfinished`).
    """
    actor.require_person("choose what an agent answered")
    actor.require("agents.field")
    run = find_run(run_id=run_id, actor=actor)
    if run.scope != "field":
        raise invalid("runId", _("Only a run of a field has an answer to choose."), code="no_value")
    if not run.is_finished:
        raise Conflict(_("The run is %(status)s.") % {"status": run.status}, code="run_unfinished")
    if run.status != RunStatus.SUCCEEDED:
        raise invalid(
            "runId",
            _("The run is %(status)s; it answered nothing.") % {"status": run.status},
            code="no_value",
        )
    post = run.post
    if post is None or post.deleted_at is not None:
        raise NotFound(_("No post has the id %(post_id)s.") % {"post_id": run.post_id})
    document = open_layers(post).ai_review.document
    target = find_field(document, run.field_key, run.post_module_id or None)
    staged = stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=actor.as_agent(run.agent_id, str(run.pk)),
        edit=target.edit(run.value),
    )
    if not staged.paths:
        return run
    run.staged = [*dict.fromkeys([*run.staged, *staged.paths])]
    run.save(update_fields=["staged"])
    record_run("staged", run, actor)
    return run
