"""Concurrent reservations, settlements and losses: no limit is exceeded and the sums agree."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.db.models import Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_app.budgets.limits import BudgetExceeded
from agents_app.budgets.reservations import reserve, settle, settle_lost
from agents_app.models import AgentRun, Budget, BudgetNotice, Reservation, RunStatus, Spending
from proofroom.core.models import Event
from tests.content.at_once import at_once

pytestmark = pytest.mark.django_db

AGENTS = ("writer", "reader", "")
LIMIT = 100
MONEY = Decimal("0.5")
TRIES = 12

Moves = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "lose"]),
        st.sampled_from(AGENTS),
        st.integers(0, 60),
        st.decimals(0, "0.3", places=6),
        st.integers(0, 5),
    ),
    max_size=25,
)


def budget() -> None:
    Budget.objects.create(agent_id="", tokens_per_day=60)
    Budget.objects.create(agent_id="writer", cost_per_month=Decimal("0.3"))
    Budget.objects.create(agent_id="*", tokens_per_month=LIMIT, cost_per_day=MONEY)


def in_all(agent_id: str | None = None) -> tuple[int, Decimal]:
    tokens, cost = 0, Decimal(0)
    for model in (Spending, Reservation):
        rows = model._default_manager.all()
        if agent_id is not None:
            rows = rows.filter(agent_id=agent_id)
        sums = rows.aggregate(tokens=Sum("tokens"), cost=Sum("cost"))
        tokens += sums["tokens"] or 0
        cost += sums["cost"] or Decimal(0)
    return tokens, cost.quantize(Decimal("0.000001"))


def running(agent_id: str) -> AgentRun:
    return AgentRun.objects.create(
        agent_id=agent_id,
        scope="global",
        by_name="admin",
        via="api",
        status=RunStatus.RUNNING,
        attempt=uuid4(),
    )


@settings(max_examples=15)
@given(Moves)
def test_sums_agree_after_any_moves_and_no_limit_is_passed(
    moves: list[tuple[str, str, int, Decimal, int]],
) -> None:
    for model in (Reservation, Spending, BudgetNotice, Budget, AgentRun):
        model._default_manager.all().delete()
    play(moves)


def play(moves: list[tuple[str, str, int, Decimal, int]]) -> None:
    budget()
    runs = {agent_id: running(agent_id) for agent_id in AGENTS}
    under_way: list[Reservation] = []
    spent = {agent_id: [0, Decimal(0)] for agent_id in AGENTS}
    for move, agent_id, tokens, cost, part in moves:
        if move == "reserve":
            try:
                made = reserve(agent_id=agent_id, run=runs[agent_id], tokens=tokens, cost=cost)
            except BudgetExceeded:
                continue
            under_way.append(made)
        elif move == "settle" and under_way:
            one = under_way.pop(part % len(under_way))
            # A provider's answer is at most as long as allowed.
            used = (one.tokens * part // 5, (one.cost * part / 5).quantize(Decimal("0.000001")))
            assert settle(one, tokens=used[0], cost=used[1])
            assert not settle(one, tokens=used[0], cost=used[1])
            add(spent, one.agent_id, *used)
        elif move == "lose":
            for one in [item for item in under_way if item.agent_id == agent_id]:
                under_way.remove(one)
                add(spent, agent_id, one.tokens, one.cost)
            settle_lost(runs[agent_id])
        check(spent, under_way)


def add(spent: dict[str, list[int | Decimal]], agent_id: str, tokens: int, cost: Decimal) -> None:
    spent[agent_id] = [spent[agent_id][0] + tokens, spent[agent_id][1] + cost]


def check(spent: dict[str, list[int | Decimal]], under_way: list[Reservation]) -> None:
    assert set(Reservation.objects.all()) == set(under_way)
    for agent_id in AGENTS:
        kept = Spending.objects.filter(agent_id=agent_id).values_list("tokens", "cost").first()
        assert list(kept or (0, Decimal(0))) == spent[agent_id]
        assert agent_id == "writer" or in_all(agent_id)[0] <= 60
    assert in_all("writer")[1] <= Decimal("0.3")
    tokens, cost = in_all()
    assert tokens <= LIMIT
    assert cost <= MONEY


def ask_and_settle(agent_id: str) -> int:
    """Send several requests, each settled for half of its reservation. Return the number of allowed ones."""
    allowed = 0
    for _ in range(TRIES):
        try:
            made = reserve(agent_id=agent_id, run=None, tokens=10, cost=Decimal("0.02"))
        except BudgetExceeded:
            continue
        assert in_all()[0] <= LIMIT
        settle(made, tokens=5, cost=Decimal("0.01"))
        allowed += 1
    return allowed


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_workers_at_once_never_pass_a_limit_nor_stand_in_each_others_way() -> None:
    budget()

    allowed = at_once(*[lambda name=name: ask_and_settle(name) for name in (*AGENTS, "writer")])
    allowed.append(ask_and_settle("writer"))  # the others may have been refused for each other

    assert all(isinstance(number, int) for number in allowed), allowed
    tokens, cost = in_all()
    assert (tokens, cost) == (5 * sum(allowed), Decimal("0.01") * sum(allowed))
    assert LIMIT - 10 < tokens <= LIMIT
    assert not Reservation.objects.exists()
    assert Event.objects.filter(name="agent.budget.reached", agent_id="").count() == 1


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_request_that_ends_while_its_worker_is_given_up_is_counted_once() -> None:
    run = running("writer")
    lost = reserve(agent_id="writer", run=run, tokens=50, cost=None)

    def give_up() -> int:
        with transaction.atomic():
            AgentRun.objects.filter(pk=run.pk).update(attempt=None, status=RunStatus.QUEUED)
            return settle_lost(run)

    done = at_once(give_up, lambda: settle(lost, tokens=7, cost=None))

    assert done in ([1, False], [0, True])
    assert in_all()[0] == (50 if done[0] else 7)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="of the embedded database")
@pytest.mark.django_db(transaction=True)
def test_threads_of_a_worker_share_the_embedded_database_without_passing_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget()
    # The tests' database is in memory and locks differently.
    file = tmp_path / "cms.sqlite3"
    with closing(sqlite3.connect(file)) as copy:
        connection.connection.backup(copy)
    monkeypatch.setitem(connections.settings["default"], "NAME", str(file))

    allowed = at_once(*[lambda name=name: ask_and_settle(name) for name in AGENTS])
    allowed += at_once(lambda: ask_and_settle("writer"))  # as above

    assert all(isinstance(number, int) for number in allowed), allowed
    assert at_once(in_all) == [(5 * sum(allowed), Decimal("0.01") * sum(allowed))]
    assert at_once(lambda: LIMIT - 10 < in_all()[0] <= LIMIT) == [True]
