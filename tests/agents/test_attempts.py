"""The second attempt at a run continues the first one: its steps and usage are added."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from agents_app.models import AgentRun
from agents_app.providers.interface import StepRecord
from agents_app.runs.run_log import add_step, add_usage

pytestmark = pytest.mark.django_db


def _attempt(run: AgentRun) -> AgentRun:
    AgentRun.objects.filter(pk=run.pk).update(attempt=uuid4())
    return AgentRun.objects.get(pk=run.pk)


def _step(run: AgentRun, name: str) -> bool:
    return add_step(run, StepRecord(kind="tool", name=name, ok=True, milliseconds=1))


def test_steps_are_numbered_on_and_usage_is_added_up() -> None:
    run = AgentRun.objects.create(
        agent_id="seo-specialist", scope="dropdown", by_name="editor", via="api"
    )
    first = _attempt(run)
    assert (_step(first, "a"), _step(first, "b")) == (True, True)
    add_usage(first, input_tokens=30, output_tokens=3, cost=Decimal("0.75"))

    second = _attempt(run)
    assert _step(second, "c")
    assert not _step(first, "late"), "the run is another worker's"
    add_usage(second, input_tokens=5, output_tokens=1)
    add_usage(second, input_tokens=5, output_tokens=0, cost=Decimal("0.25"))

    run.refresh_from_db()
    assert (run.input_tokens, run.output_tokens, run.cost) == (40, 4, Decimal("1.00"))
    assert [(step.number, step.name) for step in run.steps.all()] == [(1, "a"), (2, "b"), (3, "c")]
