"""Events of agents and their runs."""

from __future__ import annotations

from proofroom.core.outbox.events import EventKind

KINDS = (
    EventKind("agent.limited", "Agent limited to part of the content", "agents.edit"),
    EventKind("agent.switched", "Agent turned on or off", "agents.edit"),
    EventKind("agent.budget.near", "Agent budget nearly used up", "agents.view"),
    EventKind("agent.budget.reached", "Agent budget used up", "agents.view"),
    EventKind("agent.budget.set", "Agent budget changed", "agents.edit"),
    EventKind("ai.provider.tested", "Connection to a provider tested", "agents.edit"),
    EventKind("ai.settings.changed", "AI settings changed", "agents.edit"),
    EventKind("agent.challenger.set", "Challenger of an agent changed", "agents.edit"),
    EventKind("agent.version.promoted", "Version of an agent promoted", "agents.edit"),
    EventKind("agent.evaluation.started", "Evaluation of an agent started", "agents.evaluate"),
    EventKind("agent.evaluation.ended", "Evaluation of an agent ended", "agents.evaluate"),
    EventKind("agent.chain.stopped", "Chain of runs stopped", "agents.view"),
    EventKind("agent.run.created", "Run started", "agents.view"),
    EventKind("agent.run.finished", "Run finished", "agents.view"),
    EventKind("agent.run.cancelled", "Run cancelled", "agents.view"),
    EventKind("agent.run.reverted", "Run undone", "agents.view"),
    EventKind("agent.run.staged", "Run answer proposed", "agents.view"),
    EventKind("agent.batch.created", "Agent started on several posts", "agents.view"),
    EventKind("agent.batch.cancelled", "Runs on several posts cancelled", "agents.view"),
    EventKind("agent.batch.reverted", "Runs on several posts undone", "agents.view"),
    EventKind("run.step", "Run resumed", "agents.view", is_internal=True, is_progress=True),
)
