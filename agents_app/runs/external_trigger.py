"""Runs that other systems begin, with the secret: as the agent with its own rights, and not too often on one post."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.utils import timezone

from agents_app.definitions.switches import account_of, enabled_agent
from agents_app.models import AgentRun
from agents_app.runs.creation import create_run
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, NotAllowed, invalid
from proofroom.core.json import JsonObject

MAX_TRIGGERS_PER_HOUR: Final = 30
"""The most runs of one agent on one post that begin so within an hour: a loop through another system is not seen."""
_HOUR: Final = timedelta(hours=1)


class TriggerRateExceeded(CmsError):
    """`seconds` is when it may be tried again."""

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def trigger_run(
    *,
    agent_id: str,
    scope: str,
    post_id: str | None,
    context: JsonObject | None,
    open_ended_context: str | None,
    caused_by: str = "",
) -> tuple[AgentRun, Actor]:
    """Begin a run, and the actor who did. `caused_by` is the run whose reaction led here, where the caller says so:
    it counts as the one before in their chain.

    Raises as `create_run`, and `TriggerRateExceeded`.
    """
    agent = enabled_agent(agent_id)
    account = account_of(agent)
    if account is None:
        raise NotAllowed(f"The account of the agent {agent.id} is switched off.")
    cause = None
    if caused_by:
        cause_id = _uuid(caused_by)
        if cause_id is None:
            raise invalid("X-Agent-Run", "X-Agent-Run must be the id of a run.")
        # None again where that run is gone.
        cause = AgentRun.objects.filter(pk=cause_id).first()
    actor = Actor(
        user=account,
        via="system",
        agent_id=agent.id,
        run_id=str(cause.pk) if cause is not None else None,
        hop=cause.hop + 1 if cause is not None else 0,
        has_read_untrusted=cause is not None and cause.has_read_untrusted,
    )
    _check_rate(agent_id, post_id)
    run = create_run(
        agent_id=agent_id,
        scope=scope,
        actor=actor,
        post_id=post_id,
        context=context,
        open_ended_context=open_ended_context,
    )
    return run, actor


def _check_rate(agent_id: str, post_id: str | None) -> None:
    post = _uuid(post_id or "")
    if post is None:
        return
    now = timezone.now()
    latest = AgentRun.objects.filter(
        post_id=post, agent_id=agent_id, via="system", event=None, created_at__gt=now - _HOUR
    )
    times = list(
        latest.order_by("-created_at").values_list("created_at", flat=True)[:MAX_TRIGGERS_PER_HOUR]
    )
    if len(times) < MAX_TRIGGERS_PER_HOUR:
        return
    seconds = max(1, round((times[-1] + _HOUR - now).total_seconds()))
    raise TriggerRateExceeded(
        f"The agent {agent_id} was begun {MAX_TRIGGERS_PER_HOUR} times on this post within an hour; "
        f"try again in {seconds} seconds.",
        seconds,
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
