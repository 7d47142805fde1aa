"""Names of agents in templates."""

from __future__ import annotations

from django import template

from proofroom.core import agent_directory

register = template.Library()


@register.filter
def agent_name(agent_id: str | None) -> str:
    """Return the name of the agent; empty if there is no id."""
    return agent_directory.agent_name(agent_id) if agent_id else ""
