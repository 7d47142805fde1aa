"""The second attempt at a run goes on where the first one ended: its steps and what it used are added."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from agents_app.models import AgentRun
from agents_app.providers.port import Step, Usage
from agents_app.running.steps import earlier_attempts, keep_usage

pytestmark = pytest.mark.django_db


def _attempt(run: AgentRun) -> AgentRun:
    AgentRun.objects.filter(pk=run.pk).update(attempt=uuid4())
    return AgentRun.objects.get(pk=run.pk)


def _used(*names: str, cost: str | None) -> Usage:
    steps = [Step(kind="tool", name=name, ok=True, milliseconds=1, summary="") for name in names]
    return Usage(10 * len(names), len(names), Decimal(cost) if cost else None, steps)


def test_steps_are_numbered_on_and_usage_is_added_up() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="editor", via="api"
    )
    first = _attempt(run)
    before = earlier_attempts(first)
    keep_usage(first, _used("a", cost="0.5"), before)
    keep_usage(first, _used("a", "b", cost="0.75"), before)

    second = _attempt(run)
    earlier = earlier_attempts(second)
    keep_usage(first, _used("a", "b", "late", cost="9"), before)
    keep_usage(second, _used("c", cost=None), earlier)
    keep_usage(second, _used("c", "d", cost="0.25"), earlier)

    run.refresh_from_db()
    assert (run.input_tokens, run.output_tokens, run.cost) == (40, 4, Decimal("1.00"))
    assert [(step.number, step.name) for step in run.steps.all()] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
        (4, "d"),
    ]
