"""What led to a run, and what it led to: events and runs, oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agents_app.models import AgentRun
from agents_app.runs.stopping import STOPPED
from core.models import Event

LEVELS: Final = 4
"""Runs that can follow one another, and one more: the limit may once have been another."""
_MOST: Final = 200
_CAUSES: Final = ["__".join(["cause_run"] * level) for level in range(1, LEVELS + 1)]


@dataclass(frozen=True, slots=True)
class Link:
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
    """`causes` ends with what began the run; its first link says who began it all."""

    causes: Sequence[Link]
    run: AgentRun
    caused: Sequence[Link]


def chain_of(run: AgentRun) -> Chain:
    """The chain of a run, up to the first cause that is still there. Few queries, however long it is."""
    return Chain(_causes(run), run, _caused(run))


def _causes(run: AgentRun) -> list[Link]:
    with_events = ["event", *_CAUSES, *(f"{path}__event" for path in _CAUSES)]
    here: AgentRun | None = AgentRun.objects.select_related(*with_events).get(pk=run.pk)
    found: list[Link] = []
    for _ in range(LEVELS + 1):
        if here is None:
            break
        if here.pk != run.pk:
            found.append(Link(run=here))
        if here.event is not None:
            found.append(Link(event=here.event))
        here = here.cause_run if len(found) < 2 * LEVELS else None
    return found[::-1]


def _caused(run: AgentRun) -> list[Link]:
    runs: list[AgentRun] = []
    level: list[AgentRun] = [run]
    for _ in range(LEVELS):
        rows = AgentRun.objects.filter(cause_run__in=[row.pk for row in level])
        level = list(rows.select_related("event").order_by("created_at", "pk")[:_MOST])
        runs += level
        if not level or len(runs) >= _MOST:
            break
    events = {row.event.pk: row.event for row in runs if row.event is not None}
    events |= {event.pk: event for event in _stops([run, *runs])}
    links = [Link(run=row) for row in runs[:_MOST]]
    links += [Link(event=event) for event in events.values()]
    return sorted(links, key=lambda link: (link.at, link.run is not None))


def _stops(runs: Iterable[AgentRun]) -> Iterable[Event]:
    return Event.objects.filter(name=STOPPED, run_id__in=[str(row.pk) for row in runs])
