"""The steps of a run over its time: when each began, how long it took, where the time went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agents_app.models import AgentRun, RunStep
from agents_app.progress.labels import format_duration, step_kind, step_label

_NARROWEST: Final = 0.4
"""Percent, so that a quick step can still be seen."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One step. `x` and `width` are parts of the whole time, in percent, as the chart has them."""

    number: int
    name: str
    kind: str
    kind_label: str
    is_ok: bool
    began: str
    took: str
    x: str
    width: str
    summary: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """All steps, and the whole time from the begin of the run to its end. `waited` is what no step accounts for."""

    lanes: Sequence[Lane]
    whole: str
    model: str
    tools: str


def waterfall(run: AgentRun, steps: Sequence[RunStep]) -> Waterfall | None:
    """The chart of a run; None where there is nothing to draw."""
    if not steps:
        return None
    spans = [
        (step.created_at - timedelta(milliseconds=step.milliseconds), step.created_at)
        for step in steps
    ]
    first = min([begin for begin, _ in spans] + ([run.started_at] if run.started_at else []))
    last = max([end for _, end in spans] + ([run.finished_at] if run.finished_at else []))
    whole = max((last - first).total_seconds(), 0.001)
    lanes: list[Lane] = []
    for step, (begin, _) in zip(steps, spans, strict=True):
        after = (begin - first).total_seconds()
        share = max(step.milliseconds / 1000 / whole * 100, _NARROWEST)
        x = min(max(after / whole * 100, 0.0), 100 - _NARROWEST)
        lanes.append(
            Lane(
                number=step.number,
                name=step_label(step),
                kind=step.kind,
                kind_label=step_kind(step),
                is_ok=step.ok,
                began=format_duration(max(int(after * 1000), 0)),
                took=format_duration(step.milliseconds),
                x=f"{x:.2f}%",
                width=f"{min(share, 100 - x):.2f}%",
                summary=step.summary,
            )
        )
    spent: dict[str, str] = {}
    for kind in ("model", "tool"):
        own = [step.milliseconds for step in steps if step.kind == kind]
        spent[kind] = format_duration(sum(own)) if own else ""
    return Waterfall(lanes, format_duration(int(whole * 1000)), spent["model"], spent["tool"])
