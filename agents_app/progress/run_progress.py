"""The progress of a run as pages receive it, in the active language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC
from typing import Final
from uuid import UUID

from agents_app.models import AgentRun, RunStatus, RunStep
from agents_app.progress.labels import (
    activity_label,
    delay_message,
    format_duration,
    format_money,
    format_tokens,
    step_kind,
    step_label,
)
from proofroom.core.json import JsonObject

_COLUMNS: Final = (
    "status",
    "doing",
    "input_tokens",
    "output_tokens",
    "cost",
    "started_at",
    "finished_at",
    "heartbeat_at",
    "attempts",
    "created_at",
)


def load_runs(ids: Collection[UUID]) -> dict[UUID, AgentRun]:
    """As much of these runs as their progress needs. One query."""
    rows = AgentRun.objects.filter(pk__in=ids).only(*_COLUMNS)
    return {run.pk: run for run in rows}


def load_steps(ids: Collection[UUID]) -> dict[UUID, list[RunStep]]:
    """The steps of each, in order. One query."""
    found: dict[UUID, list[RunStep]] = defaultdict(list)
    for step in RunStep.objects.filter(run_id__in=ids).order_by("number"):
        found[step.run_id].append(step)
    return found


def progress_version(run: AgentRun) -> tuple[object, ...]:
    """Return a value that differs as soon as the run has news. A step always uses or does something."""
    used = (run.input_tokens, run.output_tokens, run.cost)
    return (run.status, run.doing, *used, run.started_at, delay_message(run))


def run_progress(run: AgentRun, steps: Iterable[RunStep]) -> JsonObject:
    """Return the progress of a run, small enough to be sent each time that it goes on."""
    used = run.input_tokens + run.output_tokens
    since = run.started_at
    return {
        "status": run.status,
        "label": str(run.get_status_display()),
        "isFinished": run.is_finished,
        "succeeded": run.status == RunStatus.SUCCEEDED,
        "doing": activity_label(run),
        "standing": delay_message(run),
        "tokens": format_tokens(used),
        "cost": format_money(run.cost),
        "startedAt": since.astimezone(UTC).isoformat() if since else None,
        "steps": step_lines(list(steps)),
    }


def step_lines(steps: Sequence[RunStep]) -> list[JsonObject]:
    """The steps as a page lists them."""
    return [
        {
            "n": step.number,
            "kind": step.kind,
            "kindLabel": step_kind(step),
            "name": step_label(step),
            "ok": step.ok,
            "ms": step.milliseconds,
            "took": format_duration(step.milliseconds),
            "summary": step.summary,
        }
        for step in steps
    ]
