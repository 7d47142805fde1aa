"""What the log says of runs."""

from __future__ import annotations

from dataclasses import replace

from agents_app.models import AgentRun
from core import events
from core.actor import Actor, Visitor
from core.json import JsonObject


def record_run(what: str, run: AgentRun, actor: Actor) -> None:
    """Record, in the caller's transaction, what became of a run and by whom."""
    if run.event_id is not None and actor.event_id is None:
        actor = replace(actor, event_id=run.event_id, hop=run.hop)
    payload: JsonObject = {
        "id": str(run.pk),
        "agentId": run.agent_id,
        "scope": run.scope,
        "status": run.status,
    }
    events.record(f"agent.run.{what}", actor=actor, post_id=run.post_id, payload=payload)


def record_run_end(run: AgentRun, actor: Actor | None = None) -> None:
    """Record that a run ended. Where it was ended for its agent, the system did it."""
    record_run("finished", run, actor or _system_for(run))


def record_step(run: AgentRun) -> None:
    """Tell the pages that show the run that it went on."""
    payload: JsonObject = {"id": str(run.pk)}
    events.record("run.step", actor=_system_for(run), post_id=run.post_id, payload=payload)


def _system_for(run: AgentRun) -> Actor:
    return Actor(
        user=Visitor(username="system", role="system"),
        via="system",
        agent_id=run.agent_id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
    )
