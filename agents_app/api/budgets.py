"""`/api/agent-budgets`, `/api/agent-usage`, and the estimate before a bulk run."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, ClassVar, Final, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field, WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api.agents import AGENT_ID, BulkRun, RejectedPostAnswer
from agents_app.batches.lifecycle import estimate_bulk
from agents_app.budgets import usage
from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    NAMES,
    AmountAnswer,
    BudgetAnswer,
    BudgetChanges,
    LimitsAnswer,
    Money,
    number,
    period_start,
    set_budget,
    today,
)
from agents_app.presenters import UsageAnswer, usage_answer
from proofroom.core.api.answer import Answer, MetaAnswer, TextOrNull, list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

Quantity = Annotated[int | float, WithJsonSchema({"type": "number", "minimum": 0})]
"""Tokens as an integer, or US dollars."""
DATE: Final = {"type": "string", "format": "date"}
USAGE_PARAMETERS: Final = [
    query_parameter("from", "The first day, in UTC. Without it, that of the month of `to`.", DATE),
    query_parameter(
        "to", "The last day, in UTC; at most 366 days after the first. Without it, today.", DATE
    ),
    *PAGES,
]


class DayOfAgentAnswer(AmountAnswer):
    """Usage of an agent on a day; null is usage without an agent."""

    agent_id: TextOrNull
    day: date


class UsageOfDaysAnswer(Answer):
    """Usage by day and agent."""

    data: list[DayOfAgentAnswer]
    meta: MetaAnswer
    totals: AmountAnswer
    first: date = Field(alias="from")
    last: date = Field(alias="to")


class LeftAnswer(Answer):
    """The rest of a limit. `agentId` is `all` for the limit of all agents together."""

    agent_id: str
    period: Literal["day", "month"]
    unit: Literal["tokens", "cost"]
    limit: Quantity
    left: Quantity
    renews_at: datetime


class BulkEstimateAnswer(Answer):
    """The estimated usage of a bulk run. Costs are null if the model's price is unknown."""

    agent_id: str
    posts: int = Field(ge=0)
    provider: TextOrNull
    model: TextOrNull
    demo: bool = Field(description="Whether the demo provider answers, which costs nothing.")
    problem: TextOrNull = Field(description="Why no provider can answer.")
    usage: UsageAnswer
    cost: Money | None
    most_tokens: int = Field(ge=0)
    most_cost: Money | None
    from_history: bool = Field(
        description="Whether the estimate is based on the agent's past runs."
    )
    left: list[LeftAnswer]
    fits: bool = Field(description="Whether the budgets cover the expected usage.")
    fits_at_most: bool = Field(description="Whether the budgets cover the maximum usage.")
    rejected: list[RejectedPostAnswer]


def budget_answer(view: usage.BudgetView) -> BudgetAnswer:
    """Return a budget: its own limits, the effective ones, and the usage with reservations."""
    return BudgetAnswer(
        **dict(LimitsAnswer.model_validate(view.limits)),
        agent_id=NAMES.get(view.agent_id, view.agent_id),
        holding=LimitsAnswer.model_validate(view.holding),
        used_today=AmountAnswer.model_validate(view.today),
        used_this_month=AmountAnswer.model_validate(view.month),
    )


def read_day(request: Request, name: str) -> date | None:
    """Return the day of a query parameter, or None. Raises `RuleViolation` for an invalid date."""
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        # `fromisoformat` also accepts other ISO 8601 forms, such as week dates.
        day = date.fromisoformat(text) if len(text) == len("2030-01-31") else None
    except ValueError:
        day = None
    if day is None:
        raise invalid(name, f"{name} must be a day such as 2030-01-31.")
    return day


