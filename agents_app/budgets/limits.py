"""Limits of budgets: the effective limits of an agent, their usage, changes, and the error beyond a limit."""

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
"""Key of the budget of all agents together."""
DEFAULT: Final = ""
"""Key of the budget of agents without their own."""
PERIODS: Final[tuple[PeriodName, ...]] = ("day", "month")
PeriodName = Literal["day", "month"]
Unit = Literal["tokens", "cost"]
UNITS: Final[tuple[Unit, ...]] = ("tokens", "cost")
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens, and money in US dollars.

    `cached_tokens`: part of the tokens, read from a provider's cache; `saved`: what they would have
    cost more without it. Both only of settled usage.
    """

    tokens: int = 0
    cost: Decimal = Decimal(0)
    cached_tokens: int = 0
    saved: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.cached_tokens + other.cached_tokens,
            self.saved + other.saved,
        )

    def of(self, unit: Unit) -> Decimal:
        return Decimal(self.tokens) if unit == "tokens" else self.cost


@dataclass(frozen=True, slots=True)
class Limit:
    """The maximum of one unit in one period. `agent_id` is `*` for all agents together."""

    agent_id: str
    period: PeriodName
    unit: Unit
    most: Decimal


Used = dict[tuple[str, PeriodName], Amount]
"""Usage by agent (or `*`) and period."""


def number(amount: Decimal, unit: Unit) -> int | float:
    """Return the amount as a JSON number."""
    return int(amount) if unit == "tokens" else float(amount)


def limit_usage(limit: Limit, used: Used) -> Decimal:
    return used[limit.agent_id, limit.period].of(limit.unit)


def today() -> date:
    return timezone.now().astimezone(UTC).date()


def period_start(period: PeriodName, day: date) -> date:
    return day if period == "day" else day.replace(day=1)


def end_of(period: PeriodName, day: date) -> date:
    """Return the first day after the period."""
    if period == "day":
        return day + timedelta(days=1)
    # 32 days after the first of a month is always in the next month.
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def period_renewal(period: PeriodName, day: date) -> datetime:
    """Return the start of the period after the one that contains the day."""
    return datetime.combine(end_of(period, day), datetime.min.time(), UTC)


def lock_budgets() -> None:
    """Lock the budgets until the transaction ends, against other reservations, settlements and changes."""
    # The row of all agents serves as the lock.
    locked = (
        Budget.objects.select_for_update(no_key=True)
        .filter(pk=ALL_AGENTS_KEY)
        .values_list("pk", flat=True)
    )
    if not list(locked):
        # The row does not exist yet. Another process may create it at the same moment, so the
        # insert ignores conflicts and the query runs again to take the lock.
        Budget.objects.bulk_create([Budget(agent_id=ALL_AGENTS_KEY)], ignore_conflicts=True)
        list(locked.all())


def limits_of(agent_id: str) -> Sequence[Limit]:
    """Return the effective limits of an agent: its own or the default's, and the common ones. One query."""
    rows = Budget.objects.in_bulk([agent_id, DEFAULT, ALL_AGENTS_KEY])
    own = [rows[key] for key in (agent_id, DEFAULT) if key in rows]
    found: list[Limit] = []
    for key, rows_of_key in (
        (agent_id, own),
        (ALL_AGENTS_KEY, [rows[ALL_AGENTS_KEY]] if ALL_AGENTS_KEY in rows else []),
    ):
        for period in PERIODS:
            for unit in UNITS:
                column = f"{unit}_per_{period}"
                values: list[int | Decimal | None] = [getattr(row, column) for row in rows_of_key]
                # The agent's own value precedes the default's.
                most = next((value for value in values if value is not None), None)
                if most is not None:
                    found.append(Limit(key, period, unit, Decimal(most)))
    return found


def spent(agent_id: str, day: date) -> Used:
    """Return the usage of the agent and of all agents, on the day and in its month. One query."""
    return _used(Spending, agent_id, day)


def reserved(agent_id: str, day: date) -> Used:
    """Return the reservations of pending requests, in the same form as `spent`. One query."""
    return _used(Reservation, agent_id, day)


