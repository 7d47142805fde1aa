"""The number that grows with every change of live content, which caches are keyed by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import models
from django.db.models.functions import Greatest
from django.utils import timezone

from proofroom.core.database.statements import Statement
from proofroom.core.models import ContentVersion

_asked_for: ContextVar[list[str] | None] = ContextVar("asked_for", default=None)
_STATE = Statement(lambda: ContentVersion.objects.filter(pk=1).values("number", "moved_at"))


@dataclass(frozen=True, slots=True)
class LiveState:
    """The state of live content, and since when it is that; None where nothing was ever written."""

    version: int
    moved_at: datetime | None


@contextmanager
def version_last() -> Iterator[None]:
    """Make every cached answer old once, when the block ends: for who locks more rows after the first event.

    Live writers queue up at the content version, and lock nothing behind it that another one may hold.
    """
    asked_for: list[str] = []
    token = _asked_for.set(asked_for)
    try:
        yield
    finally:
        _asked_for.reset(token)
    if asked_for:
        bump_content_version()


def bump_content_version() -> None:
    """Make every answer cached for the live content old."""
    asked_for = _asked_for.get()
    if asked_for is not None:
        asked_for.append("version")
        return
    a_second_on = models.F("moved_at") + timedelta(seconds=1)
    changed = ContentVersion.objects.filter(pk=1).update(
        number=models.F("number") + 1,
        moved_at=Greatest(models.Value(timezone.now()), a_second_on),
    )
    if not changed:
        ContentVersion.objects.get_or_create(pk=1)


def lock_content_version() -> None:
    """Wait for a live write that is under way, and keep others waiting until the transaction ends.

    For writers that read what another live write may change, before they record their own. Inside `version_last`
    the rows are locked already, and nothing waits here.
    """
    if _asked_for.get() is not None:
        return
    ContentVersion.objects.select_for_update().filter(pk=1).first()


def content_version() -> int:
    """The number that caches of live content are keyed by."""
    return live_state().version


def live_state() -> LiveState:
    """The version with the moment of its making. One query."""
    rows = _STATE.rows()
    return LiveState(rows[0]["number"], rows[0]["moved_at"]) if rows else LiveState(0, None)
