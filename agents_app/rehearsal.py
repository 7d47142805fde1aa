"""Rehearsals: the runs and reactions that an event or an agent on a post would start, with their cost.

Nothing is written, queued or sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.definitions.agents import (
    agents_for,
    get_agent,
    has_usable_account,
    scope_of_agent,
    switched,
    unknown_agent,
)
from agents_app.definitions.schema import (
    EVENT_SCOPES,
    AgentDefinition,
    Scope,
    ToolReaction,
)
from agents_app.reactions.dispatch import target_of
from agents_app.runs.estimates import Estimate, estimate
from content.models import Post
from content.store.scopes import is_in_scope, visible_to
from proofroom.core.actor import MAX_HOPS, Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import NotFound, invalid
from proofroom.core.outbox.events import find_kind

MAX_RUNS: Final = 50
"""Maximum runs in one rehearsal: reactions of a few agents can start each other in many ways."""
_MANUAL: Final = (Scope.DROPDOWN, Scope.BULK, Scope.GLOBAL, Scope.FIELD)
_STARTING_TOOLS: Final = frozenset({"run_agent", "run_field_agent"})
_EVENTS_OF_TOOLS: Final = {
    "save_post_ai_review": Scope.AI_REVIEW_SAVE,
    "submit_ai_review_to_review": Scope.AI_REVIEW_APPROVE,
}
"""Tools of reactions whose call records an event that starts agents."""


class Certainty(StrEnum):
    """The condition under which a run or a reaction starts."""

    ALWAYS = "always"
    ON_SUCCESS = "on_success"
    ON_ERROR = "on_error"
    ON_CONDITION = "on_condition"
    ON_PROPOSAL = "on_proposal"


CERTAINTY_LABELS: Final[dict[Certainty, Promise]] = {
    Certainty.ALWAYS: gettext_lazy("always"),
    Certainty.ON_SUCCESS: gettext_lazy("if the run succeeds"),
    Certainty.ON_ERROR: gettext_lazy("if the run fails"),
    Certainty.ON_CONDITION: gettext_lazy("if its condition holds"),
    Certainty.ON_PROPOSAL: gettext_lazy("if the run proposes changes"),
}


@dataclass(frozen=True, slots=True)
class PlannedReaction:
    """A reaction to a planned run. `number`: its place in the agent's file."""

    number: int
    type: str
    target: str
    when: Certainty


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that would start. `after`: the order of the run that starts it; None for the first ones.

    `cause`: the event, or the tool of the reaction, that starts it; empty for the agent itself.
    """

    order: int
    agent: AgentDefinition
    scope: str
    hop: int
    after: int | None
    cause: str
    when: Certainty
    estimate: Estimate
    reactions: tuple[PlannedReaction, ...]


@dataclass(frozen=True, slots=True)
class SkippedAgent:
    """An agent that would be asked to run and would not start. `after` as in `PlannedRun`."""

    agent: AgentDefinition
    after: int | None
    reason: str


@dataclass(slots=True)
class Rehearsal:
    """The runs in the order of their start. `is_cut`: there would be more than `MAX_RUNS`."""

    post: Post
    runs: list[PlannedRun] = field(default_factory=list)
    skipped: list[SkippedAgent] = field(default_factory=list)
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class _Start:
    agent: AgentDefinition
    scope: str
    hop: int
    after: int | None = None
    cause: str = ""
    when: Certainty = Certainty.ALWAYS


def rehearse(
    *, post_id: UUID | str, actor: Actor, event: str | None = None, agent_id: str | None = None
) -> Rehearsal:
    """Return what the event, or a run of the agent, would start on the post.

    A run is assumed to succeed and to propose changes. Raises `RuleViolation` unless exactly one of
    `event` and `agent_id` is given and known, `NotFound` for a post or an agent.
    """
    actor.require("agents.view")
    if (event is None) == (agent_id is None):
        raise invalid("event", _("Send either event or agentId."))
    post = find_by_id(visible_to(Post.objects.alive(), actor), post_id)
    if post is None:
        raise NotFound(_("No post has the ID %(post_id)s.") % {"post_id": str(post_id)[:80]})
    if event is not None:
        if find_kind(event) is None:
            known = ", ".join(EVENT_SCOPES)
            raise invalid(
                "event",
                _("%(event)s is not an event. Events that start agents: %(known)s.")
                % {"event": event[:60], "known": known},
            )
        starts = [_Start(agent, event, 0, cause=event) for agent in agents_for(event)]
    else:
        agent = get_agent(agent_id or "")
        if agent is None:
            raise unknown_agent(agent_id or "")
        starts = [_Start(agent, _own_scope(agent), 0)]
    return _Planner(post).plan(starts)


def _own_scope(agent: AgentDefinition) -> Scope:
    """Return the scope of a run by hand; the first of its events if it has no such scope."""
    by_hand = next((scope for scope in _MANUAL if agent.entries(scope)), None)
    return by_hand or next(entry.scope for entry in agent.scopes)


class _Planner:
    def __init__(self, post: Post) -> None:
        self.found = Rehearsal(post)
        self.switches = switched()
        # Agents that start each other appear many times, so both are looked up once an agent.
        self.refusals: dict[str, str] = {}
        self.estimates: dict[tuple[str, str], Estimate] = {}

    def plan(self, starts: Sequence[_Start]) -> Rehearsal:
        """Plan the starts and their consequences, by the length of the chain as the queue does."""
        found, queue = self.found, deque(starts)
        while queue:
            start = queue.popleft()
            reason = self._refusal(start)
            if reason:
                found.skipped.append(SkippedAgent(start.agent, start.after, reason))
                continue
            if len(found.runs) >= MAX_RUNS:
                found.is_cut = True
                break
            run = PlannedRun(
                order=len(found.runs) + 1,
                agent=start.agent,
                scope=start.scope,
                hop=start.hop,
                after=start.after,
                cause=start.cause,
                when=start.when,
                estimate=self._estimate(start),
                reactions=tuple(_reactions(start.agent)),
            )
            found.runs.append(run)
            queue.extend(_consequences(run))
        return found

    def _refusal(self, start: _Start) -> str:
        """Return why the agent would not start; empty if it would."""
        agent = start.agent
        if start.hop > MAX_HOPS:
            return _("At most %(n)d runs may start one another.") % {"n": MAX_HOPS}
        if agent.id not in self.refusals:
            reason = ""
            if not self.switches.get(agent.id, agent.enabled):
                reason = _("The agent is turned off.")
            elif not has_usable_account(agent):
                reason = _("Its account is turned off.")
            elif not is_in_scope(self.found.post, scope_of_agent(agent.id)):
                reason = _("The agent is limited to other content.")
            self.refusals[agent.id] = reason
        return self.refusals[agent.id]

    def _estimate(self, start: _Start) -> Estimate:
        # Without a field, a run in a field is estimated as one on the whole post, which costs more.
        scope = Scope.BULK.value if start.scope == Scope.FIELD else start.scope
        key = (start.agent.id, scope)
        if key not in self.estimates:
            self.estimates[key] = estimate(start.agent, [self.found.post], scope=scope)
        return self.estimates[key]


def _reactions(agent: AgentDefinition) -> list[PlannedReaction]:
    return [
        PlannedReaction(number, one.type, target_of(one), Certainty(one.trigger))
        for number, one in enumerate(agent.reactions, 1)
    ]


def _consequences(run: PlannedRun) -> list[_Start]:
    """Return the starts that follow a run: by its proposals, then by its reactions."""
    found = _starts_of_event(run, Scope.AI_REVIEW_SAVE, Certainty.ON_PROPOSAL)
    for reaction in run.agent.reactions:
        if not isinstance(reaction, ToolReaction):
            continue
        when, name = Certainty(reaction.trigger), reaction.config.tool_name
        if name in _EVENTS_OF_TOOLS:
            found += _starts_of_event(run, _EVENTS_OF_TOOLS[name], when)
        elif name in _STARTING_TOOLS:
            found += _starts_of_call(run, reaction, when)
    return found


def _starts_of_event(run: PlannedRun, event: Scope, when: Certainty) -> list[_Start]:
    return [
        _Start(agent, event, run.hop + 1, run.order, event.value, when)
        for agent in agents_for(event)
        # An agent is not started by its own changes.
        if agent.id != run.agent.id
    ]


def _starts_of_call(run: PlannedRun, reaction: ToolReaction, when: Certainty) -> list[_Start]:
    """Return the run that a reaction starts by a tool, if the agent's file names the other agent."""
    params, name = reaction.config.tool_params, reaction.config.tool_name
    agent_id, post_id = params.get("agentId"), params.get("postId")
    agent = get_agent(agent_id) if isinstance(agent_id, str) else None
    # A placeholder is the run's own post; a fixed id is another post, which has its own rehearsal.
    is_elsewhere = isinstance(post_id, str) and not post_id.strip().startswith("{{")
    if agent is None or is_elsewhere:
        return []
    scope = Scope.FIELD if name == "run_field_agent" else params.get("scope") or Scope.DROPDOWN
    return [_Start(agent, str(scope), run.hop + 1, run.order, name, when)]
