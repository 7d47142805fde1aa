"""Charts of usage: a column for each day, a bar for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from django.utils.translation import gettext

from agents_app.admin.labels import agent_name
from agents_app.budgets.limits import ALL_AGENTS_KEY, Amount, BudgetLimits, Unit, short_text
from agents_app.budgets.usage import BudgetUsage, BudgetView
from proofroom.core.admin.charts import Upright, part, upright

_AXIS_EVERY: Final = 7


@dataclass(frozen=True, slots=True)
class UsageColumn:
    """A day."""

    day: date
    text: str
    drawn: Upright
    is_today: bool
    is_named: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """The days of a month."""

    columns: Sequence[UsageColumn]
    peak: str
    peak_day: date | None
    days: Sequence[tuple[date, Amount]]


def columns(found: BudgetUsage, unit: Unit, today: date) -> Columns:
    """A column for each day of the range, the highest as high as there is room."""
    by_day = found.by_day()
    count = (found.last - found.first).days + 1
    days = [
        (day, by_day.get(day, Amount()))
        for day in (found.first + timedelta(days=number) for number in range(count))
    ]
    top_day, top = max(days, key=lambda item: item[1].of(unit))
    return Columns(
        [
            UsageColumn(
                day=day,
                text=short_text(amount.of(unit), unit),
                drawn=upright(number, count, float(amount.of(unit)), float(top.of(unit))),
                is_today=day == today,
                is_named=number % _AXIS_EVERY == 0,
            )
            for number, (day, amount) in enumerate(days)
        ],
        short_text(top.of(unit), unit),
        top_day if top.of(unit) else None,
        [item for item in days if item[1] != Amount()],
    )


@dataclass(frozen=True, slots=True)
class UsageBar:
    """An agent. `share` is of all that was used, in percent; `limit` says how much of its month that is."""

    name: str
    text: str
    other: str
    width: str
    share: int
    limit: str
    look: str


def bars(
    found: BudgetUsage, unit: Unit, budgets: Sequence[BudgetView], *, is_now: bool
) -> list[UsageBar]:
    """The agents of the month, those that used most first."""
    views = (
        {view.agent_id: view for view in budgets if view.agent_id != ALL_AGENTS_KEY}
        if is_now
        else {}
    )
    other: Unit = "tokens" if unit == "cost" else "cost"
    rows = sorted(found.by_agent(), key=lambda item: -item[1].of(unit))
    top = max((amount.of(unit) for _, amount in rows), default=Decimal(0))
    made = []
    for agent_id, amount in rows:
        value, limit, look = amount.of(unit), "", ""
        view = views.get(agent_id)
        month = view.holding if view is not None else BudgetLimits()
        most = month.cost_per_month if unit == "cost" else month.tokens_per_month
        if most:
            percent = int(value * 100 / most)
            limit = gettext("%(percent)s %% of its month") % {"percent": percent}
            if percent >= 80:
                look = "is-over" if percent >= 100 else "is-near"
        made.append(
            UsageBar(
                name=agent_name(agent_id) if agent_id else gettext("Without an agent"),
                text=short_text(value, unit),
                other=short_text(amount.of(other), other),
                width=part(float(value), float(top)),
                share=round(value * 100 / found.total.of(unit)) if found.total.of(unit) else 0,
                limit=limit,
                look=look,
            )
        )
    return made
