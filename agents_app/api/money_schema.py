"""The OpenAPI descriptions of settings, budgets, usage and estimates."""

from __future__ import annotations

from rest_framework import serializers

from agents_app.api.schema import RejectedPostSchema, UsageSchema
from agents_app.settings.defaults import MEDIA_PROVIDERS, TEXT_PROVIDERS
from core.api.schema import PAGES, MetaSchema, query
from core.definition_files import ID_MAX, ID_PATTERN

KINDS = [("text", "text"), ("media", "media")]
PERIODS = [("day", "day"), ("month", "month")]
UNITS = [("tokens", "tokens"), ("cost", "cost")]
BUDGET_NAME = {"agent_id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX}}
_DATE = {"type": "string", "format": "date"}
RANGE = [
    query("from", "The first day, in UTC. Without it, that of the month of `to`.", _DATE),
    query(
        "to", "The last day, in UTC; at most 366 days after the first. Without it, today.", _DATE
    ),
    *PAGES,
]


class ProviderSchema(serializers.Serializer[object]):
    """Who can answer. Its key is never told; `variable` names what holds it, or would."""

    id = serializers.ChoiceField(choices=TEXT_PROVIDERS)
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    configured = serializers.BooleanField()
    default = serializers.BooleanField(help_text="Whether it answers where an agent names none.")
    defaultModel = serializers.CharField()
    variable = serializers.CharField(allow_null=True)


class AiSettingsSchema(serializers.Serializer[object]):
    """The defaults of agents that name no provider or model; null: the first provider that can be used."""

    textProvider = serializers.ChoiceField(choices=TEXT_PROVIDERS, allow_null=True)
    textModel = serializers.CharField(allow_null=True)
    mediaProvider = serializers.ChoiceField(choices=MEDIA_PROVIDERS, allow_null=True)
    mediaModel = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(min_value=1)
    updatedAt = serializers.DateTimeField(allow_null=True)
    pricesDate = serializers.DateField(help_text="Of when the prices are that costs come from.")
    providers = ProviderSchema(many=True)


class AmountSchema(serializers.Serializer[object]):
    """Tokens, and money in US dollars."""

    tokens = serializers.IntegerField(min_value=0)
    cost = serializers.FloatField(min_value=0)


class LimitsSchema(serializers.Serializer[object]):
    """The most of a day and of a month, in UTC; null is no limit. Money is US dollars."""

    tokensPerDay = serializers.IntegerField(allow_null=True, min_value=0)
    tokensPerMonth = serializers.IntegerField(allow_null=True, min_value=0)
    costPerDay = serializers.FloatField(allow_null=True, min_value=0)
    costPerMonth = serializers.FloatField(allow_null=True, min_value=0)


class BudgetSchema(LimitsSchema):
    """A budget. `holding` are the limits that hold: of each kind the agent's own, else the default's."""

    agentId = serializers.CharField(help_text="An agent, `default` or `all`.")
    holding = LimitsSchema()
    usedToday = AmountSchema(help_text="With what is reserved.")
    usedThisMonth = AmountSchema(help_text="With what is reserved.")


class BudgetListSchema(serializers.Serializer[object]):
    """Budgets: of all agents together, of every agent, then of each."""

    data = BudgetSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class DayOfAgentSchema(AmountSchema):
    """What an agent used on a day; null is what no agent asked for."""

    agentId = serializers.CharField(allow_null=True)
    day = serializers.DateField()


class UsageOfDaysSchema(serializers.Serializer[object]):
    """What was used, by day and agent."""

    data = DayOfAgentSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
    totals = AmountSchema()
    to = serializers.DateField()

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]  # as its base has it
        return {**super().get_fields(), "from": serializers.DateField()}


class LeftSchema(serializers.Serializer[object]):
    """What is left of a limit; `agentId` is `all` where it is that of all together."""

    agentId = serializers.CharField()
    period = serializers.ChoiceField(choices=PERIODS)
    unit = serializers.ChoiceField(choices=UNITS)
    limit = serializers.FloatField(min_value=0)
    left = serializers.FloatField(min_value=0)
    renewsAt = serializers.DateTimeField()


class BulkEstimateSchema(serializers.Serializer[object]):
    """What a bulk run will probably use. Costs are null where the model's price is not known."""

    agentId = serializers.CharField()
    posts = serializers.IntegerField(min_value=0)
    provider = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    demo = serializers.BooleanField(help_text="Whether no AI answers: the demo costs nothing.")
    problem = serializers.CharField(allow_null=True, help_text="Why nothing would answer.")
    usage = UsageSchema()
    cost = serializers.FloatField(allow_null=True, min_value=0)
    mostTokens = serializers.IntegerField(min_value=0)
    mostCost = serializers.FloatField(allow_null=True, min_value=0)
    fromHistory = serializers.BooleanField(help_text="Whether the agent's own runs were looked at.")
    left = LeftSchema(many=True)
    fits = serializers.BooleanField(help_text="Whether the budgets last for what is expected.")
    fitsAtMost = serializers.BooleanField(
        help_text="Whether they last for the most that it can use."
    )
    rejected = RejectedPostSchema(many=True)
