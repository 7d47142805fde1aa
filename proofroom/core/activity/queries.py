"""Queries for entries of the log, newest first."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from proofroom.core.errors import NotFound
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.core.outbox.events import all_kinds
from proofroom.core.validation.input_validation import parse_uuid

MAX_ROWS_SEARCHED: Final = 20_000
"""Number of newest entries searched by fields without an index."""
MAX_EFFECT_DEPTH: Final = 5
MAX_EFFECTS_PER_LEVEL: Final = 50
_NUMBER: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """The filter of the log; None means any. `event` may be the part of names before the dot, like `post`.

    `before` is the id of an entry: only older entries match.
    """

    event: str | None = None
    actor: int | None = None
    via: str | None = None
    agent_id: str | None = None
    post_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None

    def told(self) -> JsonObject:
        """Return the filter's values for the log."""
        return {
            name: value if isinstance(value, str | int) else str(value)
            for name, value in asdict(self).items()
            if value is not None
        }


def filter_activity(chosen: ActivityFilter | None = None) -> QuerySet[Event]:
    """Return the matching entries, newest first, without internal events."""
    given = chosen or ActivityFilter()
    wanted = {
        "name__in": None if given.event is None else names_of(given.event),
        "actor_id": given.actor,
        "via": given.via,
        "agent_id": given.agent_id,
        "post_id": given.post_id,
        "created_at__gte": given.since,
        "created_at__lt": given.until,
        "pk__lt": given.before,
    }
    internal = [kind.name for kind in all_kinds() if kind.is_internal]
    rows = Event.objects.exclude(name__in=internal)
    rows = rows.filter(Q(**{name: value for name, value in wanted.items() if value is not None}))
    return rows.select_related("actor", "seal").order_by("-id")


def filter_by_entity(rows: QuerySet[Event], entity_id: str) -> QuerySet[Event]:
    """Filter the entries of one object: a post by its index, anything else by ids in the payload of the newest
    entries.
    """
    post_id = parse_uuid(entity_id)
    # A UUID may also be the id of another object.
    if post_id is not None and Event.objects.filter(post_id=post_id).exists():
        return rows.filter(post_id=post_id)
    newest = Event.objects.order_by("-id").values_list("id", flat=True).first() or 0
    names = Q(run_id=entity_id) | Q(agent_id=entity_id)
    names |= Q(payload__agentId=entity_id) | Q(payload__formSlug=entity_id)
    names |= Q(payload__id=entity_id if post_id is None else str(post_id))
    # In JSON, 5 and "5" are different values.
    if _NUMBER.fullmatch(entity_id):
        names |= Q(payload__id=int(entity_id))
    return rows.filter(names, pk__gt=newest - MAX_ROWS_SEARCHED)


def names_of(chosen: str) -> list[str]:
    """Return the names of the events with this name or this part before the dot."""
    names = [kind.name for kind in all_kinds()]
    return [name for name in names if chosen in (name, name.partition(".")[0])]


def find_entry(entry_id: int) -> Event:
    """Return an entry. Raises `NotFound`."""
    found = filter_activity().filter(pk=entry_id).first()
    if found is None:
        raise NotFound(
            _("There is no entry %(entry_id)s in the activity log.") % {"entry_id": entry_id}
        )
    return found


def causes_of(event: Event) -> list[Event]:
    """Return the causes of the entry, the first cause first."""
    found: list[Event] = []
    above = event.cause_id
    while above is not None and len(found) < MAX_EFFECT_DEPTH:
        cause = Event.objects.select_related("actor", "seal").filter(pk=above).first()
        if cause is None:
            break
        found.insert(0, cause)
        above = cause.cause_id
    return found


def effects_of(event: Event) -> list[tuple[int, Event]]:
    """Return the effects of the entry, each with its depth. Runs one query per level."""
    level, found = [event.pk], list[tuple[int, Event]]()
    for depth in range(1, MAX_EFFECT_DEPTH + 1):
        rows = list(
            filter_activity().filter(cause_id__in=level).order_by("id")[:MAX_EFFECTS_PER_LEVEL]
        )
        if not rows:
            break
        found += [(depth, row) for row in rows]
        level = [row.pk for row in rows]
    # Depth first: each effect follows its cause.
    ordered: list[tuple[int, Event]] = []
    waiting = [item for item in found if item[1].cause_id == event.pk][::-1]
    while waiting:
        item = waiting.pop()
        ordered.append(item)
        waiting += [below for below in found if below[1].cause_id == item[1].pk][::-1]
    return ordered
