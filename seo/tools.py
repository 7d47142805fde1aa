"""The tool that traces an address, for AI clients that diagnose a problem."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.core.tools import Arguments, Result, tool
from proofroom.core.validation.limits import URL_MAX
from seo.trace import Outcome, StepName, trace_address


class TraceUrlResolution(Arguments):
    path: str = Field(min_length=1, max_length=URL_MAX, description="Such as /de/blog/x.")


class TracedStep(Result):
    """`found`: the step decided the response; `facts` is absent if empty."""

    step: StepName
    found: bool
    sentence: str
    facts: dict[str, Any] | None = None


class TracedAddress(Result):
    """`near`: addresses of published posts that are spelled similarly, if nothing is at the path."""

    path: str
    outcome: Outcome
    status: int
    steps: list[TracedStep]
    location: str | None = None
    near: list[str] | None = None


@tool(
    title="Trace how an address is resolved",
    kind="read",
    permission="seo.manage",
    group="diagnostics",
    result=TracedAddress,
)
def trace_url_resolution(actor: Actor, arguments: TraceUrlResolution) -> JsonObject:
    """Explain why an address of the site responds as it does: each step with language, post, redirect and the
    URL patterns tried."""
    found = trace_address(arguments.path, actor)
    answer: JsonObject = {"path": found.path, "outcome": found.outcome, "status": found.status}
    if found.location is not None:
        answer["location"] = found.location
    if found.near:
        answer["near"] = list(found.near)
    steps: list[JsonObject] = []
    for item in found.steps:
        step: JsonObject = {"step": item.name, "found": item.found, "sentence": item.sentence}
        # Empty values are omitted.
        facts = {name: value for name, value in item.facts.items() if value not in (None, {}, [])}
        steps.append({**step, "facts": facts} if facts else step)
    return {**answer, "steps": steps}
