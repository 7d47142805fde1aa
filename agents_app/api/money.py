"""`/api/ai-settings`, `/api/agent-budgets`, `/api/agent-usage`, and the estimate before a bulk run."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents_app.api import money_schema as schema
from agents_app.api.agents import BulkRun
from agents_app.budgets import figures, presenters
from agents_app.budgets.bulk import estimate_bulk
from agents_app.budgets.limits import begin_of, today
from agents_app.budgets.setting import COST_MOST, TOKENS_MOST, LimitChanges, set_budget
from agents_app.definitions.schema import MediaProvider, TextProvider
from agents_app.settings.defaults import MODEL_MAX, ai_settings, update_ai_settings
from agents_app.settings.presenters import ai_settings as presented
from core.api.body import Body, Whole, Words, body_object, check, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.views import ApiViewSet, expected_version
from core.errors import invalid

Tokens = Annotated[int, Field(ge=0, le=TOKENS_MOST)]
Dollars = Annotated[float, Field(ge=0, le=float(COST_MOST), allow_inf_nan=False)]
Model = Annotated[Words, Field(max_length=MODEL_MAX)]
_SETTINGS_READ: Final = frozenset({"updatedAt", "pricesDate", "providers"})
_BUDGET_READ: Final = frozenset({"agentId", "holding", "usedToday", "usedThisMonth"})


class AiSettingsChanges(Body):
    text_provider: Literal[TextProvider, ""] | None = None
    text_model: Model | None = None
    media_provider: Literal[MediaProvider, ""] | None = None
    media_model: Model | None = None
    version: Whole | None = Field(None, description="Of the last read; a stale one is 409.")


class BudgetChanges(Body):
    tokens_per_day: Tokens | None = None
    tokens_per_month: Tokens | None = None
    cost_per_day: Dollars | None = None
    cost_per_month: Dollars | None = None


def _written(request: Request, read_only: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in body_object(request).items() if name not in read_only}


class AiSettingsViewSet(ApiViewSet):
    """The defaults of all agents."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retrieve": "agents.edit",
        "update": "agents.edit",
    }

    @extend_schema(responses=schema.AiSettingsSchema)
    def retrieve(self, request: Request) -> Response:
        """The AI settings, and which providers can be used. Never a key."""
        return Response(presented(ai_settings()))

    @extend_schema(request=AiSettingsChanges, responses=schema.AiSettingsSchema)
    def update(self, request: Request) -> Response:
        """Change the AI settings; what is absent stays, null takes a default away.

        Another provider without a model takes its usual one. A `version` that is not current is 409.
        """
        body = check(_written(request, _SETTINGS_READ), AiSettingsChanges)
        changes = body.model_dump(exclude_unset=True)
        version = expected_version(request, changes.pop("version", None))
        given = {name: value or "" for name, value in changes.items()}
        row = update_ai_settings(actor=self.actor, expected_version=version, **given)
        return Response(presented(row))


class BudgetViewSet(ApiViewSet):
    """What agents may use in a day and in a month."""

    path_schemas = schema.BUDGET_NAME
    permissions: ClassVar[dict[str, Declared]] = {"list": "agents.edit", "update": "agents.edit"}

    @extend_schema(responses=schema.BudgetListSchema)
    def list(self, request: Request) -> Response:
        """Budgets of all agents together (`all`), of every agent (`default`), and of each agent."""
        page = page_of(request)
        found = figures.budgets(today())
        rows = [presenters.budget(item) for item in found[page.slice]]
        return Response(page.envelope(rows, len(found)))

    @extend_schema(request=BudgetChanges, responses=schema.BudgetSchema)
    def update(self, request: Request, agent_id: str) -> Response:
        """Set limits of an agent, of `default` or of `all`; what is absent stays, null takes a limit away.

        Where an agent has no limit of its own, that of `default` holds.
        """
        body = check(_written(request, _BUDGET_READ), BudgetChanges)
        changes = {
            name: Decimal(str(value)) if isinstance(value, float) else value
            for name, value in body.model_dump(exclude_unset=True).items()
        }
        key = set_budget(name=agent_id, changes=cast("LimitChanges", changes), actor=self.actor)
        return Response(presenters.budget(figures.budget(key, today())))


class UsageViewSet(ApiViewSet):
    """What agents used."""

    permissions: ClassVar[dict[str, Declared]] = {"list": "agents.edit"}

    @extend_schema(parameters=schema.RANGE, responses=schema.UsageOfDaysSchema)
    def list(self, request: Request) -> Response:
        """What was used by day and agent, of at most 366 days; `totals` are those of all pages."""
        page = page_of(request)
        last = _day(request, "to") or today()
        first = _day(request, "from") or begin_of("month", last)
        if not 0 <= (last - first).days < figures.DAYS_MOST:
            raise invalid("from", f"from and to span 1 to {figures.DAYS_MOST} days, in order.")
        found = figures.usage(first, last)
        rows = [presenters.day_of_agent(item) for item in found.days[page.slice]]
        return Response({**page.envelope(rows, len(found.days)), **presenters.usage(found)})


def _day(request: Request, name: str) -> date | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if len(text) == len("2030-01-31") else _not_a_day(name)
    except ValueError:
        return _not_a_day(name)


def _not_a_day(name: str) -> date:
    raise invalid(name, f"{name} is a day like 2030-01-31.")


class EstimateViewSet(ApiViewSet):
    """What bulk runs will use."""

    permissions: ClassVar[dict[str, Declared]] = {"estimate": "agents.edit"}

    @extend_schema(request=BulkRun, responses={200: schema.BulkEstimateSchema})
    def estimate(self, request: Request, agent_id: str) -> Response:
        """What an agent on up to a hundred posts will probably use, and what is left of its budgets.

        Nothing is begun.
        """
        body = read_body(request, BulkRun)
        found = estimate_bulk(
            agent_id=agent_id,
            post_ids=body.ids,
            actor=self.actor,
            open_ended_context=body.open_ended_context,
        )
        return Response(presenters.bulk_estimate(found))
