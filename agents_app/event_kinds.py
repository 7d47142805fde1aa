"""What is recorded of agents and their runs."""

from __future__ import annotations

from core.events.kinds import EventKind

KINDS = (
    EventKind("agent.switched", "Agent switched on or off", "agents.edit"),
    EventKind("agent.run.created", "Run begun", "agents.view"),
    EventKind("agent.run.finished", "Run ended", "agents.view"),
    EventKind("agent.run.cancelled", "Run cancelled", "agents.view"),
    EventKind("agent.run.reverted", "Run reverted", "agents.view"),
)
