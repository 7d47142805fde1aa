"""Trees of causes: which events started which runs, which events and reactions followed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from agents_app.models import AgentRun, RunReaction
from agents_app.runs.chain import CHAIN_LEVELS
from agents_app.runs.scopes import visible_runs
from content.models import Post
from content.store.scopes import filter_by_visible_post
from proofroom.core.actor import Actor
from proofroom.core.models import Event
from proofroom.core.validation.input_validation import parse_uuid

MAX_RUNS: Final = 200
"""Maximum runs in the trees; of a post the latest ones."""
_MAX_EVENTS: Final = 500
_ABOUT_RUNS: Final = ("agent.run.created", "agent.run.finished", "run.step", "content.changed")
"""Events left out, because the run itself says the same, or because they only clear caches."""

_LINKS: Final = ("cause_run", "event")


@dataclass(slots=True)
class Cause:
    """An event, a run or a reaction, with what it caused, oldest first. Exactly one of the three is set."""

    event: Event | None = None
    run: AgentRun | None = None
    reaction: RunReaction | None = None
    effects: list[Cause] = field(default_factory=list)

    @property
    def at(self) -> datetime:
        found = self.run or self.event or self.reaction
        if found is None:
            raise ValueError("a cause is an event, a run or a reaction")
        return found.created_at


def causes_of_run(run: AgentRun, actor: Actor) -> list[Cause]:
    """Return the tree with the run, from its first cause. At most a dozen queries."""
    return _build([run], actor)


def causes_of_post(post: Post, actor: Actor) -> list[Cause]:
    """Return the trees of the latest runs on the post, newest first. At most a dozen queries."""
    runs = AgentRun.objects.filter(post=post).order_by("-created_at", "pk")
    found = _build(list(runs[:MAX_RUNS]), actor)
    return found[::-1]


def _build(seeds: Sequence[AgentRun], actor: Actor) -> list[Cause]:
    """Return the trees of these runs, without runs and events about posts the actor may not see."""
    rows = visible_runs(
        AgentRun.objects.filter(pk__in=_relatives(seeds)), actor, actor.user.pk
    ).select_related("post")
    runs: dict[UUID, Cause] = {
        row.pk: Cause(run=row)
        for row in rows.defer("context", "value").order_by("created_at", "pk")[:MAX_RUNS]
    }
    started_by = [one.run.event_id for one in runs.values() if one.run is not None]
    events: dict[int, Cause] = {
        event.pk: Cause(event=event)
        for event in _visible_events([str(pk) for pk in runs], started_by, actor)
    }
    roots: list[Cause] = []
    for one in (*runs.values(), *events.values()):
        parent = _parent_of(one, runs, events)
        (roots if parent is None else parent.effects).append(one)
    reactions = RunReaction.objects.filter(run__in=list(runs)).select_related("delivery")
    for reaction in reactions.order_by("number"):
        runs[reaction.run_id].effects.append(Cause(reaction=reaction))
    for one in (*runs.values(), *events.values()):
        one.effects.sort(key=lambda effect: effect.at)
    return sorted(roots, key=lambda root: root.at)


def _relatives(seeds: Sequence[AgentRun]) -> set[UUID]:
    """Return the ids of the runs before and after these in their chains, and of the other runs of
    their first event.

    Chains are short, so one query a level is enough.
    """
    found = {run.pk: run for run in seeds}
    level = list(seeds)
    for _ in range(CHAIN_LEVELS):
        causes = (run.cause_run_id for run in level)
        above = {pk for pk in causes if pk is not None and pk not in found}
        level = list(AgentRun.objects.filter(pk__in=above).only(*_LINKS)) if above else []
        found |= {run.pk: run for run in level}
    first = {run.event_id for run in found.values()} - {None}
    siblings = AgentRun.objects.filter(event__in=first).only(*_LINKS)[:MAX_RUNS] if first else ()
    found |= {run.pk: run for run in siblings}
    ids = set(found)
    for _ in range(CHAIN_LEVELS):
        below = AgentRun.objects.filter(cause_run__in=ids).exclude(pk__in=ids)
        added = set(below.values_list("pk", flat=True)[:MAX_RUNS])
        if not added or len(ids) >= MAX_RUNS:
            break
        ids |= added
    return ids


def _visible_events(
    run_ids: Sequence[str], started_by: Sequence[int | None], actor: Actor
) -> list[Event]:
    """Return the events that started these runs, and the events that the runs caused. One query."""
    caused = Q(run_id__in=run_ids) & ~Q(name__in=_ABOUT_RUNS)
    rows = Event.objects.filter(Q(pk__in=[pk for pk in started_by if pk is not None]) | caused)
    rows = filter_by_visible_post(rows, actor, "post_id", include_without_post=True)
    return list(rows.order_by("pk")[:_MAX_EVENTS])


def _parent_of(one: Cause, runs: Mapping[UUID, Cause], events: Mapping[int, Cause]) -> Cause | None:
    """Return the event or run that caused it; None if there is none, or none the actor may see."""
    if one.run is not None:
        event = events.get(one.run.event_id) if one.run.event_id is not None else None
        cause_id = one.run.cause_run_id
        return event or (runs.get(cause_id) if cause_id is not None else None)
    if one.event is None:
        return None
    run_id = parse_uuid(one.event.run_id)
    run = runs.get(run_id) if run_id is not None else None
    return run or (events.get(one.event.cause_id) if one.event.cause_id is not None else None)
