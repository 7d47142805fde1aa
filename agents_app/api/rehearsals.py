"""`/api/rehearsals`: what an event or an agent would start on a post."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.budgets.limits import Money
from agents_app.presenters import AgentScope
from agents_app.rehearsal import Certainty, PlannedRun, Rehearsal, rehearse
from proofroom.core.api.answer import Answer, TextOrNull, one_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet

Order = Annotated[int, Field(ge=1)]
When = Annotated[str, one_of([one.value for one in Certainty])]


class RehearsalRequest(Body):
    post_id: Words
    event: Words | None = None
    agent_id: Words | None = None


class PlannedReactionAnswer(Answer):
    """A reaction to a planned run. `target` is a host or a tool."""

    number: Order
    type: str = Field(description="A type of reaction, as in the agent's file.")
    target: str
    when: When


class PlannedRunAnswer(Answer):
    """A run that would start. `after` is the order of the run that starts it. Costs are null if unknown."""

    agent_id: str
    order: Order
    cost: Money | None
    most_cost: Money | None
    scope: AgentScope
    hop: Annotated[int, Field(ge=0)]
    after: Order | None
    cause: TextOrNull = Field(
        description="The event, or the tool of a reaction, that would start it."
    )
    when: When
    problem: TextOrNull = Field(description="Why no provider can answer.")
    reactions: list[PlannedReactionAnswer]


class SkippedAgentAnswer(Answer):
    """An agent that would not start, and the reason."""

    agent_id: str
    after: Order | None
    reason: str


class RehearsalAnswer(Answer):
    """The runs that would start, in their order, and the agents that would not."""

    data: list[PlannedRunAnswer]
    skipped: list[SkippedAgentAnswer]
    is_cut: bool = Field(description="Whether there would be more runs than are listed.")


def rehearsal_answer(found: Rehearsal) -> RehearsalAnswer:
    return RehearsalAnswer(
        data=[_run(run) for run in found.runs],
        skipped=[
            SkippedAgentAnswer(agent_id=one.agent.id, after=one.after, reason=one.reason)
            for one in found.skipped
        ],
        is_cut=found.is_cut,
    )


def _run(run: PlannedRun) -> PlannedRunAnswer:
    made = run.estimate
    return PlannedRunAnswer(
        agent_id=run.agent.id,
        order=run.order,
        cost=None if made.cost is None else float(made.cost),
        most_cost=None if made.most_cost is None else float(made.most_cost),
        scope=run.scope,
        hop=run.hop,
        after=run.after,
        cause=run.cause or None,
        when=run.when,
        problem=made.problem or None,
        reactions=[PlannedReactionAnswer.model_validate(one) for one in run.reactions],
    )


class RehearsalViewSet(ApiViewSet):
    """Rehearsals of events and agents on a post. Nothing is started."""

    permissions: ClassVar[dict[str, Declared]] = {"rehearse": "agents.view"}

    @extend_schema(request=RehearsalRequest, responses={200: RehearsalAnswer})
    def rehearse(self, request: Request) -> Response:
        """What the event, or a run of the agent, would start on the post, in which order, at what cost.

        Send either `event` or `agentId`. Runs are assumed to succeed and to propose changes.
        Nothing is started or stored.
        """
        body = read_body(request, RehearsalRequest)
        found = rehearse(
            post_id=body.post_id, actor=self.actor, event=body.event, agent_id=body.agent_id
        )
        return Response(rehearsal_answer(found))
