"""Retries of a finished run or of a pending proposal, and the choice between their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import MAX_CONTEXT_CHARACTERS, create_run
from agents_app.runs.field_target import FieldTarget, find_field
from agents_app.runs.queries import find_run
from agents_app.runs.run_log import record_run
from content.document.changes import same
from content.layers import Layers, open_layers, stage
from content.models import Layer
from content.store.layer_state import Attribution, find_writers, mark_of
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import reject_unstorable

MAX_CANDIDATES: Final = 100


@dataclass(frozen=True, slots=True)
class FieldCandidate:
    """One try. Only a successful one that did not decline has a value. `note`: the user's comment before it."""

    run_id: UUID
    value: Json
    note: str
    created_at: datetime
    status: str
    is_staged: bool
    declined: str = ""

    @property
    def is_one(self) -> bool:
        return self.status == RunStatus.SUCCEEDED and not self.declined


def run_candidates(run: AgentRun) -> Sequence[FieldCandidate]:
    """Return all tries at a field, oldest first; empty if the run was not about a field."""
    if run.scope != "field":
        return ()
    first = run.first_try_id or run.pk
    tries = AgentRun.objects.filter(Q(pk=first) | Q(first_try_id=first))
    # Newest first, so that the slice leaves out the oldest tries.
    rows = tries.only("value", "note", "created_at", "status", "staged", "declined").order_by(
        "-created_at"
    )
    return [
        FieldCandidate(
            run_id=row.pk,
            value=row.value,
            note=row.note,
            created_at=row.created_at,
            status=row.status,
            is_staged=bool(row.staged),
            declined=row.declined,
        )
        for row in reversed(rows[:MAX_CANDIDATES])
    ]


@transaction.atomic
def stage_candidate(*, run_id: UUID | str, actor: Actor) -> AgentRun:
    """Stage the answer of a field run in AI Review as that run's proposal, replacing the ones of other
    tries.

    Does nothing if the value is already there. Raises `RuleViolation` if the value is no longer
    valid, `Conflict` (`run_unfinished`).
    """
    actor.require_person("choose what an agent answered")
    actor.require("agents.field")
    run = find_run(run_id=run_id, actor=actor)
    if run.scope != "field":
        raise invalid(
            "runId", _("Only runs on a field have answers to choose from."), code="no_value"
        )
    if not run.is_finished:
        raise Conflict(_("The run is %(status)s.") % {"status": run.status}, code="run_unfinished")
    if run.status != RunStatus.SUCCEEDED:
        raise invalid(
            "runId",
            _("The run is %(status)s and has no answer.") % {"status": run.status},
            code="no_value",
        )
    if run.declined:
        raise invalid("runId", _("The run declined and has no answer."), code="no_value")
    post = run.post
    if post is None or post.deleted_at is not None:
        raise NotFound(_("No post has the ID %(post_id)s.") % {"post_id": run.post_id})
    document = open_layers(post).ai_review.document
    target = find_field(document, run.field_key, run.post_module_id or None)
    staged = stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=actor.as_agent(run.agent_id, str(run.pk)),
        edit=target.edit(run.value),
        reason=run.summary,
    )
    if not staged.paths:
        return run
    run.staged = [*dict.fromkeys([*run.staged, *staged.paths])]
    run.save(update_fields=["staged"])
    record_run("staged", run, actor)
    return run


MAX_NOTE_CHARACTERS: Final = 2000
_MAX_PREVIOUS_CANDIDATES: Final = 5
"""Maximum number of earlier candidates in the prompt."""
_MAX_CANDIDATE_CHARACTERS: Final = 4000
"""Maximum characters of each candidate as JSON."""
RETRY_KEYS: Final = ("note", "previousCandidates", "previousSummary")


@transaction.atomic
def retry_run(
    *, run_id: UUID | str, actor: Actor, note: str = "", new_id: UUID | None = None
) -> AgentRun:
    """Start a run with the input of a finished one. The earlier run stays unchanged.

    Permissions are checked again. Raises `Conflict` (`run_unfinished`), and as `create_run`.
    """
    actor.require_person("run an agent again")
    run = find_run(run_id=run_id, actor=actor)
    if not run.is_finished:
        raise Conflict(
            _("The run is %(status)s. Wait until it finishes, or cancel it first.")
            % {"status": run.status},
            code="run_unfinished",
        )
    if run.is_dry:
        raise invalid("runId", _("Start another test run on the agent’s page."), code="dry_run")
    note = clean_note(note)
    # The input of the run, without the results of earlier tries, which are added below.
    context = {name: value for name, value in run.context.items() if name not in RETRY_KEYS}
    if note:
        context["note"] = note
    if run.scope == "field":
        previous = previous_candidates(
            run, MAX_CONTEXT_CHARACTERS - len(json.dumps(context)) - _MAX_CANDIDATE_CHARACTERS
        )
        if previous:
            context["previousCandidates"] = previous
    elif said := run.declined or run.summary:
        context["previousSummary"] = said
    return create_run(
        agent_id=run.agent_id,
        scope=run.scope,
        actor=actor,
        post_id=run.post_id,
        context=context,
        open_ended_context=run.open_ended_context or None,
        field_key=run.field_key or None,
        post_module_id=run.post_module_id or None,
        stages_value=run.stages_value,
        again=run,
        note=note,
        run_id=new_id,
    )


