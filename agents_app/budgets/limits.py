"""Limits of budgets: which hold for an agent, how much of them is used, their changes, and the refusal beyond one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Final, Literal

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BeforeValidator, Field, WithJsonSchema

from agents_app.definitions.agents import get_agent, unknown_agent
from agents_app.models import Budget, BudgetNotice, Reservation, Spending
from agents_app.providers.interface import ProviderError
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body
from proofroom.core.definition_files import ID_MAX
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject

ALL_AGENTS_KEY: Final = "*"
"""The budget of all agents together."""
DEFAULT: Final = ""
"""The budget of each agent that has none of its own."""
PERIODS: Final[tuple[PeriodName, ...]] = ("day", "month")
PeriodName = Literal["day", "month"]
Unit = Literal["tokens", "cost"]
UNITS: Final[tuple[Unit, ...]] = ("tokens", "cost")
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens, and money in US dollars."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def of(self, unit: Unit) -> Decimal:
        return Decimal(self.tokens) if unit == "tokens" else self.cost


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of one unit in one period; `agent_id` is `*` where it is that of all together."""

    agent_id: str
    period: PeriodName
    unit: Unit
    most: Decimal


Used = dict[tuple[str, PeriodName], Amount]
"""By agent (or `*`) and period."""


def number(amount: Decimal, unit: Unit) -> int | float:
    """An amount as JSON has it."""
    return int(amount) if unit == "tokens" else float(amount)


def used_of(limit: Limit, used: Used) -> Decimal:
    return used[limit.agent_id, limit.period].of(limit.unit)


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def begin_of(period: PeriodName, day: date) -> date:
    return day if period == "day" else day.replace(day=1)


def end_of(period: PeriodName, day: date) -> date:
    """The first day after the period."""
    if period == "day":
        return day + timedelta(days=1)
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def renewal_of(period: PeriodName, day: date) -> datetime:
    """Return when the period after that of the day begins."""
    return datetime.combine(end_of(period, day), datetime.min.time(), UTC)


def lock_budgets() -> None:
    """Wait for whoever reserves, settles or changes a budget, and keep them out until the transaction ends."""
    held = (
        Budget.objects.select_for_update(no_key=True)
        .filter(pk=ALL_AGENTS_KEY)
        .values_list("pk", flat=True)
    )
    if not list(held):
        Budget.objects.bulk_create([Budget(agent_id=ALL_AGENTS_KEY)], ignore_conflicts=True)
        list(held.all())


def limits_of(agent_id: str) -> Sequence[Limit]:
    """The limits that hold for an agent: each its own or the default's, and those of all together. One query."""
    rows = Budget.objects.in_bulk([agent_id, DEFAULT, ALL_AGENTS_KEY])
    own = [rows[key] for key in (agent_id, DEFAULT) if key in rows]
    found: list[Limit] = []
    for key, named in (
        (agent_id, own),
        (ALL_AGENTS_KEY, [rows[ALL_AGENTS_KEY]] if ALL_AGENTS_KEY in rows else []),
    ):
        for period in PERIODS:
            for unit in UNITS:
                column = f"{unit}_per_{period}"
                values: list[int | Decimal | None] = [getattr(row, column) for row in named]
                most = next((value for value in values if value is not None), None)
                if most is not None:
                    found.append(Limit(key, period, unit, Decimal(most)))
    return found


def spent(agent_id: str, day: date) -> Used:
    """Return the use of the agent, and of all together, on the day and in its month. One query."""
    return _used(Spending, agent_id, day)


def reserved(agent_id: str, day: date) -> Used:
    """Return the use that requests under way may come to. One query."""
    return _used(Reservation, agent_id, day)


