"""What a run did and used, written down as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from django.db import transaction
from django.db.models import Max

from agents_app.models import AgentRun, RunStep
from agents_app.providers.port import Usage

SUMMARY_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the attempts before this one used, and the number of their last step."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    step: int


def earlier_attempts(run: AgentRun) -> Earlier:
    """Read right after the claim: from then on the attempts before can write nothing any more."""
    last = run.steps.aggregate(last=Max("number"))["last"]
    return Earlier(run.input_tokens, run.output_tokens, run.cost, last or 0)


@transaction.atomic
def keep_usage(run: AgentRun, usage: Usage, earlier: Earlier) -> None:
    """Write down what was used, of a cancelled run too: it was spent all the same.

    `usage` is all of this attempt so far; it adds to what the attempts before it used.
    """
    kept = AgentRun.objects.filter(pk=run.pk, attempt=run.attempt).update(
        input_tokens=earlier.input_tokens + usage.input_tokens,
        output_tokens=earlier.output_tokens + usage.output_tokens,
        cost=_sum(earlier.cost, usage.cost),
    )
    if not kept:
        return
    RunStep.objects.bulk_create(
        [
            RunStep(
                run=run,
                number=number,
                kind=step.kind,
                name=step.name,
                ok=step.ok,
                milliseconds=step.milliseconds,
                summary=step.summary,
            )
            for number, step in enumerate(usage.steps, earlier.step + 1)
        ],
        ignore_conflicts=True,
    )


def _sum(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return one if other is None else other + (one or 0)


def mark_refused(run: AgentRun, refused: str) -> None:
    """Say of the latest answer that the rules of the content refused it."""
    last = run.steps.order_by("-number").first()
    if last is not None:
        run.steps.filter(pk=last.pk).update(ok=False, summary=f"refused: {refused}"[:SUMMARY_MAX])