class BudgetViewSet(ApiViewSet):
    """Limits on the daily and monthly usage of agents."""

    path_schemas = AGENT_ID
    permissions: ClassVar[dict[str, Declared]] = {"list": "agents.edit", "update": "agents.edit"}

    @extend_schema(
        responses=list_of(
            BudgetAnswer, "Budgets: of all agents together, of every agent, then of each."
        )
    )
    def list(self, request: Request) -> Response:
        """Budgets of all agents together (`all`), of every agent (`default`), and of each agent."""
        page = page_of(request)
        found = usage.budgets(today())
        rows = [budget_answer(item) for item in found[page.slice]]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(request=BudgetChanges, responses=BudgetAnswer)
    def update(self, request: Request, agent_id: str) -> Response:
        """Set limits of an agent, of `default` or of `all`. Absent keys stay unchanged, null removes a
        limit.

        For an agent without its own limit, `default` applies.
        """
        body = read_body(request, BudgetChanges)
        key = set_budget(name=agent_id, changes=body, actor=self.actor)
        return Response(budget_answer(usage.budget(key, today())))


class UsageViewSet(ApiViewSet):
    """Usage of agents."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "agents.edit"}

    @extend_schema(parameters=USAGE_PARAMETERS, responses=UsageOfDaysAnswer)
    def list(self, request: Request) -> Response:
        """Usage by day and agent, of at most 366 days; `totals` cover all pages."""
        page = page_of(request)
        last = read_day(request, "to") or today()
        first = read_day(request, "from") or period_start("month", last)
        if not 0 <= (last - first).days < usage.DAYS_MOST:
            raise invalid(
                "from",
                f"from and to must span 1 to {usage.DAYS_MOST} days, and from must come first.",
            )
        found = usage.usage(first, last)
        rows = [
            DayOfAgentAnswer(
                agent_id=item.agent_id,
                day=item.day,
                tokens=item.amount.tokens,
                cost=float(item.amount.cost),
                cached_tokens=item.amount.cached_tokens,
                saved=float(item.amount.saved),
            )
            for item in found.days[page.slice]
        ]
        totals = AmountAnswer.model_validate(found.total)
        span = {"from": found.first, "to": found.last}
        return Response({**page.envelope(rows, len(found.days)), **span, "totals": totals})


class EstimateViewSet(ApiViewSet):
    """Estimates of bulk runs."""

    permissions: ClassVar[dict[str, Declared]] = {"estimate": "agents.edit"}

    @extend_schema(request=BulkRun, responses={200: BulkEstimateAnswer})
    def estimate(self, request: Request, agent_id: str) -> Response:
        """Estimate the usage of an agent on up to a hundred posts, and what is left of its budgets.

        Nothing is started.
        """
        body = read_body(request, BulkRun)
        found = estimate_bulk(
            agent_id=agent_id,
            post_ids=body.ids,
            actor=self.actor,
            open_ended_context=body.open_ended_context,
        )
        made = found.estimate
        answer = BulkEstimateAnswer(
            agent_id=found.agent.id,
            posts=made.posts,
            provider=made.provider,
            model=made.model,
            demo=made.is_demo,
            problem=made.problem,
            # How much a provider's cache will hold is not known before.
            usage=usage_answer(made.input_tokens, made.output_tokens, 0),
            cost=None if made.cost is None else float(made.cost),
            most_tokens=made.most_tokens,
            most_cost=None if made.most_cost is None else float(made.most_cost),
            from_history=made.is_from_history,
            left=[
                LeftAnswer(
                    agent_id="all"
                    if item.limit.agent_id == ALL_AGENTS_KEY
                    else item.limit.agent_id,
                    period=item.limit.period,
                    unit=item.limit.unit,
                    limit=number(item.limit.most, item.limit.unit),
                    left=number(item.left, item.limit.unit),
                    renews_at=item.renews_at,
                )
                for item in made.left
            ],
            fits=not made.beyond(),
            fits_at_most=not made.beyond(at_most=True),
            rejected=[RejectedPostAnswer.model_validate(post) for post in found.rejected],
        )
        return Response(answer)
