"""What apps below `agents_app` ask about agents: names, switches and limits, by the id of an agent."""

from __future__ import annotations

from proofroom.core.content_scope import ContentScope
from proofroom.core.hooks import ExtensionPoint


class AgentDirectory:
    """The agents that an app defines. The app that defines agents registers its own."""

    def name(self, agent_id: str) -> str:
        """Return the name of the agent; empty for an unknown id. No query."""
        return ""

    def is_off(self, agent_id: str) -> bool:
        """Return whether the agent exists and is switched off."""
        return False

    def content_scope(self, agent_id: str) -> ContentScope:
        """Return the content that the agent is limited to. One query."""
        return ContentScope()


agent_directories: ExtensionPoint[AgentDirectory] = ExtensionPoint()


def agent_name(agent_id: str) -> str:
    """Return the name of an agent, or its id where the agent is unknown, as one that was deleted."""
    names = (agents.name(agent_id) for agents in agent_directories)
    return next((name for name in names if name), agent_id)


def is_agent_off(agent_id: str) -> bool:
    return any(agents.is_off(agent_id) for agents in agent_directories)


def limits_of_agent(agent_id: str) -> list[ContentScope]:
    """Return the limits of an agent, which hold for all who write in its name; empty for most. One query."""
    scopes = [agents.content_scope(agent_id) for agents in agent_directories]
    return [scope for scope in scopes if scope.is_limited]
