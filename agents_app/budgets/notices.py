"""Telling people that a budget is nearly used, or used up: once in each period."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Final, Literal

from django.db.models import Q

from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    Limit,
    Used,
    begin_of,
    limits_of,
    number,
    renewal_of,
    spent,
    used_of,
)
from agents_app.models import BudgetNotice
from proofroom.core import outbox
from proofroom.core.actor import Actor, Visitor
from proofroom.core.json import JsonObject

NEAR_LIMIT_SHARE: Final = Decimal("0.8")
"""The part of a limit from which on people are warned."""
Level = Literal["near", "reached"]


def told_now(day: date) -> list[BudgetNotice]:
    """Return what people were told in the day and its month, of each agent and period the worse. One query."""
    found: dict[tuple[str, str], BudgetNotice] = {}
    present = Q(period="day", begins=day) | Q(period="month", begins=begin_of("month", day))
    # In the order of the alphabet `near` comes before `reached`, which so takes its place.
    for notice in BudgetNotice.objects.filter(present).order_by("agent_id", "period", "level"):
        found[notice.agent_id, notice.period] = notice
    return list(found.values())


def notify_spending(agent_id: str, day: date) -> None:
    """Record, in the caller's transaction, which limits what was spent until now comes near to or reaches."""
    limits = limits_of(agent_id)
    if not limits:
        return
    used = spent(agent_id, day)
    for level in ("near", "reached"):
        share = NEAR_LIMIT_SHARE if level == "near" else Decimal(1)
        passed = [limit for limit in limits if used_of(limit, used) >= limit.most * share]
        notify_level(level, passed, used, day)


def notify_level(level: Level, limits: Iterable[Limit], used: Used, day: date) -> None:
    """Record it of each limit whose agent and period were not told of at this level. The budgets are locked."""
    for limit in limits:
        if limit.most <= 0:
            continue  # somebody forbade all use, and knows
        _, is_new = BudgetNotice.objects.get_or_create(
            agent_id=limit.agent_id,
            period=limit.period,
            begins=begin_of(limit.period, day),
            level=level,
        )
        if not is_new:
            continue
        agent_id = None if limit.agent_id == ALL_AGENTS_KEY else limit.agent_id
        system = Actor(
            user=Visitor(username="system", role="system"), via="system", agent_id=agent_id or None
        )
        payload: JsonObject = {
            "agentId": agent_id,
            "period": limit.period,
            "unit": limit.unit,
            "limit": number(limit.most, limit.unit),
            "used": number(used_of(limit, used), limit.unit),
            "renewsAt": renewal_of(limit.period, day).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        outbox.record(f"agent.budget.{level}", actor=system, payload=payload)
