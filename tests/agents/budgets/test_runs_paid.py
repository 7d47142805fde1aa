"""Runs are paid from their budget: requests beyond it are not sent, usage is counted in both places."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from agents_app.budgets.limits import today
from agents_app.models import AgentRun, Budget, Reservation, Spending
from agents_app.runs.creation import create_run
from proofroom.core.models import Event
from tests import make
from tests.agents.asking import execute
from tests.fake_provider import Reply

pytestmark = pytest.mark.django_db

GOOD = Reply({"post": {"metaTitle": "Better"}, "summary": "Done."})
NONE = Reply({"post": {"metaTitle": 7}})


def spent() -> tuple[int, Decimal]:
    row = Spending.objects.get(agent_id="seo-specialist", day=today())
    return row.tokens, row.cost


def test_a_run_and_the_budget_of_its_agent_count_the_same(openai: Any) -> None:
    openai(NONE, GOOD)

    run = execute(make.post())

    assert run.status == "succeeded", run.error
    assert spent() == (run.input_tokens + run.output_tokens, run.cost)
    assert (run.input_tokens, run.output_tokens) == (2000, 200)
    assert run.cost is not None
    assert run.cost > 0
    assert not Reservation.objects.exists()


def test_a_failed_question_was_paid_all_the_same(openai: Any) -> None:
    openai(NONE, NONE, NONE)

    run = execute(make.post())

    assert run.status == "failed"
    assert spent() == (3300, run.cost)


def test_a_run_beyond_its_budget_begins_and_fails_with_the_sentence_before_anything_is_asked(
    openai: Any,
) -> None:
    fake = openai(GOOD)
    Budget.objects.create(agent_id="", tokens_per_day=3000)
    post = make.post()

    run = execute(post)

    assert run.status == "failed"
    assert run.error.startswith(
        "The budget of the agent seo-specialist for this day is not enough. "
        "Used or reserved: 0 tokens of 3,000 tokens"
    )
    assert "The budget resets on" in run.error
    assert fake.asked == []
    assert not Spending.objects.exists()
    assert not make.layers(post).ai_review.exists
    assert Event.objects.filter(name="agent.budget.reached").count() == 1
    # Starting one is still allowed, because the budget may change by then.
    create_run(agent_id="seo-specialist", scope="dropdown", actor=make.actor(), post_id=post.pk)
    assert AgentRun.objects.filter(status="queued").count() == 1


def test_what_is_used_up_in_the_middle_ends_the_run_there(openai: Any) -> None:
    fake = openai(NONE, GOOD)
    Budget.objects.create(agent_id="*", tokens_per_day=1)
    post = make.post()
    needed = re.search(r"up to ([\d,]+) tokens", execute(post).error)
    assert needed is not None
    # Enough for one request with an answer of 1,100 tokens, but not for another one.
    Budget.objects.update(tokens_per_day=int(needed[1].replace(",", "")) + 500)

    run = execute(post)

    assert run.status == "failed"
    assert "all agents together" in run.error
    assert len(fake.asked) == 1
    assert spent() == (1100, run.cost)
    assert not Reservation.objects.exists()
    assert not make.layers(post).ai_review.exists


def test_the_demo_is_free_where_money_is_used_up() -> None:
    Budget.objects.create(agent_id="*", cost_per_month=Decimal(0), tokens_per_month=0)
    assert execute(make.post()).status == "succeeded"
