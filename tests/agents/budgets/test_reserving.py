"""The maximum usage of a request is reserved before it, and settled after it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from agents_app.budgets import reservations
from agents_app.budgets.limits import BudgetExceeded
from agents_app.budgets.reservations import reserve, settle, settle_abandoned, settle_lost
from agents_app.models import AgentRun, Budget, Reservation, RunStatus, Spending
from agents_app.providers.interface import ProviderStopped
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.models import Event

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 22)


@pytest.fixture(autouse=True)
def the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, DAY)


def at(monkeypatch: pytest.MonkeyPatch, day: date) -> None:
    moment = datetime(day.year, day.month, day.day, 23, 59, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: moment)


def ask(agent_id: str = "writer", tokens: int = 100, cost: str = "0") -> Reservation:
    return reserve(agent_id=agent_id, run=None, tokens=tokens, cost=Decimal(cost))


def spend(agent_id: str = "writer", tokens: int = 100, cost: str = "0") -> None:
    settle(ask(agent_id, tokens, cost), tokens=tokens, cost=Decimal(cost))


def spendings() -> list[tuple[str, date, int, Decimal]]:
    rows = Spending.objects.order_by("day", "agent_id")
    return [(row.agent_id, row.day, row.tokens, row.cost) for row in rows]


def running(**values: object) -> AgentRun:
    return AgentRun.objects.create(
        agent_id="writer",
        scope="global",
        by_name="admin",
        via="api",
        status=RunStatus.RUNNING,
        attempt=uuid4(),
        **values,
    )


def test_what_was_used_takes_the_place_of_what_was_reserved() -> None:
    reservation = reserve(agent_id="writer", run=None, tokens=9000, cost=Decimal("0.0900004"))
    assert (reservation.tokens, reservation.cost, reservation.day) == (9000, Decimal("0.09"), DAY)

    assert settle(reservation, tokens=1200, cost=Decimal("0.0123456"))

    assert not Reservation.objects.exists()
    assert spendings() == [("writer", DAY, 1200, Decimal("0.012346"))]


def test_it_is_settled_once() -> None:
    reservation = ask()
    assert settle(reservation, tokens=10, cost=None)
    assert not settle(reservation, tokens=10, cost=None)
    assert spendings() == [("writer", DAY, 10, Decimal(0))]


def test_a_request_that_could_go_beyond_the_day_is_refused_and_says_when_it_starts_anew() -> None:
    Budget.objects.create(agent_id="writer", tokens_per_day=1000)
    spend(tokens=600)
    ask(tokens=300)

    with pytest.raises(BudgetExceeded) as refused:
        ask(tokens=101)

    assert str(refused.value) == (
        "The budget of the agent writer for this day is not enough. Used or reserved: 900 tokens of "
        "1,000 tokens. The request may need up to 101 tokens. The budget resets on 2026-11-23 at 00:00 UTC."
    )
    assert Reservation.objects.count() == 1
    assert ask(tokens=100).tokens == 100
    assert ask("other", tokens=10**6).tokens == 10**6


def test_a_months_spending_is_the_sum_of_its_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Budget.objects.create(agent_id="writer", cost_per_month=Decimal("1"))
    for day, cost in ((date(2026, 10, 31), "0.99"), (date(2026, 11, 1), "0.40")):
        at(monkeypatch, day)
        spend(cost=cost)
    at(monkeypatch, date(2026, 11, 30))
    spend(cost="0.5")

    with pytest.raises(
        BudgetExceeded, match=r"\$0\.90 of \$1\.00.* resets on 2026-12-01"
    ) as refused:
        ask(cost="0.100001")

    assert refused.value.used == Decimal("0.9")
    at(monkeypatch, date(2026, 12, 1))
    assert ask(cost="1").cost == 1


def test_a_december_ends_with_the_year(monkeypatch: pytest.MonkeyPatch) -> None:
    Budget.objects.create(agent_id="writer", tokens_per_month=1)
    at(monkeypatch, date(2026, 12, 31))
    with pytest.raises(BudgetExceeded, match=r"resets on 2027-01-01"):
        ask(tokens=2)


def test_what_began_before_midnight_counts_for_its_own_day(monkeypatch: pytest.MonkeyPatch) -> None:
    Budget.objects.create(agent_id="writer", tokens_per_day=1000)
    reservation = ask(tokens=1000)
    at(monkeypatch, date(2026, 11, 23))
    ask(tokens=1000)

    settle(reservation, tokens=700, cost=None)

    assert spendings() == [("writer", DAY, 700, Decimal(0))]


def test_a_budget_replaces_the_default_and_the_total_applies_too() -> None:
    Budget.objects.create(agent_id="", tokens_per_day=100, tokens_per_month=150)
    Budget.objects.create(agent_id="writer", tokens_per_day=500)
    Budget.objects.create(agent_id="*", tokens_per_day=220)

    with pytest.raises(BudgetExceeded, match="the agent reader for this day"):
        ask("reader", tokens=101)
    with pytest.raises(BudgetExceeded, match="the agent writer for this month"):
        ask("writer", tokens=151)
    ask("writer", tokens=150)
    ask("reader", tokens=70)
    with pytest.raises(BudgetExceeded, match="all agents together for this day"):
        ask("reader", tokens=1)


def test_what_costs_nothing_is_not_held_to_a_limit_of_money() -> None:
    Budget.objects.create(agent_id="writer", cost_per_day=Decimal(0), tokens_per_day=100)
    assert ask(tokens=100, cost="0").tokens == 100
    with pytest.raises(BudgetExceeded, match=r"\$0\.00 of \$0\.00"):
        ask(tokens=0, cost="0.000001")


@pytest.mark.parametrize(("tokens", "cost"), [(-5, "-1"), (10**30, "1e30"), (0, "0.0000001")])
def test_no_figure_of_a_provider_breaks_the_books(tokens: int, cost: str) -> None:
    settle(ask(), tokens=tokens, cost=Decimal(cost))
    (row,) = Spending.objects.all()
    assert 0 <= row.tokens <= 2**30
    assert 0 <= row.cost < 10**6


def test_a_worker_that_lost_its_run_makes_no_further_request() -> None:
    run = running()
    AgentRun.objects.update(attempt=uuid4())
    with pytest.raises(ProviderStopped):
        reserve(agent_id="writer", run=run, tokens=1, cost=None)
    assert not Reservation.objects.exists()


def test_what_a_dead_worker_had_reserved_counts_as_used_by_its_run_too() -> None:
    run = running(input_tokens=10, output_tokens=20)
    lost = reserve(agent_id="writer", run=run, tokens=900, cost=Decimal("0.5"), input_tokens=700)

    assert settle_lost(run) == 1
    assert settle_lost(run) == 0
    assert not settle(lost, tokens=5, cost=None), "its worker was only slow"

    run.refresh_from_db()
    assert (run.input_tokens, run.output_tokens, run.cost) == (710, 220, Decimal("0.5"))
    assert spendings() == [("writer", DAY, 900, Decimal("0.5"))]


def test_the_sweep_settles_what_nobody_can_settle_any_more(
    settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    run = running()
    old = timezone.now() - timedelta(seconds=361)
    for row in (
        reserve(agent_id="writer", run=run, tokens=5, cost=None),
        reserve(agent_id="", run=None, tokens=0, cost=Decimal("0.04")),
    ):
        Reservation.objects.filter(pk=row.pk).update(created_at=old)
    kept = reserve(agent_id="writer", run=run, tokens=7, cost=None)

    assert settle_abandoned() == 2

    assert list(Reservation.objects.all()) == [kept]
    run.refresh_from_db()
    assert (run.output_tokens, run.cost) == (5, None)
    assert [row[2:] for row in spendings()] == [(0, Decimal("0.04")), (5, Decimal(0))]


def test_a_run_that_cannot_be_settled_keeps_no_other_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    broken, other = running(), running()
    for run in (broken, other):
        reserve(agent_id="writer", run=run, tokens=5, cost=None)
    Reservation.objects.update(created_at=timezone.now() - timedelta(seconds=361))
    settle_as_used = reservations._settle_as_used

    def failing(run_id: UUID | None, rows: QuerySet[Reservation]) -> int:
        if run_id == broken.pk:
            raise ZeroDivisionError
        return settle_as_used(run_id, rows)

    monkeypatch.setattr(reservations, "_settle_as_used", failing)

    with pytest.raises(StepsFailed, match=str(broken.pk)):
        settle_abandoned()

    assert [row.run_id for row in Reservation.objects.all()] == [broken.pk]
    other.refresh_from_db()
    assert other.output_tokens == 5


def told() -> list[tuple[str, str, str | None, str]]:
    rows = Event.objects.filter(name__startswith="agent.budget.").order_by("pk")
    return [(row.name, row.agent_id, row.payload["agentId"], row.payload["period"]) for row in rows]


def test_notifications_at_four_fifths_and_at_the_limit_are_sent_once() -> None:
    Budget.objects.create(agent_id="writer", tokens_per_day=1000)
    spend(tokens=799)
    assert told() == []
    spend(tokens=1)
    spend(tokens=1)
    assert told() == [("agent.budget.near", "writer", "writer", "day")]
    for _ in range(2):
        with pytest.raises(BudgetExceeded):
            ask(tokens=500)

    assert told()[1:] == [("agent.budget.reached", "writer", "writer", "day")]
    event = Event.objects.get(name="agent.budget.reached")
    assert (event.actor_name, event.via) == ("system", "system")
    assert event.payload == {
        "agentId": "writer",
        "period": "day",
        "unit": "tokens",
        "limit": 1000,
        "used": 801,
        "renewsAt": "2026-11-23T00:00:00Z",
    }


def test_each_agent_and_each_period_is_notified_separately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Budget.objects.create(agent_id="", tokens_per_day=100)
    Budget.objects.create(agent_id="*", tokens_per_month=350)
    spend("writer")
    spend("reader")
    at(monkeypatch, date(2026, 11, 23))
    spend("writer")

    reached, near = "agent.budget.reached", "agent.budget.near"
    assert told() == [
        (near, "writer", "writer", "day"),
        (reached, "writer", "writer", "day"),
        (near, "reader", "reader", "day"),
        (reached, "reader", "reader", "day"),
        (near, "writer", "writer", "day"),
        (near, "", None, "month"),
        (reached, "writer", "writer", "day"),
    ]