def _used(model: type[Spending | Reservation], agent_id: str, day: date) -> Used:
    is_own = ExpressionWrapper(Q(agent_id=agent_id), output_field=BooleanField())
    is_today = ExpressionWrapper(Q(day=day), output_field=BooleanField())
    rows = (
        model._default_manager.filter(
            day__gte=period_start("month", day), day__lt=end_of("month", day)
        )
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
            # Usage of the day is usage of its month too.
            for period in PERIODS if row["is_today"] else PERIODS[1:]:
                found[who, period] += amount
    return found


class BudgetExceeded(ProviderError):
    """The request was not made because it could exceed a limit."""

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
    """Return a short text for pages: money in cents, below ten cents with two significant digits."""
    if unit == "tokens" or not 0 < amount < Decimal("0.1"):
        return amount_text(amount.quantize(Decimal("0.01")), unit)
    return f"${amount:.2g}" if amount >= Decimal("0.0001") else "under $0.0001"


def amount_text(amount: Decimal, unit: Unit) -> str:
    """Return `12,000 tokens` or `$0.50`; money below a cent with all its digits."""
    if unit == "tokens":
        return f"{int(amount):,} tokens"
    short = amount.quantize(Decimal("0.01"))
    if short == amount:
        return f"${short:,}"
    return f"${amount.quantize(Decimal('0.000001')).normalize():,f}"


NAMES: Final = {DEFAULT: "default", ALL_AGENTS_KEY: "all"}
"""Wire names of the budgets that belong to no single agent."""
MAX_TOKENS_LIMIT: Final = 10**15
MAX_COST_LIMIT: Final = Decimal("999999.99")


Money = Annotated[float, Field(ge=0)]


def _decimal(value: object) -> object:
    """Convert a JSON number to an exact Decimal."""
    # `bool` is a subclass of `int`.
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")
    # Through `str`, because `Decimal(0.1)` has the binary rounding error.
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
    cached_tokens: int = Field(
        ge=0, description="Part of the tokens, read from the provider's cache."
    )
    saved: Money = Field(description="What they would have cost more without the cache.")


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The maximum of a day and of a month; None is no limit."""

    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    cost_per_day: Decimal | None = None
    cost_per_month: Decimal | None = None

    @property
    def is_empty(self) -> bool:
        return self == BudgetLimits()

    def over(self, default: BudgetLimits) -> BudgetLimits:
        """Return these limits, with gaps filled from the default."""
        return BudgetLimits(
            **{
                name: getattr(default, name) if getattr(self, name) is None else getattr(self, name)
                for name in _FIELDS
            }
        )


class LimitsAnswer(Answer):
    """The maximum of a day and of a month, in UTC; null is no limit. Money is US dollars."""

    tokens_per_day: Annotated[int, Field(ge=0)] | None
    tokens_per_month: Annotated[int, Field(ge=0)] | None
    cost_per_day: Money | None
    cost_per_month: Money | None


class BudgetAnswer(LimitsAnswer):
    """A budget. `holding`: the effective limits, each the agent's own, else the default's."""

    agent_id: str = Field(description="An agent, `default` or `all`.")
    holding: LimitsAnswer
    used_today: AmountAnswer = Field(description="With what is reserved.")
    used_this_month: AmountAnswer = Field(description="With what is reserved.")


class BudgetChanges(Body, answered_by=BudgetAnswer):
    """The limits to change. Absent keys stay unchanged, null removes a limit."""

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
    """Return the limits of a row; no limits without a row."""
    if row is None:
        return BudgetLimits()
    return BudgetLimits(
        row.tokens_per_day, row.tokens_per_month, row.cost_per_day, row.cost_per_month
    )


@transaction.atomic
def set_budget(*, name: str, changes: BudgetChanges, actor: Actor) -> str:
    """Set limits of an agent (by its id), of agents without their own (`default`), or of all together
    (`all`).

    Returns the key of the budget. Raises `NotAllowed`, `NotFound` for an unknown agent, or
    `RuleViolation` keyed by the field's wire name.
    """
    actor.require_person("change budgets")
    actor.require("agents.edit")
    lock_budgets()
    # The keys of NAMES are internal; callers use `default` and `all`.
    if name in NAMES or len(name) > ID_MAX or not name.isprintable():
        raise unknown_agent(name[:ID_MAX])
    key = {wire: key for key, wire in NAMES.items()}.get(name, name)
    row = Budget.objects.filter(pk=key).first()
    # A budget outlives the file of its agent, so that it can still be changed or removed.
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
    # The common row stays even without limits, because `lock_budgets` locks it.
    if limits.is_empty and key != ALL_AGENTS_KEY:
        Budget.objects.filter(pk=key).delete()
    else:
        row.save()
    # A changed limit is a new one, so people are notified again when it is reached.
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
    """Set several budgets by name, all or none. Errors are keyed `<name>.<field>`. Return their number."""
    for name, changed in changes.items():
        try:
            set_budget(name=name, changes=changed, actor=actor)
        except RuleViolation as error:
            details = {f"{name}.{field}": texts for field, texts in error.details.items()}
            raise RuleViolation(error.message, details=details) from None
    return len(changes)


def wire_of(limits: BudgetLimits) -> JsonObject:
    """Return the limits as JSON."""
    return {
        "tokensPerDay": limits.tokens_per_day,
        "tokensPerMonth": limits.tokens_per_month,
        "costPerDay": None if limits.cost_per_day is None else float(limits.cost_per_day),
        "costPerMonth": None if limits.cost_per_month is None else float(limits.cost_per_month),
    }
