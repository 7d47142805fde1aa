"""Editorial steps as answers of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Self, get_args

from pydantic import Field

from content.store.layer_state import open_layers
from proofroom.core.api.answer import Answer, PersonAnswer, TextOrNull, one_of
from proofroom.definitions.step import StepKind
from proofroom_apps.steps.models import StepAction, StepDecision, StepRound
from proofroom_apps.steps.queries import State, StepView, Way, content_digest, find_obstacle

MAX_DECISIONS: Final = 50


class StepAskedAnswer(Answer):
    """Whom a step asks: a role, a person by username, an agent by id, or a reviewer without account by name."""

    kind: Annotated[str, one_of(get_args(StepKind))]
    name: str
    quorum: int = Field(description="Number of people who must agree.")
    agreed: int = Field(description="Number of people who agreed to the open step.")


class EditorialStepAnswer(Answer):
    """A step of the post's type."""

    name: str
    asks: StepAskedAnswer
    state: Annotated[str, one_of(get_args(State))]
    due: datetime | None = Field(description="Null unless the step is open and has a due date.")

    @classmethod
    def of_view(cls, view: StepView) -> Self:
        step = view.step
        asks = StepAskedAnswer(
            kind=step.kind, name=step.asked, quorum=step.quorum, agreed=view.agreed
        )
        return cls(name=step.name, asks=asks, state=view.state, due=view.due)


class StepDecisionAnswer(Answer):
    """What somebody decided. `by` is null for agents, guests and deleted accounts."""

    action: Annotated[str, one_of(StepAction.values)]
    step: TextOrNull = Field(description="For `returned`: where to; null for the authors.")
    by: PersonAnswer | None
    deputy_for: PersonAnswer | None
    stands_for: TextOrNull
    agent_id: TextOrNull
    note: TextOrNull
    at: datetime


class EditorialStepsAnswer(Answer):
    """The steps of a post. `step` is the open one, null before the first, after the last, and without steps."""

    step: str | None
    steps: list[EditorialStepAnswer]
    digest: TextOrNull = Field(
        description="The content that `advance` agrees to. Null without steps."
    )
    problem: TextOrNull = Field(
        description="Why people must decide: the agent did not end the step, or nobody asked can."
    )
    decisions: list[StepDecisionAnswer] = Field(description="Newest first, at most 50.")

    @classmethod
    def of_way(cls, way: Way) -> Self:
        """Return the steps with the latest decisions. Two queries, at most seven while a step is open."""
        return cls(
            step=way.current.name if way.current is not None else None,
            steps=[EditorialStepAnswer.of_view(view) for view in way.steps],
            digest=content_digest(open_layers(way.post)) if way.steps else "",
            problem=problem_of(way),
            decisions=[StepDecisionAnswer.of(row) for row in latest_decisions(way.row)],
        )


def problem_of(way: Way) -> str:
    """Return why people must decide about the open step in place of those whom it asks, empty if they need not."""
    if way.row is None or way.current is None:
        return ""
    return way.row.problem or find_obstacle(way.current, way.post)


def latest_decisions(row: StepRound | None) -> Sequence[StepDecision]:
    """Return the latest decisions with their people, newest first. One query."""
    if row is None:
        return []
    found = row.decisions.select_related("by", "deputy_for").order_by("-at", "-id")
    return list(found[:MAX_DECISIONS])
