"""`/api/analytics/variations`: the figures and verdicts of an experiment."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, ClassVar, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import AliasPath, BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.experiments.confidence import ALPHA, Tally
from analytics.experiments.evaluation import GOAL_PATTERN, Doubt, evaluate_trial
from analytics.experiments.sentences import doubt_sentence
from analytics.experiments.verdicts import USUAL_EFFECT
from analytics.models import GOAL_MAX
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Id
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import read_query
from proofroom.core.api.schema import UUID_TEXT, integer_schema, query_parameter
from proofroom.core.api.views import ApiViewSet

EFFECTS: Final = range(1, 101)
DAY: Final = {"type": "string", "description": "Like 2030-01-31; of a time, its day in UTC."}
TRIAL_PARAMETERS: Final = [
    query_parameter("postId", "The original, or one of its variations.", UUID_TEXT, required=True),
    query_parameter(
        "goal",
        "What counts as success; without it the goal that was reached most.",
        {"type": "string", "maxLength": GOAL_MAX, "pattern": GOAL_PATTERN},
    ),
    query_parameter("from", "The first day; without any days, those of the last test.", DAY),
    query_parameter("to", "The last day, in UTC.", DAY),
    query_parameter(
        "effect",
        "The smallest difference of interest, in percent of the rate of A: for `viewsNeeded`.",
        integer_schema(EFFECTS[0], EFFECTS[-1], USUAL_EFFECT),
    ),
]
DIGITS: Final = 6


def round_rate(rate: float) -> float:
    return round(rate, DIGITS)


def rate_of(tally: Tally) -> float | None:
    """Return the rate for the answer; None without a view."""
    return round_rate(tally.rate) if tally.views else None


def explain_doubts(doubts: list[Doubt]) -> list[dict[str, str]]:
    """Return each doubt with its sentence."""
    return [{"code": doubt, "message": doubt_sentence(doubt)} for doubt in doubts]


Bound = Annotated[
    float,
    BeforeValidator(round_rate),
    Field(json_schema_extra={"minimum": -1, "maximum": 1}),
]


class RangeAnswer(Answer):
    """The interval of a rate or of a difference of rates."""

    low: Bound
    high: Bound


class TrialGoalAnswer(Answer):
    """A goal that visitors of the arms reached."""

    goal: str = Field(validation_alias="name")
    conversions: int = Field(ge=0)


class TrialArmAnswer(Answer):
    """The original, called A, or a variation. Counted by page views, not by people."""

    post_id: UUID
    variation: str = Field(validation_alias="name")
    title: str
    running: bool = Field(validation_alias="is_running")
    weight: int = Field(ge=0, le=100, description="The share of visitors, in percent.")
    views: int = Field(ge=0, validation_alias=AliasPath("judged", "tally", "views"))
    clicks: int = Field(ge=0)
    conversions: int = Field(ge=0)
    rate: Annotated[float | None, BeforeValidator(rate_of)] = Field(
        validation_alias=AliasPath("judged", "tally"),
        description="The conversion rate; null without views.",
        json_schema_extra={"minimum": 0, "maximum": 1},
    )
    interval: RangeAnswer = Field(
        validation_alias=AliasPath("judged", "range"),
        description="The 95 % confidence interval of the rate for a single look (Wilson).",
    )
    difference: RangeAnswer | None = Field(
        validation_alias=AliasPath("judged", "difference"),
        description="The 95 % interval of the difference to A, for any number of looks. Null for A.",
    )
    verdict: Literal["better", "worse", "no-difference", "too-early"] | None = Field(
        validation_alias=AliasPath("judged", "verdict"),
        description="The verdict compared with A; null for A.",
    )
    views_needed: int | None = Field(
        validation_alias=AliasPath("judged", "views_needed"),
        description="An estimate of the views that the experiment needs to detect `effect`.",
        json_schema_extra={"minimum": 0},
    )


class TrialWarningAnswer(Answer):
    """A reason why the figures may mislead."""

    code: Doubt
    message: str


class TrialAnswer(Answer):
    """A test of variations."""

    post_id: UUID = Field(
        validation_alias=AliasPath("original", "pk"), description="The original post."
    )
    title: str = Field(validation_alias=AliasPath("original", "title"))
    running: bool = Field(validation_alias="is_running")
    started_at: datetime | None = Field(validation_alias=AliasPath("course", "began"))
    ended_at: datetime | None = Field(validation_alias=AliasPath("course", "ended"))
    first: date = Field(validation_alias=AliasPath("period", "first"), serialization_alias="from")
    last: date = Field(validation_alias=AliasPath("period", "last"), serialization_alias="to")
    goal: str | None = Field(description="The measured goal; null if no goal was reached yet.")
    goals: list[TrialGoalAnswer]
    effect: int = Field(ge=EFFECTS[0], le=EFFECTS[-1])
    confidence: Annotated[float, BeforeValidator(lambda _: 1 - ALPHA)] = Field(
        ge=0, le=1, validation_alias="effect"
    )
    arms: list[TrialArmAnswer]
    warnings: Annotated[list[TrialWarningAnswer], BeforeValidator(explain_doubts)] = Field(
        validation_alias="doubts"
    )


def read_percent(text: object) -> object:
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 3:
        return int(text)
    raise ValueError("must be a whole number from 1 to 100")


class TrialQuery(Body):
    post_id: Id
    goal: Annotated[str, Field(max_length=GOAL_MAX, pattern=GOAL_PATTERN)] | None = None
    effect: Annotated[int, Field(ge=EFFECTS[0], le=EFFECTS[-1]), BeforeValidator(read_percent)] = (
        USUAL_EFFECT
    )


class TrialViewSet(ApiViewSet):
    """Tests of variations."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "posts.edit"}

    @extend_schema(parameters=TRIAL_PARAMETERS, responses=TrialAnswer)
    def retrieve(self, request: Request) -> Response:
        """Views, goals and verdicts of the arms of a test. Default period: since it began.

        Differences hold for repeated looks. Rates count page views, not people.
        """
        query = read_query(request, TrialQuery)
        found = evaluate_trial(
            post_id=query.post_id,
            who=self.actor,
            params=request.query_params,
            goal=query.goal,
            effect=query.effect,
        )
        return Response(TrialAnswer.model_validate(found))
