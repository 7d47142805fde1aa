"""Agents that editorial steps ask: their runs, and what follows from the outcome."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from agents_app.definitions.schema import Scope
from agents_app.models import AgentRun, RunStatus
from agents_app.runs.creation import create_run
from proofroom.core import outbox
from proofroom.core.errors import CmsError
from proofroom.core.models import Event
from proofroom_apps.steps.services import AgentRequest, StartedRun, agent_asked, end_run

_ENDED: Final = ("agent.run.finished", "agent.run.cancelled")


def subscribe_to_steps() -> None:
    """Call once, at start."""
    agent_asked.register(start_asked_agent)
    outbox.subscribe(_ENDED, end_step_of_run, id="agents_app.step_runs.end_step")


def start_asked_agent(request: AgentRequest) -> StartedRun:
    """Start the agent on the post, with the rights of the person who opened the step."""
    try:
        # A refused run must not undo the step.
        with transaction.atomic():
            run = create_run(
                agent_id=request.agent_id,
                scope=Scope.DROPDOWN,
                actor=request.actor,
                post_id=request.post.pk,
                context={"step": request.step},
            )
    except CmsError as error:
        return StartedRun(problem=error.message)
    return StartedRun(run_id=run.pk)


def end_step_of_run(event: Event) -> None:
    """End the step that started a run, or say why people must decide. Idempotent."""
    run = AgentRun.objects.filter(pk=str(event.payload.get("id"))).first()
    if run is not None:
        end_run(run_id=run.pk, problem=_problem_of(run))


def _problem_of(run: AgentRun) -> str:
    if run.status == RunStatus.CANCELLED:
        return _("The run was cancelled.")
    if run.status != RunStatus.SUCCEEDED:
        return _("The run failed: %(error)s") % {"error": run.error}
    if run.declined:
        return _("The agent declined: %(reason)s") % {"reason": run.declined}
    # Agents only propose: people decide about the proposals, and end the step.
    return _("The proposals of the agent wait for a decision.") if run.staged else ""
