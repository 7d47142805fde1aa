"""Chains of runs: the causes and consequences of a run, and the limit of their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from django.db import transaction

from agents_app.models import AgentRun, StoppedChain
from agents_app.runs.scopes import visible_runs
from content.store.scopes import filter_by_visible_post
from proofroom.core import outbox
from proofroom.core.actor import MAX_HOPS, SYSTEM, Actor
from proofroom.core.content_scope import reading_scopes
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.core.models import Event

CHAIN_STOPPED: Final = "agent.chain.stopped"
_P = ParamSpec("_P")
_R = TypeVar("_R")


class TooManyHops(RuleViolation):
    """A run that would exceed the maximum length of its chain."""

    code = "hop_limit"

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        super().__init__(f"{agent_id} is not run: at most {MAX_HOPS} runs may start one another.")


def check_hop_limit(agent_id: str, hop: int) -> None:
    """Raise `TooManyHops` if the run would exceed the maximum length of its chain."""
    if hop > MAX_HOPS:
        raise TooManyHops(agent_id)


def records_stopped_chains(start: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function that starts a run, outside its transaction, to record a refusal at the limit."""

    @wraps(start)
    def begin(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return start(*args, **kwargs)
        except TooManyHops as error:
            event, actor = kwargs.get("event"), kwargs.get("actor")
            cause = event if isinstance(event, Event) else actor
            record_stopped_chain(error, str(getattr(cause, "run_id", None) or ""))
            raise

    return begin


def record_stopped_chain(error: TooManyHops, run_id: str) -> None:
    """Record that a chain was stopped after the run of that id, unless that was recorded before.

    Code that rolls back the transaction of the refusal calls this again after it.
    """
    last = find_by_id(AgentRun.objects, run_id)
    if last is not None:
        _record(last, error.agent_id)


@transaction.atomic
def _record(last: AgentRun, agent_id: str) -> None:
    first = last
    for _ in range(MAX_HOPS + 1):
        if first.cause_run is None:
            break
        first = first.cause_run
    # The cause of the chain: the event of its first run, or that run itself.
    root = f"event:{first.event_id}" if first.event_id is not None else f"run:{first.pk}"
    _, is_new = StoppedChain.objects.get_or_create(root=root)
    if not is_new:
        return
    title = last.post.title if last.post is not None else ""
    payload: JsonObject = {
        "agentId": agent_id,
        "runId": str(last.pk),
        "root": root,
        "limit": MAX_HOPS,
        "title": title,
    }
    actor = Actor(
        user=SYSTEM,
        via="system",
        run_id=str(last.pk),
        event_id=last.event_id,
        hop=last.hop + 1,
    )
    outbox.record(CHAIN_STOPPED, actor=actor, post_id=last.post_id, payload=payload)


CHAIN_LEVELS: Final = 4
"""Maximum number of runs in a chain, plus one because the limit may have been higher in the past."""
_MAX_LINKS: Final = 200
# Loads all ancestors with one query instead of one per level.
_CAUSES: Final = ["__".join(["cause_run"] * level) for level in range(1, CHAIN_LEVELS + 1)]


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One event or one run of a chain."""

    event: Event | None = None
    run: AgentRun | None = None

    @property
    def at(self) -> datetime:
        found = self.run or self.event
        if found is None:
            raise ValueError("a link is an event or a run")
        return found.created_at


@dataclass(frozen=True, slots=True)
class Chain:
    """`causes` ends with the direct cause of the run; its first link names the initiator."""

    causes: Sequence[ChainLink]
    run: AgentRun
    caused: Sequence[ChainLink]


def chain_of(run: AgentRun, actor: Actor) -> Chain:
    """Return the chain of a run, from its first existing cause. A constant number of queries.

    Runs and events about posts the actor may not see are omitted.
    """
    with_events = ["event", *_CAUSES, *(f"{path}__event" for path in _CAUSES)]
    here: AgentRun | None = AgentRun.objects.select_related(*with_events).get(pk=run.pk)
    causes: list[ChainLink] = []
    for _ in range(CHAIN_LEVELS + 1):
        if here is None:
            break
        if here.pk != run.pk:
            causes.append(ChainLink(run=here))
        if here.event is not None:
            causes.append(ChainLink(event=here.event))
        # Bounded by what the query above has loaded, so that no further query is sent.
        here = here.cause_run if len(causes) < 2 * CHAIN_LEVELS else None
    runs: list[AgentRun] = []
    level: list[AgentRun] = [run]
    for _ in range(CHAIN_LEVELS):
        rows = AgentRun.objects.filter(cause_run__in=[row.pk for row in level])
        level = list(rows.select_related("event").order_by("created_at", "pk")[:_MAX_LINKS])
        runs += level
        if not level or len(runs) >= _MAX_LINKS:
            break
    events = {row.event.pk: row.event for row in runs if row.event is not None}
    ids = [str(row.pk) for row in (run, *runs)]
    stops = Event.objects.filter(name=CHAIN_STOPPED, run_id__in=ids)
    events |= {event.pk: event for event in stops}
    caused = [ChainLink(run=row) for row in runs[:_MAX_LINKS]]
    caused += [ChainLink(event=event) for event in events.values()]
    caused.sort(key=lambda link: (link.at, link.run is not None))
    return Chain(_only_visible(causes[::-1], actor), run, _only_visible(caused, actor))


def _only_visible(links: Sequence[ChainLink], actor: Actor) -> Sequence[ChainLink]:
    if not reading_scopes(actor):
        return links
    ids = {link.run.pk for link in links if link.run is not None}
    runs = AgentRun.objects.filter(pk__in=ids)
    seen = set(visible_runs(runs, actor, actor.user.pk).values_list("pk", flat=True))
    event_ids = {link.event.pk for link in links if link.event is not None}
    events = Event.objects.filter(pk__in=event_ids)
    visible = filter_by_visible_post(events, actor, "post_id", include_without_post=True)
    visible_events = set(visible.values_list("pk", flat=True))
    return [
        link
        for link in links
        if (link.run is None or link.run.pk in seen)
        and (link.event is None or link.event.pk in visible_events)
    ]
