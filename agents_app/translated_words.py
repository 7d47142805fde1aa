"""Texts that only agents' files contain, for the admin's translation catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from agents_app.definitions.agents import all_agents


def words() -> Iterator[str]:
    """Yield the descriptions, labels and placeholders of the agents that come with the project."""
    for agent in all_agents():
        context = agent.open_ended_context
        yield from (agent.description, context.label or "", context.placeholder or "")