def _used(model: type[Spending | Reservation], agent_id: str, day: date) -> Used:
    is_own = ExpressionWrapper(Q(agent_id=agent_id), output_field=BooleanField())
    is_today = ExpressionWrapper(Q(day=day), output_field=BooleanField())
    rows = (
        model._default_manager.filter(day__gte=begin_of("month", day), day__lt=end_of("month", day))
        .values(is_own=is_own, is_today=is_today)
        .annotate(all_tokens=Sum("tokens"), all_cost=Sum("cost"))
        .order_by()
    )
    found: Used = {
        (who, period): Amount() for who in (agent_id, ALL_AGENTS_KEY) for period in PERIODS
    }
    for row in rows:
        amount = Amount(row["all_tokens"], row["all_cost"].quantize(_MICRO))
        for who in (agent_id, ALL_AGENTS_KEY) if row["is_own"] else (ALL_AGENTS_KEY,):
            for period in PERIODS if row["is_today"] else PERIODS[1:]:
                found[who, period] += amount
    return found


class BudgetExceeded(ProviderError):
    """The request was not made: it could have gone beyond a limit."""

    def __init__(self, limit: Limit, *, used: Decimal, asked: Decimal, renews_at: datetime) -> None:
        self.limit = limit
        self.used = used
        self.asked = asked
        self.renews_at = renews_at
        whose = (
            "all agents together"
            if limit.agent_id == ALL_AGENTS_KEY
            else f"the agent {limit.agent_id}"
        )
        sentence = _(
            "The budget of %(whose)s for this %(period)s is not enough. Used or "
            "reserved: %(amount_text)s of %(amount_text_2)s. The request may "
            "need up to %(amount_text_3)s. The budget resets on %(renews_at)s at "
            "00:00 UTC."
        ) % {
            "whose": whose,
            "period": limit.period,
            "amount_text": amount_text(used, limit.unit),
            "amount_text_2": amount_text(limit.most, limit.unit),
            "amount_text_3": amount_text(asked, limit.unit),
            "renews_at": f"{renews_at:%Y-%m-%d}",
        }
        super().__init__(sentence)


def short_text(amount: Decimal, unit: Unit) -> str:
    """For pages: money in cents, and below ten cents with two digits that say something."""
    if unit == "tokens" or not 0 < amount < Decimal("0.1"):
        return amount_text(amount.quantize(Decimal("0.01")), unit)
    return f"${amount:.2g}" if amount >= Decimal("0.0001") else "under $0.0001"


def amount_text(amount: Decimal, unit: Unit) -> str:
    """`12,000 tokens`, `$0.50`; money below a cent with all its digits."""
    if unit == "tokens":
        return f"{int(amount):,} tokens"
    short = amount.quantize(Decimal("0.01"))
    if short == amount:
        return f"${short:,}"
    return f"${amount.quantize(Decimal('0.000001')).normalize():,f}"


NAMES: Final = {DEFAULT: "default", ALL_AGENTS_KEY: "all"}
"""What the budgets that are of no single agent are called on the wire."""
MAX_TOKENS_LIMIT: Final = 10**15
MAX_COST_LIMIT: Final = Decimal("999999.99")


Money = Annotated[float, Field(ge=0)]


def _decimal(value: object) -> object:
    """JSON has numbers, and money is exact."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")
    return Decimal(str(value))


Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS_LIMIT)]
Dollars = Annotated[
    Decimal,
    Field(ge=0, le=MAX_COST_LIMIT, decimal_places=6, allow_inf_nan=False),
    BeforeValidator(_decimal),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": float(MAX_COST_LIMIT)}),
]


class AmountAnswer(Answer):
    """Tokens, and money in US dollars."""

    tokens: int = Field(ge=0)
    cost: Money


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The most of a day and of a month; None is no limit."""

    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    cost_per_day: Decimal | None = None
    cost_per_month: Decimal | None = None

    @property
    def is_empty(self) -> bool:
        return self == BudgetLimits()

    def over(self, default: BudgetLimits) -> BudgetLimits:
        """These, and of the default what these leave open."""
        return BudgetLimits(
            **{
                name: getattr(default, name) if getattr(self, name) is None else getattr(self, name)
                for name in _FIELDS
            }
        )


