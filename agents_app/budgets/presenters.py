"""Budgets, usage and estimates as the wire has them."""

from __future__ import annotations

from agents_app.budgets.bulk import BulkEstimate
from agents_app.budgets.estimating import RemainingBudget
from agents_app.budgets.figures import BudgetUsage, BudgetView, DayOfAgent
from agents_app.budgets.limits import ALL, Amount, number
from agents_app.budgets.setting import NAMES, wire_of
from content.store import iso
from core.json import JsonObject


def budget(view: BudgetView) -> JsonObject:
    """A budget: its own limits, those that hold, and what is used of them or reserved."""
    return {
        "agentId": NAMES.get(view.agent_id, view.agent_id),
        **wire_of(view.limits),
        "holding": wire_of(view.holding),
        "usedToday": _amount(view.today),
        "usedThisMonth": _amount(view.month),
    }


def _amount(amount: Amount) -> JsonObject:
    return {"tokens": amount.tokens, "cost": float(amount.cost)}


def day_of_agent(item: DayOfAgent) -> JsonObject:
    """What an agent used on a day; null is what no agent asked for."""
    return {
        "agentId": item.agent_id or None,
        "day": item.day.isoformat(),
        **_amount(item.amount),
    }


def usage(found: BudgetUsage) -> JsonObject:
    """The range that was asked for, and its sums."""
    return {
        "from": found.first.isoformat(),
        "to": found.last.isoformat(),
        "totals": _amount(found.total),
    }


def bulk_estimate(found: BulkEstimate) -> JsonObject:
    """What a bulk run will probably use, the most that it can, and what is left of the budgets."""
    made = found.estimate
    return {
        "agentId": found.agent.id,
        "posts": made.posts,
        "provider": made.provider or None,
        "model": made.model or None,
        "demo": made.is_demo,
        "problem": made.problem or None,
        "usage": {"inputTokens": made.input_tokens, "outputTokens": made.output_tokens},
        "cost": None if made.cost is None else float(made.cost),
        "mostTokens": made.most_tokens,
        "mostCost": None if made.most_cost is None else float(made.most_cost),
        "fromHistory": made.is_from_history,
        "left": [_left(item) for item in made.left],
        "fits": not made.beyond(),
        "fitsAtMost": not made.beyond(at_most=True),
        "rejected": [{"id": item.id, "error": item.error} for item in found.rejected],
    }


def _left(item: RemainingBudget) -> JsonObject:
    limit = item.limit
    return {
        "agentId": "all" if limit.agent_id == ALL else limit.agent_id,
        "period": limit.period,
        "unit": limit.unit,
        "limit": number(limit.most, limit.unit),
        "left": number(item.left, limit.unit),
        "renewsAt": iso(item.renews_at),
    }
