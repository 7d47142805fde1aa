"""What a run did and used, written down as it goes."""

from __future__ import annotations

from typing import Final

from agents_app.models import AgentRun, RunStep
from agents_app.port import Usage

SUMMARY_MAX: Final = 1000


def keep_usage(run: AgentRun, usage: Usage) -> None:
    """Write down what was used, of a cancelled run too: it was spent all the same."""
    kept = AgentRun.objects.filter(pk=run.pk, attempt=run.attempt).update(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost=usage.cost
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
            for number, step in enumerate(usage.steps, 1)
        ],
        ignore_conflicts=True,
    )


def mark_refused(run: AgentRun, refused: str) -> None:
    """Say of the latest answer that the rules of the content refused it."""
    last = run.steps.order_by("-number").first()
    if last is not None:
        run.steps.filter(pk=last.pk).update(ok=False, summary=f"refused: {refused}"[:SUMMARY_MAX])
