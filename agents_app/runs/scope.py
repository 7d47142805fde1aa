"""The rights of a run: never more than its agent's, nor than those of whoever began it, along the whole chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents_app.definitions.schema import AgentDefinition, Scope
from agents_app.models import AgentRun
from agents_app.runs.prompt import UNTRUSTED_KEY
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role, permissions_of
from proofroom.core.actor import Actor

START_PERMISSIONS: Final[Mapping[str, str]] = {
    Scope.DROPDOWN: "agents.dropdown",
    Scope.FIELD: "agents.field",
    Scope.GLOBAL: "agents.global",
    Scope.BULK: "agents.edit",
}
"""The permission that a person needs to start a run by hand, by its scope."""
_IMPLIED_BY: Final[Mapping[str, str]] = {
    "posts.ai-review.save": "posts.edit",
    "posts.ai-review.approve": "posts.edit",
}
"""Whoever may edit posts may have changes proposed and handed on."""


def narrow_rights(run: AgentRun, actor: Actor) -> None:
    """Write into a new run what its beginner lets it use.

    People and events let an agent use all that is its own: the right to run it is theirs to have. An AI client or
    another run lends only what it has itself. That words of visitors were read goes with the chain, also where an
    event is between two runs.
    """
    cause = run.cause_run
    context = run.context if isinstance(run.context, Mapping) else {}
    run.has_read_untrusted = (
        actor.has_read_untrusted
        or UNTRUSTED_KEY in context
        or (cause is not None and cause.has_read_untrusted)
    )
    if cause is not None and run.event is None and not cause.stages_value:
        run.stages_value = False
    run.confined_to = run.post.translation_group if run.post is not None else actor.confined_to
    if run.event is not None or actor.is_person:
        return
    run.tools = None if actor.tools is None else sorted(actor.tools)
    rights = permissions_of(Role.AI_AGENT)
    lent = [
        right
        for right in rights
        if actor.can(right) or (right in _IMPLIED_BY and actor.can(_IMPLIED_BY[right]))
    ]
    # None stands for all rights of agents.
    run.permissions = None if len(lent) == len(rights) else sorted(lent)


def run_actor(run: AgentRun, agent: AgentDefinition, account: User) -> Actor:
    """Return the actor of a run: the agent's own account, limited to the rights of the run."""
    return Actor(
        user=account,
        via="agent",
        agent_id=agent.id,
        run_id=str(run.pk),
        event_id=run.event_id,
        hop=run.hop + 1,
        permissions=None if run.permissions is None else frozenset(run.permissions),
        tools=None if run.tools is None else frozenset(run.tools),
        confined_to=run.confined_to,
        has_read_untrusted=run.has_read_untrusted,
    )
