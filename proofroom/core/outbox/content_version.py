"""The number that grows with every change of live content, which caches are keyed by, and what lately changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import models
from django.db.models.functions import Cast, Concat, Greatest, Left
from django.utils import timezone

from proofroom.core.caching.content_tags import EVERYTHING
from proofroom.core.caching.version_lease import LiveState, lease
from proofroom.core.database.inserts import insert_rows
from proofroom.core.database.statements import Statement, Update
from proofroom.core.models import ContentVersion

MAX_CHANGES_LENGTH: Final = 12_000
"""Characters of the list of what lately changed: about a hundred changes of posts."""
MAX_TAGS_LENGTH: Final = 1_500
"""Characters of the tags of one change; one with more is a change of everything."""
_asked_for: ContextVar[list[Collection[str]] | None] = ContextVar("asked_for", default=None)
_STATE = Statement(
    lambda: ContentVersion.objects.filter(pk=1).values("number", "moved_at", "epoch")
)
_CHANGES = Statement(lambda: ContentVersion.objects.filter(pk=1).values("number", "changes"))
_BUMP: Final = Update(
    lambda now, entry: (
        ContentVersion.objects.filter(pk=1),
        {
            "number": models.F("number") + 1,
            "moved_at": Greatest(models.Value(now), models.F("moved_at") + timedelta(seconds=1)),
            # The newest first, so that the end of the list is what falls off.
            "changes": Left(
                Concat(
                    Cast(models.F("number") + 1, models.TextField()),
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
    """The number that caches of live content are keyed by."""
    return live_state().version


def live_state() -> LiveState:
    """The version with the moment of its making. One query."""
    begun = lease.begin()
    rows = _STATE.rows()
    state = (
        LiveState(rows[0]["number"], rows[0]["moved_at"], rows[0]["epoch"])
        if rows
        else LiveState(0, None)
    )
    lease.renew(begun, state.version, state)
    return state


def leased_state() -> LiveState:
    """The version as this process last read it, at most a second ago: for answers that are the same for everybody.

    No query, or one where it must be asked for.
    """
    return lease.current_state() or live_state()


def tags_changed_since(version: int) -> Collection[str]:
    """The tags of what changed after a version; `EVERYTHING` where that is no longer known. One query."""
    return recent_changes().since(version)


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """What the last changes changed, up to a version: the tags by the number that each of them made."""

    version: int
    tags: Mapping[int, Sequence[str]]

    def since(self, version: int) -> Collection[str]:
        """The tags of what changed after a version; `EVERYTHING` where that is no longer known."""
        numbers = range(version + 1, self.version + 1)
        is_known = version <= self.version and len(numbers) <= len(self.tags)
        if not is_known or not all(number in self.tags for number in numbers):
            return (EVERYTHING,)
        return {tag for number in numbers for tag in self.tags[number]}


def recent_changes() -> RecentChanges:
    """One query."""
    rows = _CHANGES.rows()
    if not rows:
        return RecentChanges(0, {})
    # What stands behind the last line break is the rest of an entry that was cut off.
    entries = [line.split(" ") for line in rows[0]["changes"].split("\n")[:-1]]
    return RecentChanges(rows[0]["number"], {int(number): tags for number, *tags in entries})
