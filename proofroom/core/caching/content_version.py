"""The version of the live content, which grows with every change and is part of cache keys, and the recent
changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, models
from django.db.models.functions import Cast, Concat, Greatest, Left, Random
from django.utils import timezone

from proofroom.core.caching.content_tags import EVERYTHING
from proofroom.core.caching.content_version_cache import LiveState, lease, parse_moment
from proofroom.core.database.compiled_queries import CompiledQuery, Update
from proofroom.core.database.inserts import insert_rows
from proofroom.core.models import ContentVersion

MAX_CHANGES_LENGTH: Final = 15_000
"""Characters of the list of recent changes: about a hundred changes of posts."""
MAX_TAGS_LENGTH: Final = 1_500
"""Characters of the tags of one change. A change with more tags counts as a change of everything."""
NO_STATE: Final = LiveState(0, None)
"""The state of a database without any live change."""
_deferred_tags: ContextVar[list[Collection[str]] | None] = ContextVar("asked_for", default=None)
_SPACE: Final = models.Value(" ", models.TextField())


def _states(*more: str) -> models.QuerySet[Any, Any]:
    state = Concat(
        Cast("number", models.TextField()),
        _SPACE,
        Cast("moved_at", models.TextField()),
        _SPACE,
        "epoch",
        output_field=models.TextField(),
    )
    rows: models.QuerySet[Any] = ContentVersion.objects.filter(pk=1).annotate(state=state)
    return rows.values("state", *more)


_STATE: Final = CompiledQuery(_states)
_CHANGES: Final = CompiledQuery(lambda: _states("changes"))


def _min_step() -> models.Expression:
    """Return the minimal time between two changes.

    On PostgreSQL a random part is added. A burst of changes can move these times ahead of the clock; without it, a
    database restored from a backup could reach the same times with other changes.
    """
    second: models.Expression = models.Value(timedelta(seconds=1), models.DurationField())
    if connection.vendor != "postgresql":
        return second
    more = models.Value(timedelta(milliseconds=100), models.DurationField()) * Random()
    return models.ExpressionWrapper(second + more, output_field=models.DurationField())


_BUMP: Final = Update(
    lambda now, entry: (
        ContentVersion.objects.filter(pk=1),
        {
            "number": models.F("number") + 1,
            # Never backwards, even if the clock is set back.
            "moved_at": Greatest(models.Value(now), models.F("moved_at") + _min_step()),
            # Newest first, so that `Left` cuts off the oldest changes.
            "changes": Left(
                Concat(
                    Cast(models.F("number") + 1, models.TextField()),
                    _SPACE,
                    Cast("moved_at", models.TextField()),  # the time of the previous number
                    models.Value(entry, output_field=models.TextField()),
                    models.F("changes"),
                ),
                MAX_CHANGES_LENGTH,
            ),
        },
    )
)


@contextmanager
def version_last() -> Iterator[None]:
    """Change the content version once, at the end of the block. For code that locks more rows after its first event.

    All live writers wait for the row of the content version. Locking it last means that they don't wait for other
    rows while they hold it, which could deadlock.
    """
    deferred: list[Collection[str]] = []
    token = _deferred_tags.set(deferred)
    try:
        yield
    finally:
        _deferred_tags.reset(token)
    if deferred:
        bump_content_version({tag for tags in deferred for tag in tags})


def bump_content_version(
    tags: Collection[str] = (EVERYTHING,), rows: Sequence[models.Model] = ()
) -> None:
    """Invalidate the cached answers that depend on the tags; all of them by default.

    `rows` of one model are inserted in the same statement if the database supports it.
    """
    deferred = _deferred_tags.get()
    if deferred is not None:
        deferred.append(tags)
        insert_rows(rows)
        return
    text = " ".join(sorted(tags))
    if not text or len(text) > MAX_TAGS_LENGTH:
        text = EVERYTHING
    [changed] = insert_rows(rows, updates=[_BUMP.bound(timezone.now(), f" {text}\n")])
    if not changed:
        # The first change in a new database.
        ContentVersion.objects.get_or_create(pk=1)
    lease.end_on_commit()


def lock_content_version(*, is_last: bool = False) -> None:
    """Lock the content version: wait for a live write in progress and block others until the transaction ends.

    For code that reads data which a concurrent live write may be changing, before it records its own change. Does
    nothing inside of `version_last`, where the rows are already locked, unless `is_last`: the caller locks no other
    rows after it that writers with this lock wait for.
    """
    if _deferred_tags.get() is not None and not is_last:
        return
    ContentVersion.objects.select_for_update().filter(pk=1).only("number").first()


def content_version() -> int:
    """Return the number of the content version. Caches use the whole state as their key."""
    return live_state().version


def state_text() -> models.Subquery:
    """Return a subquery for the state as a column; NULL if there was never a live change."""
    return models.Subquery(_states())


def parse_state(text: str | None) -> LiveState:
    """Parse the state in a column of `state_text`."""
    return LiveState.parse(text) if text is not None else NO_STATE


def live_state() -> LiveState:
    """Read the current state from the database in one query."""
    begun = lease.begin()
    rows = _STATE.rows()
    state = parse_state(rows[0]["state"] if rows else None)
    lease.renew(begun, state)
    return state


def leased_state() -> LiveState:
    """Return the state read at most a second ago by this process. For answers that are the same for all visitors.

    Runs a query only if that state has expired.
    """
    return lease.current() or live_state()


def tags_changed_since(state: LiveState) -> Collection[str]:
    """Return the tags that changed after a state; `EVERYTHING` if they are unknown. Runs one query."""
    return recent_changes().since(state)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of live content: the time of the previous state and the tags that changed."""

    moved_before: datetime
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The last changes up to a state, by their version number."""

    state: LiveState
    changes: Mapping[int, Change]

    def since(self, state: LiveState) -> Collection[str]:
        """Return the tags that changed after a state; `EVERYTHING` if unknown or if the state has another history."""
        if state == self.state:
            return ()
        numbers = range(state.version + 1, self.state.version + 1)
        is_known = state.epoch == self.state.epoch and 0 < len(numbers) <= len(self.changes)
        if not is_known or not all(number in self.changes for number in numbers):
            return (EVERYTHING,)
        # The same number at another time: the database was restored and has counted other changes.
        if self.changes[numbers[0]].moved_before != state.moved_at:
            return (EVERYTHING,)
        return {tag for number in numbers for tag in self.changes[number].tags}


def recent_changes() -> RecentChanges:
    """Read the recent changes in one query."""
    rows = _CHANGES.rows()
    if not rows:
        return RecentChanges(NO_STATE, {})
    found: dict[int, Change] = {}
    # The text after the last line break is the rest of an entry that was cut off.
    for line in rows[0]["changes"].split("\n")[:-1]:
        try:
            number, day, time_of_day, *tags = line.split(" ")
            found[int(number)] = Change(parse_moment(day, time_of_day), tags)
        except ValueError:  # an earlier release stored no time
            break
    return RecentChanges(LiveState.parse(rows[0]["state"]), found)
