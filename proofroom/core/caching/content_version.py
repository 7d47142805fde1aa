"""The number that grows with every change of live content, which caches are keyed by, and what lately changed."""

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
from proofroom.core.caching.version_lease import LiveState, lease, parse_moment
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.statements import Statement, Update
from proofroom.core.models import ContentVersion

MAX_CHANGES_LENGTH: Final = 15_000
"""Characters of the list of what lately changed: about a hundred changes of posts."""
MAX_TAGS_LENGTH: Final = 1_500
"""Characters of the tags of one change; one with more is a change of everything."""
NO_STATE: Final = LiveState(0, None)
"""Of a database in which nothing was ever written."""
_asked_for: ContextVar[list[Collection[str]] | None] = ContextVar("asked_for", default=None)
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


_STATE: Final = Statement(_states)
_CHANGES: Final = Statement(lambda: _states("changes"))


def _least_step() -> models.Expression:
    """Return how much later each change is made than the one before.

    On PostgreSQL a bit more than a second: else the moments of a burst of changes, which run ahead of the clock,
    would be the same ones in a database that is set back and gets other changes.
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
            "moved_at": Greatest(models.Value(now), models.F("moved_at") + _least_step()),
            # The newest first, so that the end of the list is what falls off.
            "changes": Left(
                Concat(
                    Cast(models.F("number") + 1, models.TextField()),
                    _SPACE,
                    Cast("moved_at", models.TextField()),  # of the number before
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
    """Make the answers cached old once, when the block ends: for who locks more rows after the first event.

    Live writers queue up at the content version, and lock nothing behind it that another one may hold.
    """
    asked_for: list[Collection[str]] = []
    token = _asked_for.set(asked_for)
    try:
        yield
    finally:
        _asked_for.reset(token)
    if asked_for:
        bump_content_version({tag for tags in asked_for for tag in tags})


def bump_content_version(
    tags: Collection[str] = (EVERYTHING,), rows: Sequence[models.Model] = ()
) -> None:
    """Make the answers cached old that depend on what the tags name: all of them, where nobody can tell.

    New rows, of one model, are stored in the same statement, where there is one.
    """
    asked_for = _asked_for.get()
    if asked_for is not None:
        asked_for.append(tags)
        insert_rows(rows)
        return
    named = " ".join(sorted(tags))
    if not named or len(named) > MAX_TAGS_LENGTH:
        named = EVERYTHING
    [changed] = insert_rows(rows, updates=[_BUMP.bound(timezone.now(), f" {named}\n")])
    if not changed:
        ContentVersion.objects.get_or_create(pk=1)
    lease.end_on_commit()


def lock_content_version() -> None:
    """Wait for a live write that is under way, and keep others waiting until the transaction ends.

    For writers that read what another live write may change, before they record their own. Inside `version_last`
    the rows are locked already, and nothing waits here.
    """
    if _asked_for.get() is not None:
        return
    ContentVersion.objects.select_for_update().filter(pk=1).only("number").first()


def content_version() -> int:
    """The number that grows with every change of live content. Caches are keyed by the whole state."""
    return live_state().version


def state_text() -> models.Subquery:
    """The state that a statement reads, for a column of its rows; NULL where nothing was ever written."""
    return models.Subquery(_states())


def parse_state(text: str | None) -> LiveState:
    """Return the state in a column of `state_text`."""
    return LiveState.parse(text) if text is not None else NO_STATE


def live_state() -> LiveState:
    """The state as the database has it now. One query."""
    begun = lease.begin()
    rows = _STATE.rows()
    state = parse_state(rows[0]["state"] if rows else None)
    lease.renew(begun, state)
    return state


def leased_state() -> LiveState:
    """The state as this process last read it, at most a second ago: for answers that are the same for everybody.

    No query, or one where it must be asked for.
    """
    return lease.current() or live_state()


def tags_changed_since(state: LiveState) -> Collection[str]:
    """The tags of what changed after a state; `EVERYTHING` where that is not known. One query."""
    return recent_changes().since(state)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of live content: the moment of the state before it, and the tags of what it changed."""

    moved_before: datetime
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The last changes up to a state, by the number that each of them made."""

    state: LiveState
    changes: Mapping[int, Change]

    def since(self, state: LiveState) -> Collection[str]:
        """The tags of what changed after a state; `EVERYTHING` where that is not known, nor of this history."""
        if state == self.state:
            return ()
        numbers = range(state.version + 1, self.state.version + 1)
        is_known = state.epoch == self.state.epoch and 0 < len(numbers) <= len(self.changes)
        if not is_known or not all(number in self.changes for number in numbers):
            return (EVERYTHING,)
        if self.changes[numbers[0]].moved_before != state.moved_at:
            return (EVERYTHING,)
        return {tag for number in numbers for tag in self.changes[number].tags}


def recent_changes() -> RecentChanges:
    """One query."""
    rows = _CHANGES.rows()
    if not rows:
        return RecentChanges(NO_STATE, {})
    found: dict[int, Change] = {}
    # What stands behind the last line break is the rest of an entry that was cut off.
    for line in rows[0]["changes"].split("\n")[:-1]:
        try:
            number, day, time_of_day, *tags = line.split(" ")
            found[int(number)] = Change(parse_moment(day, time_of_day), tags)
        except ValueError:  # an earlier release wrote no moment
            break
    return RecentChanges(LiveState.parse(rows[0]["state"]), found)