def clean_note(note: str) -> str:
    """Return a person's note on an earlier try, stripped. Raises `RuleViolation` on `note`."""
    note = note.strip()
    reject_unstorable(note, "note")
    if len(note) > MAX_NOTE_CHARACTERS:
        raise invalid(
            "note",
            _("It has %(number)s characters; at most %(note_max)s are allowed.")
            % {"number": f"{len(note):,}", "note_max": f"{MAX_NOTE_CHARACTERS:,}"},
        )
    return note


def previous_candidates(run: AgentRun, room: int) -> list[Json]:
    """Return the latest candidates that fit into `room` characters, oldest first."""
    found: list[Json] = []
    for one in reversed(run_candidates(run)):
        candidate: JsonObject = {"value": one.value, "note": one.note}
        length = len(json.dumps(candidate))
        if not one.is_one or length > _MAX_CANDIDATE_CHARACTERS:
            continue
        room -= length
        if room < 0 or len(found) == _MAX_PREVIOUS_CANDIDATES:
            break
        found.insert(0, candidate)
    return found


_RESERVED_CONTEXT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class EarlierProposal:
    """A pending proposal of an agent or AI client for a field, with its author and editors."""

    layer: Layer
    value: Json
    mark: Attribution

    @property
    def agent_id(self) -> str:
        return self.mark.agent_id


def earlier_proposal(layers: Layers, target: FieldTarget, layer: Layer) -> EarlierProposal | None:
    """Return the proposal to try again; None if no AI proposal is pending."""
    view = layers.view(layer)
    if not _changes(layers, target, layer):
        return None
    mark = mark_of(view.marks, target.document_path(view.document))
    if mark is None or not mark.is_ai:
        return None
    return EarlierProposal(layer, target.value(view.document), mark)


def pending_marks(layers: Layers, target: FieldTarget, layer: Layer) -> Sequence[Attribution]:
    """Return the marks of the pending change of a field in a layer; empty without one."""
    if not _changes(layers, target, layer):
        return ()
    view = layers.view(layer)
    return find_writers(view.marks, target.document_path(view.document))


def _changes(layers: Layers, target: FieldTarget, layer: Layer) -> bool:
    """Return True if a layer changes the field, or adds its module."""
    view = layers.view(layer)
    if target.module_id is not None and target.module(view.document) is None:
        return False
    path = target.document_path(view.document)
    return any(path == other or path.startswith(other + ".") for other in view.changes.paths)


@transaction.atomic
def retry_change(
    *,
    layers: Layers,
    target: FieldTarget,
    layer: Layer,
    agent_id: str,
    actor: Actor,
    note: str = "",
    run_id: UUID | None = None,
) -> AgentRun:
    """Start a run that answers another value for a field whose proposal is pending in `layer`.

    The agent receives the earlier value and the note. A user stages the answer later, which
    replaces the pending proposal in AI Review. Raises as `create_run`.
    """
    actor.require_person("run an agent again")
    note = clean_note(note)
    earlier = earlier_proposal(layers, target, layer)
    maker = find_by_id(AgentRun.objects, earlier.mark.run_id) if earlier is not None else None
    # Tries of the same agent at the same field are shown side by side.
    is_try_of_same = (
        maker is not None
        and maker.scope == Scope.FIELD
        and maker.is_finished
        and maker.agent_id == agent_id
        and (maker.field_key, maker.post_module_id) == (target.key, target.module_id or "")
    )
    before = maker if is_try_of_same else None
    run = create_run(
        agent_id=agent_id,
        scope=Scope.FIELD,
        actor=actor,
        post_id=layers.post.pk,
        context=_change_context(earlier, before, note),
        field_key=target.key,
        post_module_id=target.module_id,
        stages_value=False,
        again=before,
        note=note,
        run_id=run_id,
    )
    if maker is not None and maker.has_read_untrusted and not run.has_read_untrusted:
        # Its context now contains a value that visitors may have influenced.
        run.has_read_untrusted = True
        run.save(update_fields=["has_read_untrusted"])
    return run


def _change_context(
    earlier: EarlierProposal | None, before: AgentRun | None, note: str
) -> JsonObject:
    """Return the note and the earlier answers, the one to improve last."""
    context: JsonObject = {"note": note} if note else {}
    if earlier is None:
        return context
    last: JsonObject = {"value": earlier.value, "note": before.note if before else ""}
    room = (
        MAX_CONTEXT_CHARACTERS
        - _RESERVED_CONTEXT_CHARACTERS
        - len(json.dumps(context))
        - len(json.dumps(last))
    )
    if room < 0:
        # Too long to repeat; the value is in `field.currentValue` only.
        return context
    others = previous_candidates(before, room) if before is not None else []
    context["previousCandidates"] = [
        *(
            one
            for one in others
            if not (isinstance(one, dict) and same(one["value"], earlier.value))
        ),
        last,
    ]
    return context
