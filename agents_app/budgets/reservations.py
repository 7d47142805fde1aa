"""Reservations of budget for requests, their settlement, and notices of used-up budgets.

Reserving and settling take one lock, the row of the budget of all agents, so that usage plus
reservations never exceeds a limit. The lock is held only briefly; never hold it during a request to
a provider.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    Amount,
    BudgetExceeded,
    Limit,
    Used,
    limit_usage,
    limits_of,
    lock_budgets,
    number,
    period_renewal,
    period_start,
    reserved,
    spent,
    today,
)
from agents_app.models import AgentRun, BudgetNotice, Reservation, RunStatus, Spending
from agents_app.providers.interface import ProviderStopped
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.agent_directory import agent_name
from proofroom.core.independent_steps import independent_steps
from proofroom.core.json import JsonObject

_MICRO: Final = Decimal("0.000001")
_MOST_MONEY: Final = Decimal("999999.999999")
_MOST_TOKENS: Final = 2**30
_ABANDONED: Final = timedelta(seconds=60)
"""Time after the limit of a run from which none of its requests can be pending any more."""


def reserve(
    *,
    agent_id: str,
    run: AgentRun | None,
    tokens: int,
    cost: Decimal | None,
    input_tokens: int = 0,
) -> Reservation:
    """Reserve the maximum usage of a request. Call it outside of any transaction, then send the
    request, then settle.

    `input_tokens`: the input part of `tokens`. An unknown cost counts as zero. An empty `agent_id`
    is usage without an agent. Raises `BudgetExceeded`, or `ProviderStopped` if another worker has
    taken the run.
    """
    amount = _amount(tokens, cost)
    answer = reserve_or_refuse(agent_id, run, amount, min(max(input_tokens, 0), amount.tokens))
    if isinstance(answer, BudgetExceeded):
        raise answer
    return answer


# The refusal is returned, not raised, because raising would roll back the notice of the reached
# limit.
@transaction.atomic(durable=True)
def reserve_or_refuse(
    agent_id: str, run: AgentRun | None, asked: Amount, input_tokens: int
) -> Reservation | BudgetExceeded:
    lock_budgets()
    if run is not None and run.status == RunStatus.RUNNING:
        # Another worker may have taken the run since its last heartbeat.
        own = AgentRun.objects.filter(pk=run.pk, attempt=run.attempt, status=RunStatus.RUNNING)
        if not own.exists():
            raise ProviderStopped("The run is no longer this worker's.")
    day = today()
    refused = find_exceeded(agent_id, asked, day)
    if refused is not None:
        return refused
    return Reservation.objects.create(
        run=run,
        attempt=run.attempt if run is not None else None,
        agent_id=agent_id,
        day=day,
        tokens=asked.tokens,
        input_tokens=input_tokens,
        cost=asked.cost,
    )


def find_exceeded(agent_id: str, asked: Amount, day: date) -> BudgetExceeded | None:
    """Return the first limit that the request could exceed. Limits of a unit it does not use are ignored."""
    limits = [limit for limit in limits_of(agent_id) if asked.of(limit.unit) > 0]
    if not limits:
        return None
    done, under_way = spent(agent_id, day), reserved(agent_id, day)
    used = {key: done[key] + under_way[key] for key in done}
    for limit in limits:
        amount, more = limit_usage(limit, used), asked.of(limit.unit)
        if amount + more > limit.most:
            notify_level("reached", [limit], used, day)
            renews = period_renewal(limit.period, day)
            return BudgetExceeded(limit, used=amount, asked=more, renews_at=renews)
    return None


@transaction.atomic
def settle(
    reservation: Reservation,
    *,
    tokens: int,
    cost: Decimal | None,
    cached_tokens: int = 0,
    saved: Decimal = Decimal(0),
) -> bool:
    """Replace a reservation with the actual usage, also of a failed request. It counts for the day of
    the reservation.

    Returns False if it was already settled, for example by the sweep, so that nothing is counted
    twice. Within a transaction, lock the row of the run first.
    """
    lock_budgets()
    # The delete decides which of two settlements counts; the other one deletes nothing.
    deleted, _by_model = Reservation.objects.filter(pk=reservation.pk).delete()
    if not deleted:
        return False
    amount = _amount(tokens, cost)
    amount = replace(
        amount,
        cached_tokens=min(max(cached_tokens, 0), amount.tokens),
        saved=_amount(0, saved).cost,
    )
    _spend(reservation.agent_id, reservation.day, amount)
    notify_spending(reservation.agent_id, reservation.day)
    return True


@transaction.atomic
def settle_lost(run: AgentRun) -> int:
    """Settle all reservations of a run whose worker is lost, as if used completely: the provider may
    have worked.

    Adds the same usage to the run. Call it in the transaction that takes the run from its worker.
    Returns the number of settled requests.
    """
    return _settle_as_used(run.pk, Reservation.objects.filter(run_id=run.pk))


def settle_abandoned() -> int:
    """Settle reservations that no worker will settle any more. Return their number. Called by the sweep."""
    limit = timezone.now() - timedelta(seconds=settings.CMS_ENV.agent_run_timeout) - _ABANDONED
    old = Reservation.objects.filter(created_at__lt=limit)
    runs = list(old.order_by().values_list("run_id", flat=True).distinct())
    count = 0
    with independent_steps() as step:
        for run_id in runs:
            with step(f"settling the reservations of the run {run_id}"):
                count += _settle_as_used(run_id, old.filter(run_id=run_id))
    return count


@transaction.atomic
def _settle_as_used(run_id: UUID | None, reservations: QuerySet[Reservation]) -> int:
    # Lock the run before the budgets, in the same order as all code that locks both.
    if run_id is not None:
        list(AgentRun.objects.select_for_update(no_key=True).filter(pk=run_id).values_list("pk"))
    lock_budgets()
    rows = list(reservations)
    if not rows:
        return 0
    Reservation.objects.filter(pk__in=[row.pk for row in rows]).delete()
    used: dict[tuple[str, date], Amount] = defaultdict(Amount)
    for row in rows:
        used[row.agent_id, row.day] += Amount(row.tokens, row.cost)
    for (agent_id, day), amount in used.items():
        _spend(agent_id, day, amount)
        notify_spending(agent_id, day)
    if run_id is not None:
        input_tokens = sum(row.input_tokens for row in rows)
        output_tokens = sum(row.tokens for row in rows) - input_tokens
        run = AgentRun.objects.filter(pk=run_id)
        run.update(
            input_tokens=F("input_tokens") + input_tokens,
            output_tokens=F("output_tokens") + output_tokens,
        )
        cost = sum((row.cost for row in rows), Decimal(0))
        if cost:
            run.update(cost=Coalesce(F("cost"), Decimal(0)) + cost)
    return len(rows)


def _spend(agent_id: str, day: date, amount: Amount) -> None:
    """Add to the spending of a day. The caller has locked the budgets."""
    row, _is_new = Spending.objects.get_or_create(agent_id=agent_id, day=day)
    row.tokens += amount.tokens
    row.cost += amount.cost
    row.cached_tokens += amount.cached_tokens
    row.saved += amount.saved
    row.save(update_fields=["tokens", "cost", "cached_tokens", "saved"])


def _amount(tokens: int, cost: Decimal | None) -> Amount:
    """Return the amount, limited to what the columns can store: providers may report any number."""
    money = min(max(cost or Decimal(0), Decimal(0)), _MOST_MONEY)
    return Amount(min(max(tokens, 0), _MOST_TOKENS), money.quantize(_MICRO, ROUND_HALF_UP))


NEAR_LIMIT_SHARE: Final = Decimal("0.8")
"""Share of a limit from which people are warned."""
Level = Literal["near", "reached"]


def find_notices(day: date) -> list[BudgetNotice]:
    """Return the notices of the day and its month, the more serious one by agent and period. One query."""
    found: dict[tuple[str, str], BudgetNotice] = {}
    present = Q(period="day", begins=day) | Q(period="month", begins=period_start("month", day))
    # `near` sorts before `reached`, so `reached` overwrites it.
    for notice in BudgetNotice.objects.filter(present).order_by("agent_id", "period", "level"):
        found[notice.agent_id, notice.period] = notice
    return list(found.values())


def budget_warnings(agent_id: str) -> list[str]:
    """Return sentences about budgets of an agent that are nearly or completely used up. One query."""
    return [
        notice_text(notice)
        for notice in find_notices(today())
        if notice.agent_id in (agent_id, ALL_AGENTS_KEY)
    ]


def notice_text(notice: BudgetNotice) -> str:
    """Return a notice as a sentence, in the active language."""
    values = {
        "whose": _("All agents together")
        if notice.agent_id == ALL_AGENTS_KEY
        else agent_name(notice.agent_id),
        "percent": int(NEAR_LIMIT_SHARE * 100),
    }
    is_of_day = notice.period == "day"
    if notice.level == "near":
        text = (
            _("%(whose)s used over %(percent)s %% of today’s budget.")
            if is_of_day
            else _("%(whose)s used over %(percent)s %% of this month’s budget.")
        )
    else:
        text = (
            _("%(whose)s used up today’s budget.")
            if is_of_day
            else _("%(whose)s used up this month’s budget.")
        )
    return text % values


def notify_spending(agent_id: str, day: date) -> None:
    """Record, in the caller's transaction, the limits that the spending has come near to or reached."""
    limits = limits_of(agent_id)
    if not limits:
        return
    used = spent(agent_id, day)
    for level in ("near", "reached"):
        share = NEAR_LIMIT_SHARE if level == "near" else Decimal(1)
        passed = [limit for limit in limits if limit_usage(limit, used) >= limit.most * share]
        notify_level(level, passed, used, day)


def notify_level(level: Level, limits: Iterable[Limit], used: Used, day: date) -> None:
    """Record each limit without a notice at this level in its period. The caller has locked the budgets."""
    for limit in limits:
        if limit.most <= 0:
            continue  # a limit of zero forbids all use, which is no news when reached
        _, is_new = BudgetNotice.objects.get_or_create(
            agent_id=limit.agent_id,
            period=limit.period,
            begins=period_start(limit.period, day),
            level=level,
        )
        if not is_new:
            continue
        agent_id = None if limit.agent_id == ALL_AGENTS_KEY else limit.agent_id
        system = Actor(user=SYSTEM, via="system", agent_id=agent_id or None)
        payload: JsonObject = {
            "agentId": agent_id,
            "period": limit.period,
            "unit": limit.unit,
            "limit": number(limit.most, limit.unit),
            "used": number(limit_usage(limit, used), limit.unit),
            "renewsAt": period_renewal(limit.period, day).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        outbox.record(f"agent.budget.{level}", actor=system, payload=payload)
