"""Names, states and limits of agents by id, for apps below `agents_app`."""

from __future__ import annotations

from proofroom.core.content_scope import ContentScope
from proofroom.core.hooks import ExtensionPoint


class AgentDirectory:
    """A lookup of agents. The app that defines agents registers its implementation."""

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
    """Return the name of an agent, or its id if the agent is unknown, for example because it was deleted."""
    names = (agents.name(agent_id) for agents in agent_directories)
    return next((name for name in names if name), agent_id)


def is_agent_known(agent_id: str) -> bool:
    """Return whether an agent with this id is defined. No query."""
    return any(agents.name(agent_id) for agents in agent_directories)


def is_agent_off(agent_id: str) -> bool:
    return any(agents.is_off(agent_id) for agents in agent_directories)


def limits_of_agent(agent_id: str) -> list[ContentScope]:
    """Return the limits of an agent, for every actor that writes in its name; empty for most agents. One query."""
    scopes = [agents.content_scope(agent_id) for agents in agent_directories]
    return [scope for scope in scopes if scope.is_limited]
