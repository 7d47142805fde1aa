"""Chains of runs that are stopped at the hop limit: people are told, once of each chain."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar
from uuid import UUID

from django.db import transaction

from agents_app.models import AgentRun, StoppedChain
from core import events
from core.actor import Actor, Visitor
from core.errors import RuleViolation
from core.json import JsonObject
from core.models import Event

STOPPED: Final = "agent.chain.stopped"
HOP_LIMIT: Final = 3
"""The most runs that follow one another in a chain of runs started by runs."""
_P = ParamSpec("_P")
_R = TypeVar("_R")


class TooManyHops(RuleViolation):
    """A run that would be one too many in its chain."""

    code = "hop_limit"

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        super().__init__(f"{agent_id} is not run: at most {HOP_LIMIT} runs may start one another.")


def check_hop(agent_id: str, hop: int) -> None:
    """Raise `TooManyHops` where the run would be one too many."""
    if hop > HOP_LIMIT:
        raise TooManyHops(agent_id)


def tells_of_stops(start: Callable[_P, _R]) -> Callable[_P, _R]:
    """Around what begins a run, outside its transaction: a refusal at the limit is told."""

    @wraps(start)
    def begin(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return start(*args, **kwargs)
        except TooManyHops as error:
            event, actor = kwargs.get("event"), kwargs.get("actor")
            cause = event if isinstance(event, Event) else actor
            tell_of_stop(error, str(getattr(cause, "run_id", None) or ""))
            raise

    return begin


def tell_of_stop(error: TooManyHops, run_id: str) -> None:
    """Record that a chain was stopped after its run of that id, unless people know of it.

    Whoever undoes the transaction of the refusal calls this again after it.
    """
    last = _run(run_id)
    if last is not None:
        _record(last, error.agent_id)


@transaction.atomic
def _record(last: AgentRun, agent_id: str) -> None:
    root = _root(last)
    _, is_new = StoppedChain.objects.get_or_create(root=root)
    if not is_new:
        return
    title = last.post.title if last.post is not None else ""
    payload: JsonObject = {
        "agentId": agent_id,
        "runId": str(last.pk),
        "root": root,
        "limit": HOP_LIMIT,
        "title": title,
    }
    actor = Actor(
        user=Visitor(username="system", role="system"),
        via="system",
        run_id=str(last.pk),
        event_id=last.event_id,
        hop=last.hop + 1,
    )
    events.record(STOPPED, actor=actor, post_id=last.post_id, payload=payload)


def _root(last: AgentRun) -> str:
    """What began the chain: the event that began its first run, or that run itself."""
    first = last
    for _ in range(HOP_LIMIT + 1):
        if first.cause_run is None:
            break
        first = first.cause_run
    return f"event:{first.event_id}" if first.event_id is not None else f"run:{first.pk}"


def _run(run_id: str) -> AgentRun | None:
    try:
        return (
            AgentRun.objects.select_related("post").filter(pk=UUID(run_id)).first()
            if run_id
            else None
        )
    except ValueError:
        return None
