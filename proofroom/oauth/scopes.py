"""The scopes of AI clients. A scope never gives more permissions than the user has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oauth2_provider.scopes import BaseScopes

from proofroom.core.actor import Actor

READ: Final = "read"
PROPOSE: Final = "propose"
AGENTS: Final = "agents"
DIAGNOSTICS: Final = "diagnostics"
CORE: Final = "core"
"""Not a right: the client's list of tools is the core set. Not recommended to clients, who ask for it themselves."""
SCOPES: Final = (READ, PROPOSE, AGENTS, DIAGNOSTICS)
"""The scopes that are rights."""
KNOWN_SCOPES: Final = (*SCOPES, CORE)
USUAL_SCOPES: Final = (READ, PROPOSE, AGENTS)
"""Scopes that clients are recommended to request, and the default if they request none."""
DIAGNOSTICS_PERMISSION: Final = "settings.manage"
"""Permission to allow diagnostics. It is also required to give them to an API token."""
AGENTS_PERMISSION: Final = "agents.view"
"""Permission that the tools for starting agents require."""


def grantable(scopes: Iterable[str], actor: Actor) -> list[str]:
    """Return the scopes that this user may grant, in order. Every grant includes reading."""
    wanted = {READ, *scopes}
    if not actor.can(DIAGNOSTICS_PERMISSION):
        wanted.discard(DIAGNOSTICS)
    if not actor.can(AGENTS_PERMISSION):
        wanted.discard(AGENTS)
    return [scope for scope in KNOWN_SCOPES if scope in wanted]


def add_agents(scopes: Iterable[str], propose_starts_agents: bool) -> frozenset[str]:
    """Return the scopes. Add the agents scope if the connection is from a time when proposing included it."""
    found = frozenset(scopes)
    return found | {AGENTS} if propose_starts_agents and PROPOSE in found else found


class KnownScopes(BaseScopes):  # type: ignore[misc]  # the library has no types
    """The scopes for the library."""

    def get_all_scopes(self) -> dict[str, str]:
        return {scope: scope for scope in KNOWN_SCOPES}

    def get_available_scopes(self, *args: object, **kwargs: object) -> list[str]:
        return [*KNOWN_SCOPES]

    def get_default_scopes(self, *args: object, **kwargs: object) -> list[str]:
        return [*USUAL_SCOPES]
