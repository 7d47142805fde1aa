"""Another try at a proposal that waits in a layer, by the agent that made it or another, with a person's note."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun
from agents_app.running.fields import FieldTarget
from agents_app.runs.given import CONTEXT_MAX
from agents_app.runs.retry import checked_note, previous_candidates
from agents_app.runs.starting import create_run
from content.changes import same
from content.layers import Layers
from content.layers.marks import Mark, hands_on, mark_of
from content.models import Layer
from core.actor import Actor
from core.json import Json, JsonObject

_ROOM_FOR_THE_REST = 1_000


@dataclass(frozen=True, slots=True)
class EarlierProposal:
    """An agent's or AI client's proposal for a field that waits in a layer, with who wrote and who edited it."""

    layer: Layer
    value: Json
    mark: Mark

    @property
    def agent_id(self) -> str:
        return self.mark.agent_id


def earlier_proposal(layers: Layers, target: FieldTarget, layer: Layer) -> EarlierProposal | None:
    """The proposal that is to be tried again; None where none of AI waits there any more."""
    view = layers.view(layer)
    if not _changes(layers, target, layer):
        return None
    mark = mark_of(view.marks, target.document_path(view.document))
    if mark is None or not mark.is_ai:
        return None
    return EarlierProposal(layer, target.value(view.document), mark)


def hands_at(layers: Layers, target: FieldTarget, layer: Layer) -> Sequence[Mark]:
    """Whose words wait in a layer for the field; nobody's where nothing waits there."""
    if not _changes(layers, target, layer):
        return ()
    view = layers.view(layer)
    return hands_on(view.marks, target.document_path(view.document))


def _changes(layers: Layers, target: FieldTarget, layer: Layer) -> bool:
    """Whether a layer changes the field, or adds the module that it stands in."""
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
    """Begin a run that answers another value for a field whose proposal waits in `layer`.

    The agent is told the earlier value and the note. The answer is staged when a person chooses it, and then takes
    the place of what waits in AI Review. Raises as `create_run`.
    """
    actor.require_person("run an agent again")
    note = checked_note(note)
    earlier = earlier_proposal(layers, target, layer)
    maker = _run_of(earlier)
    # Tries of one agent at one field stand side by side.
    before = maker if maker is not None and _is_try_at(maker, target, agent_id) else None
    run = create_run(
        agent_id=agent_id,
        scope=Scope.FIELD,
        actor=actor,
        post_id=layers.post.pk,
        context=_context(earlier, before, note),
        field_key=target.key,
        post_module_id=target.module_id,
        stages_value=False,
        again=before,
        note=note,
        run_id=run_id,
    )
    if maker is not None and maker.has_read_untrusted and not run.has_read_untrusted:
        # What visitors may have had a hand in is in its context now.
        run.has_read_untrusted = True
        run.save(update_fields=["has_read_untrusted"])
    return run


def _run_of(earlier: EarlierProposal | None) -> AgentRun | None:
    """The run that made the proposal, if one did and is known still."""
    if earlier is None:
        return None
    try:
        return AgentRun.objects.filter(pk=UUID(earlier.mark.run_id)).first()
    except ValueError:
        return None


def _is_try_at(run: AgentRun, target: FieldTarget, agent_id: str) -> bool:
    return (
        run.scope == Scope.FIELD
        and run.is_finished
        and run.agent_id == agent_id
        and (run.field_key, run.post_module_id) == (target.key, target.module_id or "")
    )


def _context(earlier: EarlierProposal | None, before: AgentRun | None, note: str) -> JsonObject:
    """The note and the earlier answers, the one that is to be bettered last."""
    context: JsonObject = {"note": note} if note else {}
    if earlier is None:
        return context
    last: JsonObject = {"value": earlier.value, "note": before.note if before else ""}
    room = CONTEXT_MAX - _ROOM_FOR_THE_REST - len(json.dumps(context)) - len(json.dumps(last))
    if room < 0:
        # As long as that, it stands in `field.currentValue` only.
        return context
    others = previous_candidates(before, room) if before is not None else []
    context["previousCandidates"] = [*(one for one in others if not _holds(one, earlier)), last]
    return context


def _holds(candidate: Json, earlier: EarlierProposal) -> bool:
    return isinstance(candidate, dict) and same(candidate["value"], earlier.value)
