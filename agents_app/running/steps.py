"""What a run did and used, written down at once, in one numbering for questions to the model and calls of tools."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from django.db import transaction
from django.db.models import DecimalField, F, Max, Value
from django.db.models.functions import Coalesce

from agents_app.models import AgentRun, RunStep
from agents_app.providers.port import Step
from agents_app.runs.events import record_step

SUMMARY_MAX: Final = 1000
NAME_MAX: Final = 120


@transaction.atomic
def add_step(run: AgentRun, step: Step) -> bool:
    """Write down one more step, of a run that was cancelled meanwhile too.

    Answers False, and writes nothing, where another worker has the run.
    """
    # Locked, so that no two steps get one number.
    rows = AgentRun.objects.select_for_update(no_key=True).filter(pk=run.pk)
    if rows.values_list("attempt", flat=True).first() != run.attempt:
        return False
    last = RunStep.objects.filter(run_id=run.pk).aggregate(last=Max("number"))["last"] or 0
    RunStep.objects.create(
        run_id=run.pk,
        number=last + 1,
        kind=step.kind,
        name=step.name[:NAME_MAX],
        ok=step.ok,
        milliseconds=step.milliseconds,
        summary=step.summary[:SUMMARY_MAX],
    )
    record_step(run)
    return True


def add_usage(
    run: AgentRun, *, input_tokens: int = 0, output_tokens: int = 0, cost: Decimal | None = None
) -> None:
    """Add what was used to what the run used so far; a cost that nobody knows adds nothing."""
    spent: dict[str, object] = {
        "input_tokens": F("input_tokens") + input_tokens,
        "output_tokens": F("output_tokens") + output_tokens,
    }
    if cost is not None:
        none = Value(Decimal(0), output_field=DecimalField(max_digits=12, decimal_places=6))
        spent["cost"] = Coalesce(F("cost"), none) + cost
    AgentRun.objects.filter(pk=run.pk).update(**spent)


def mark_refused(run: AgentRun, refused: str) -> None:
    """Say of the latest answer that the rules of the content refused it."""
    last = run.steps.filter(kind="model").order_by("-number").first()
    if last is not None:
        run.steps.filter(pk=last.pk).update(ok=False, summary=f"refused: {refused}"[:SUMMARY_MAX])
