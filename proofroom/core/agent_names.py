"""The names of agents. The app that defines agents registers how to find them."""

from __future__ import annotations

from proofroom.core.hooks import Hook

agent_names: Hook[[str], str] = Hook()
"""The name of the agent with this id; empty where there is none. No query."""


def agent_name(agent_id: str) -> str:
    """Return the name of an agent; its id where no such agent is known any more."""
    return next((name for name in agent_names(agent_id) if name), agent_id)