class LimitsAnswer(Answer):
    """The most of a day and of a month, in UTC; null is no limit. Money is US dollars."""

    tokens_per_day: Annotated[int, Field(ge=0)] | None
    tokens_per_month: Annotated[int, Field(ge=0)] | None
    cost_per_day: Money | None
    cost_per_month: Money | None


class BudgetAnswer(LimitsAnswer):
    """A budget. `holding` are the limits that hold: of each kind the agent's own, else the default's."""

    agent_id: str = Field(description="An agent, `default` or `all`.")
    holding: LimitsAnswer
    used_today: AmountAnswer = Field(description="With what is reserved.")
    used_this_month: AmountAnswer = Field(description="With what is reserved.")


class BudgetChanges(Body, answered_by=BudgetAnswer):
    """The limits that change; what is absent stays, null takes a limit away."""

    tokens_per_day: Tokens | None = None
    tokens_per_month: Tokens | None = None
    cost_per_day: Dollars | None = None
    cost_per_month: Dollars | None = None


_FIELDS: Final[dict[str, str]] = {
    "tokens_per_day": "tokensPerDay",
    "tokens_per_month": "tokensPerMonth",
    "cost_per_day": "costPerDay",
    "cost_per_month": "costPerMonth",
}


def limits_in(row: Budget | None) -> BudgetLimits:
    """Return the limits of a row; none where there is no row."""
    if row is None:
        return BudgetLimits()
    return BudgetLimits(
        row.tokens_per_day, row.tokens_per_month, row.cost_per_day, row.cost_per_month
    )


@transaction.atomic
def set_budget(*, name: str, changes: BudgetChanges, actor: Actor) -> str:
    """Set limits of an agent (by its id), of each agent that has none of that kind (`default`), or of `all`.

    Answers the key of the budget. Raises `NotAllowed`, `NotFound` for an agent that there is not, or `RuleViolation`
    by the field's name on the wire.
    """
    actor.require_person("change budgets")
    actor.require("agents.edit")
    lock_budgets()
    if name in NAMES or len(name) > ID_MAX or not name.isprintable():
        raise unknown_agent(name[:ID_MAX])
    key = {wire: key for key, wire in NAMES.items()}.get(name, name)
    row = Budget.objects.filter(pk=key).first()
    if row is None and key not in NAMES and get_agent(key) is None:
        raise unknown_agent(name)
    before = limits_in(row)
    limits = replace(before, **changes.model_dump(exclude_unset=True))
    row = row or Budget(agent_id=key)
    if before == limits:
        return key
    for field in _FIELDS:
        setattr(row, field, getattr(limits, field))
    row.updated_by_id = actor.user.pk
    if limits.is_empty and key != ALL_AGENTS_KEY:
        Budget.objects.filter(pk=key).delete()
    else:
        row.save()
    # People are told anew of a limit that is another one now.
    notices = BudgetNotice.objects.all()
    notices = (
        notices.exclude(agent_id=ALL_AGENTS_KEY) if key == DEFAULT else notices.filter(agent_id=key)
    )
    notices.delete()
    payload: JsonObject = {
        "agentId": name,
        "before": wire_of(before),
        "after": wire_of(limits),
    }
    outbox.record("agent.budget.set", actor=actor, payload=payload)
    return key


@transaction.atomic
def set_budgets(*, changes: Mapping[str, BudgetChanges], actor: Actor) -> int:
    """Set several budgets by name, or none: what is refused is named as `<name>.<field>`. Answers how many."""
    for name, changed in changes.items():
        try:
            set_budget(name=name, changes=changed, actor=actor)
        except RuleViolation as error:
            details = {f"{name}.{field}": texts for field, texts in error.details.items()}
            raise RuleViolation(error.message, details=details) from None
    return len(changes)


def wire_of(limits: BudgetLimits) -> JsonObject:
    """Limits as JSON."""
    return {
        "tokensPerDay": limits.tokens_per_day,
        "tokensPerMonth": limits.tokens_per_month,
        "costPerDay": None if limits.cost_per_day is None else float(limits.cost_per_day),
        "costPerMonth": None if limits.cost_per_month is None else float(limits.cost_per_month),
    }
