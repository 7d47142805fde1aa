"""Looking at addresses, for AI clients that look for a fault."""

from __future__ import annotations

from typing import Any, cast

from pydantic import Field

from core.actor import Actor
from core.json import JsonObject
from core.tools import Arguments, Result, tool
from seo import presenters
from seo.models import ADDRESS_MAX
from seo.tracing import Outcome, StepName, trace


class TraceUrlResolution(Arguments):
    path: str = Field(min_length=1, max_length=ADDRESS_MAX, description="Such as /de/blog/x.")


class TracedStep(Result):
    """`found` says whether the step decided; `facts` are there where it has any."""

    step: StepName
    found: bool
    sentence: str
    facts: dict[str, Any] | None = None


class TracedAddress(Result):
    path: str
    outcome: Outcome
    status: int
    steps: list[TracedStep]
    location: str | None = None


@tool(
    title="Trace how an address is resolved",
    kind="read",
    permission="seo.manage",
    arguments=TraceUrlResolution,
    group="diagnostics",
    result=TracedAddress,
)
def trace_url_resolution(actor: Actor, arguments: TraceUrlResolution) -> JsonObject:
    """Why an address of the site answers as it does: each step with its language, the post found or why not, the
    redirect, and the URL patterns that were tried."""
    found = presenters.trace(trace(arguments.path, actor))
    steps = cast("list[JsonObject]", found["steps"])
    for step in steps:
        step["facts"] = _given(cast(JsonObject, step["facts"]))
    return _given({**found, "steps": [_given(step) for step in steps]})


def _given(values: JsonObject) -> JsonObject:
    """Without what says nothing."""
    return {name: value for name, value in values.items() if value not in (None, {}, [])}
