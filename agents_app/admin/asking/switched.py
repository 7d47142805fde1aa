"""Which agents are on, read once for a page however many of its parts ask."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from django.http import HttpRequest

from agents_app.definitions.schema import AgentDefinition
from agents_app.definitions.switches import switched

_read: WeakKeyDictionary[HttpRequest, dict[str, bool]] = WeakKeyDictionary()


def enabled_on(request: HttpRequest, agents: list[AgentDefinition]) -> list[AgentDefinition]:
    """Those that are on, in the same order. One query for the whole request."""
    if request not in _read:
        _read[request] = switched()
    switches = _read[request]
    return [agent for agent in agents if switches.get(agent.id, agent.enabled)]
