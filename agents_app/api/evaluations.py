"""`/api/evaluations`: another model, prompt version or brief compared with the present version of an agent."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, ClassVar, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.evaluation.answers import (
    EvaluationAnswer,
    EvaluationReportAnswer,
    evaluation_answer,
    evaluation_report,
)
from agents_app.evaluation.services import (
    DEFAULT_SAMPLE,
    MAX_BUDGET,
    MAX_SAMPLE,
    PERMISSION,
    cancel_evaluation,
    find_evaluation,
    list_evaluations,
    start_evaluation,
)
from proofroom.core.api.answer import list_of
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import LOCATION, PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

EVALUATION_LIST: Final = list_of(EvaluationAnswer, "Evaluations, latest first.")


class NewEvaluation(Body):
    """`model`: provider:model; `prompt`: a version; `brief`: an id, `id:version`, or `none`. `budget`: US dollars."""

    agent_id: Words
    model: Words = ""
    prompt: Words = ""
    brief: Words = ""
    budget: Annotated[float, Field(gt=0, le=float(MAX_BUDGET))]
    sample: Annotated[int, Field(ge=1, le=MAX_SAMPLE)] = DEFAULT_SAMPLE


class EvaluationViewSet(ApiViewSet):
    """Evaluations of versions of agents."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": PERMISSION,
        "create": PERMISSION,
        "retrieve": PERMISSION,
        "cancel": PERMISSION,
    }

    @extend_schema(
        parameters=[query_parameter("agentId", "Evaluations of an agent."), *PAGES],
        responses=EVALUATION_LIST,
    )
    def list(self, request: Request) -> Response:
        """Evaluations, latest first, without their figures."""
        page = page_of(request)
        rows = list_evaluations(self.actor)
        if agent_id := request.query_params.get("agentId", ""):
            # PostgreSQL refuses NUL in a text parameter.
            if "\x00" in agent_id:
                raise invalid("agentId", "agentId must be the id of an agent.")
            rows = rows.filter(agent_id=agent_id[:80])
        found = [evaluation_answer(job) for job in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(parameters=[LOCATION], request=NewEvaluation, responses={201: EvaluationAnswer})
    def create(self, request: Request) -> Response:
        """Start an evaluation in a worker. It stops before the budget would be passed."""
        body = read_body(request, NewEvaluation)
        job = start_evaluation(
            agent_id=body.agent_id,
            actor=self.actor,
            budget=Decimal(str(body.budget)),
            model=body.model,
            prompt=body.prompt,
            brief=body.brief,
            sample=body.sample,
        )
        return Response(
            evaluation_answer(job),
            status=201,
            headers={"Location": f"/api/evaluations/{job.pk}"},
        )

    @extend_schema(responses=EvaluationReportAnswer)
    def retrieve(self, request: Request, evaluation_id: str) -> Response:
        """An evaluation with its figures so far and both answers to each question."""
        job = find_evaluation(evaluation_id=evaluation_id, actor=self.actor)
        return Response(evaluation_report(job))

    @extend_schema(request=None, responses=EvaluationAnswer)
    def cancel(self, request: Request, evaluation_id: str) -> Response:
        """Cancel an evaluation after the question that is being asked."""
        job = cancel_evaluation(evaluation_id=evaluation_id, actor=self.actor)
        return Response(evaluation_answer(job))
