"""What a person may allow an AI client. A scope never gives more than the person has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oauth2_provider.scopes import BaseScopes

from proofroom.core.actor import Actor

READ: Final = "read"
PROPOSE: Final = "propose"
AGENTS: Final = "agents"
DIAGNOSTICS: Final = "diagnostics"
SCOPES: Final = (READ, PROPOSE, AGENTS, DIAGNOSTICS)
USUAL_SCOPES: Final = (READ, PROPOSE, AGENTS)
"""What a client is told to ask for, and what is offered where it asks for nothing."""
DIAGNOSTICS_PERMISSION: Final = "settings.manage"
"""Who may grant diagnostics to a token of an AI client may allow them here, too."""
AGENTS_PERMISSION: Final = "agents.view"
"""What the tools that start agents ask of the account."""


def grantable(scopes: Iterable[str], actor: Actor) -> list[str]:
    """The scopes that this person may allow, in order. Reading is part of each."""
    wanted = {READ, *scopes}
    if not actor.can(DIAGNOSTICS_PERMISSION):
        wanted.discard(DIAGNOSTICS)
    if not actor.can(AGENTS_PERMISSION):
        wanted.discard(AGENTS)
    return [scope for scope in SCOPES if scope in wanted]


def add_agents(scopes: Iterable[str], propose_starts_agents: bool) -> frozenset[str]:
    """The scopes, with that of agents where the connection dates from a time when proposing included it."""
    found = frozenset(scopes)
    return found | {AGENTS} if propose_starts_agents and PROPOSE in found else found


class KnownScopes(BaseScopes):  # type: ignore[misc]  # the library has no types
    """The scopes as the library asks for them."""

    def get_all_scopes(self) -> dict[str, str]:
        return {scope: scope for scope in SCOPES}

    def get_available_scopes(self, *args: object, **kwargs: object) -> list[str]:
        return [*SCOPES]

    def get_default_scopes(self, *args: object, **kwargs: object) -> list[str]:
        return [*USUAL_SCOPES]
