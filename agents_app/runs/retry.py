"""Another try at a run that is finished, with a word on the one before."""

from __future__ import annotations

import json
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.models import AgentRun
from agents_app.runs.candidates import candidates_of
from agents_app.runs.finding import find_run
from agents_app.runs.given import CONTEXT_MAX
from agents_app.runs.starting import create_run
from core.actor import Actor
from core.errors import Conflict, invalid
from core.hostile import refuse_unstorable
from core.json import Json, JsonObject

NOTE_MAX: Final = 2000
_TOLD: Final = 5
"""Earlier candidates that the model is told of, and how long each may be, as JSON."""
_LONGEST: Final = 4000
_OF_TRIES: Final = ("note", "previousCandidates", "previousSummary")


@transaction.atomic
def retry_run(
    *, run_id: UUID | str, actor: Actor, note: str = "", new_id: UUID | None = None
) -> AgentRun:
    """Begin a run with the input of one that is finished. The earlier one stays as it is.

    The rights are asked anew. Raises `Conflict` (`run_unfinished`), and whatever `create_run` raises.
    """
    actor.require_person("run an agent again")
    run = find_run(run_id=run_id, actor=actor)
    if not run.is_finished:
        raise Conflict(
            _("The run is %(status)s; wait for it, or cancel it first.") % {"status": run.status},
            code="run_unfinished",
        )
    if run.is_dry:
        raise invalid("runId", _("A dry run is begun anew on its agent's page."), code="dry_run")
    note = checked_note(note)
    return create_run(
        agent_id=run.agent_id,
        scope=run.scope,
        actor=actor,
        post_id=run.post_id,
        context=_context(run, note),
        open_ended_context=run.open_ended_context or None,
        field_key=run.field_key or None,
        post_module_id=run.post_module_id or None,
        stages_value=run.stages_value,
        again=run,
        note=note,
        run_id=new_id,
    )


def checked_note(note: str) -> str:
    """What a person says of an earlier try. Raises `RuleViolation` on `note`."""
    note = note.strip()
    refuse_unstorable(note, "note")
    if len(note) > NOTE_MAX:
        raise invalid(
            "note",
            _("It has %(number)s characters; at most %(note_max)s are allowed.")
            % {"number": f"{len(note):,}", "note_max": f"{NOTE_MAX:,}"},
        )
    return note


def _context(run: AgentRun, note: str) -> JsonObject:
    """What the run was given, and what came of it and of the tries before."""
    context = {name: value for name, value in run.context.items() if name not in _OF_TRIES}
    if note:
        context["note"] = note
    if run.scope == "field":
        previous = previous_candidates(run, CONTEXT_MAX - len(json.dumps(context)) - _LONGEST)
        if previous:
            context["previousCandidates"] = previous
    elif run.summary:
        context["previousSummary"] = run.summary
    return context


def previous_candidates(run: AgentRun, room: int) -> list[Json]:
    """The latest candidates that there is room for, oldest first."""
    found: list[Json] = []
    for one in reversed(candidates_of(run)):
        told: JsonObject = {"value": one.value, "note": one.note}
        length = len(json.dumps(told))
        if not one.is_one or length > _LONGEST:
            continue
        room -= length
        if room < 0 or len(found) == _TOLD:
            break
        found.insert(0, told)
    return found
