"""Small tools for every outcome of a call. Registered for a test only, or in a separate server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

from django.db import transaction
from pydantic import BaseModel, Field

from mcp_bridge.models import McpCall
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict
from proofroom.core.json import JsonObject
from proofroom.core.progress import check_cancelled, report
from proofroom.core.tools import Arguments, NoArguments, tool
from proofroom.core.tools import registry as tools

CANARY = "canary-3f1c-never-shown"
HALF = "written-by-sample_steps"
STEP_SECONDS = 0.01


class Edit(BaseModel, extra="forbid"):
    """A nested part: this text must not cost tokens."""

    position: int | None = None
    props: dict[str, Any] = Field(default_factory=dict)


class EchoArguments(Arguments):
    """Not part of the schema."""

    post_id: str
    limit: int = Field(default=20, ge=1, le=100)
    format: Literal["concise", "full"] = "concise"
    patch: dict[str, Any] | None = None
    edits: list[Edit] | None = Field(default=None, description="At most a few.")
    agent_id: str | None = None


class StepsArguments(Arguments):
    steps: int = 3
    writes: bool = True


def _register() -> None:
    @tool(title="Echo", kind="read", permission="posts.view", group="sample")
    def sample_echo(actor: Actor, arguments: EchoArguments) -> JsonObject:
        """Answer the arguments."""
        return {
            "arguments": arguments.model_dump(mode="json", by_alias=True),
            "user": actor.user.email,
            "via": actor.via,
            "text": "Grüße",
        }

    @tool(title="Fail", kind="stage", permission="posts.view", group="sample")
    def sample_fail(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Fail in a way nobody foresaw."""
        raise RuntimeError(CANARY)

    @tool(
        title="Conflict",
        kind="remove",
        permission="posts.ai-review.save",
        group="sample",
    )
    def sample_conflict(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Meet a newer version."""
        raise Conflict(
            "The draft changed.", code="stale_version", details={"title": ["is new"]}, current=7
        )

    @tool(
        title="People",
        kind="open",
        permission="users.manage",
        group="sample",
    )
    def sample_people(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Need what no agent has."""
        return {"reached": True}

    @tool(
        title="Diagnose",
        kind="read",
        permission="posts.view",
        group="diagnostics",
    )
    def sample_diagnose(actor: Actor, arguments: NoArguments) -> JsonObject:
        """Look inside."""
        return {"seen": True}

    @tool(
        title="Steps",
        kind="stage",
        permission="posts.view",
        group="sample",
        waits=True,
    )
    def sample_steps(actor: Actor, arguments: StepsArguments) -> JsonObject:
        """Write, then go on for a while: what is cancelled meanwhile is undone."""
        # On SQLite a transaction alone blocks every other writer.
        with transaction.atomic() if arguments.writes else nullcontext():
            if arguments.writes:
                McpCall.objects.create(tool=HALF, ms=0, ok=True, request_bytes=0, response_bytes=0)
            for step in range(1, arguments.steps + 1):
                check_cancelled()
                report(step, arguments.steps, f"step {step}")
                time.sleep(STEP_SECONDS)
        return {"done": arguments.steps}


NAMES = (
    "sample_echo",
    "sample_fail",
    "sample_conflict",
    "sample_people",
    "sample_diagnose",
    "sample_steps",
)


@contextmanager
def registered() -> Iterator[None]:
    """Register the sample tools for the block."""
    _register()
    try:
        yield
    finally:
        for name in NAMES:
            del tools._tools[name]
