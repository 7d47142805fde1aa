"""Current and daily usage of budgets, and the remaining budget of an agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from django.db.models import DecimalField, Sum, Value

from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    DEFAULT,
    Amount,
    BudgetLimits,
    Limit,
    end_of,
    limit_usage,
    limits_in,
    limits_of,
    period_renewal,
    period_start,
    reserved,
    spent,
    today,
)
from agents_app.definitions.agents import all_agents
from agents_app.models import Budget, Reservation, Spending

DAYS_MOST: Final = 366
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class BudgetView:
    """A budget and its usage, including reservations.

    `holding`: the effective limits, each the agent's own, else the default's. `agent_id` is `*` for
    all agents together, and empty for the default, which has no usage itself.
    """

    agent_id: str
    limits: BudgetLimits
    holding: BudgetLimits
    today: Amount
    month: Amount


def budget(key: str, day: date) -> BudgetView:
    """Return the budget with that key. Three queries."""
    found = next((item for item in budgets(day) if item.agent_id == key), None)
    return found or BudgetView(key, BudgetLimits(), BudgetLimits(), Amount(), Amount())


def budgets(day: date) -> list[BudgetView]:
    """Return the budget of all agents, the default, then each agent's by id. Three queries in total."""
    rows = Budget.objects.in_bulk()
    used = used_by_agent(day)
    default = limits_in(rows.get(DEFAULT))
    # Agents without a file any more still appear if they have a budget or usage.
    ids = {agent.id for agent in all_agents()} | set(rows) | set(used) - {DEFAULT, ALL_AGENTS_KEY}
    together = limits_in(rows.get(ALL_AGENTS_KEY))
    found = [
        BudgetView(
            ALL_AGENTS_KEY,
            together,
            together,
            sum((today for today, _ in used.values()), Amount()),
            sum((month for _, month in used.values()), Amount()),
        ),
        BudgetView(DEFAULT, default, default, Amount(), Amount()),
    ]
    for id_ in sorted(ids - {DEFAULT, ALL_AGENTS_KEY}):
        own = limits_in(rows.get(id_))
        found.append(BudgetView(id_, own, own.over(default), *used[id_]))
    return found


def used_by_agent(day: date) -> dict[str, tuple[Amount, Amount]]:
    """Return the usage of the day and of its month by agent, including reservations."""
    found: dict[str, tuple[Amount, Amount]] = defaultdict(lambda: (Amount(), Amount()))
    span = {"day__gte": period_start("month", day), "day__lt": end_of("month", day)}
    settled = Spending.objects.filter(**span).values("agent_id", "day")
    pending = Reservation.objects.filter(**span).values("agent_id", "day")
    nothing = Value(Decimal(0), output_field=DecimalField(max_digits=14, decimal_places=6))
    for rows in (
        settled.annotate(
            all_tokens=Sum("tokens"),
            all_cost=Sum("cost"),
            all_cached=Sum("cached_tokens"),
            all_saved=Sum("saved"),
        ),
        # What a cache will hold of pending requests is not known.
        pending.annotate(
            all_tokens=Sum("tokens"), all_cost=Sum("cost"), all_cached=Value(0), all_saved=nothing
        ),
    ):
        for row in rows.order_by():
            amount = Amount(
                row["all_tokens"],
                row["all_cost"].quantize(_MICRO),
                row["all_cached"],
                row["all_saved"].quantize(_MICRO),
            )
            today, month = found[row["agent_id"]]
            today = today + amount if row["day"] == day else today
            found[row["agent_id"]] = (today, month + amount)
    return found


@dataclass(frozen=True, slots=True)
class DayOfAgent:
    """The use of an agent on a day."""

    agent_id: str
    day: date
    amount: Amount


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """The use in a range of days, both included."""

    first: date
    last: date
    days: Sequence[DayOfAgent]
    total: Amount = field(default_factory=Amount)

    def by_agent(self) -> list[tuple[str, Amount]]:
        """Return the usage by agent, highest cost first, then most tokens."""
        found: dict[str, Amount] = defaultdict(Amount)
        for item in self.days:
            found[item.agent_id] += item.amount
        return sorted(found.items(), key=lambda item: (-item[1].cost, -item[1].tokens, item[0]))

    def by_day(self) -> dict[date, Amount]:
        found: dict[date, Amount] = defaultdict(Amount)
        for item in self.days:
            found[item.day] += item.amount
        return found


def usage(first: date, last: date) -> BudgetUsage:
    """Return the settled usage by day and agent. One query."""
    rows = Spending.objects.filter(day__gte=first, day__lte=last).order_by("day", "agent_id")
    days = [
        DayOfAgent(
            row.agent_id, row.day, Amount(row.tokens, row.cost, row.cached_tokens, row.saved)
        )
        for row in rows
    ]
    return BudgetUsage(first, last, days, sum((item.amount for item in days), Amount()))


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """The rest of a limit, less current reservations."""

    limit: Limit
    left: Decimal
    renews_at: datetime


def remaining_budgets(agent_id: str) -> list[RemainingBudget]:
    """Return the rest of each effective limit of the agent. At most three queries."""
    limits = limits_of(agent_id)
    if not limits:
        return []
    day = today()
    done, under_way = spent(agent_id, day), reserved(agent_id, day)
    return [
        RemainingBudget(
            limit,
            max(limit.most - limit_usage(limit, done) - limit_usage(limit, under_way), Decimal(0)),
            period_renewal(limit.period, day),
        )
        for limit in limits
    ]
