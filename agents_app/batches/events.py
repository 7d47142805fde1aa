"""What the log says of batches."""

from __future__ import annotations

from agents_app.models import AgentBatch
from core import events
from core.actor import Actor
from core.json import JsonObject


def record_batch(what: str, batch: AgentBatch, actor: Actor, **numbers: int) -> None:
    """Record, in the caller's transaction, what became of a batch and by whom."""
    payload: JsonObject = {"id": str(batch.pk), "agentId": batch.agent_id, **numbers}
    events.record(f"agent.batch.{what}", actor=actor, payload=payload)
