"""`/api/analytics/variations`: what a test of variations shows."""

from __future__ import annotations

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.api import variations_schema as schema
from analytics.api.ids import Id
from analytics.models import GOAL_MAX
from analytics.trials import presenter as trial_presenter
from analytics.trials.judging import GOAL_PATTERN, trial
from analytics.trials.verdicts import USUAL_EFFECT
from core.api.body import Body
from core.api.permissions import Declared
from core.api.query import read_query
from core.api.views import ApiViewSet


def _percent(text: object) -> object:
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 3:
        return int(text)
    raise ValueError("must be a whole number from 1 to 100")


class TrialAsked(Body):
    post_id: Id
    goal: Annotated[str, Field(max_length=GOAL_MAX, pattern=GOAL_PATTERN)] | None = None
    effect: Annotated[
        int, Field(ge=schema.EFFECTS[0], le=schema.EFFECTS[-1]), BeforeValidator(_percent)
    ] = USUAL_EFFECT


class TrialViewSet(ApiViewSet):
    """Tests of variations."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "posts.edit"}

    @extend_schema(parameters=schema.ASKED, responses=schema.TrialSchema)
    def retrieve(self, request: Request) -> Response:
        """Views, goals and verdicts of the arms of a test. Without days, those since it began.

        Differences hold however often somebody looks. Rates count page views, not people.
        """
        asked = read_query(request, TrialAsked)
        found = trial(
            post_id=asked.post_id,
            params=request.query_params,
            goal=asked.goal,
            effect=asked.effect,
        )
        return Response(trial_presenter.trial(found))
