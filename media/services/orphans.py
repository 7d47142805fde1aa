"""Orphaned files, deleted on request if they are listed by the last check and still unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from media import file_store
from media.models import FileCheck, StoredFile
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid

MAX_ORPHANS: Final = 50
"""Number of files examined in one request."""
ORPHAN_AGE: Final = timedelta(days=1)
"""Minimum age for deletion: a younger file may just be being written."""
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Orphan:
    """A file without a row. `changed` is None if it is gone. Only a file with `is_old` may be deleted."""

    name: str
    changed: datetime | None
    is_old: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """The result of a deletion. `kept`: files that have a row by now, are too young, or are gone."""

    names: tuple[str, ...]
    kept: tuple[str, ...]


def last_check() -> FileCheck | None:
    return FileCheck.objects.filter(finished_at__isnull=False).first()


def orphans(check: FileCheck | None) -> list[Orphan]:
    """Return the first orphans of the check that are still unknown, in their current state."""
    names = [str(name) for name in check.orphaned] if check is not None else []
    return [_look(name) for name in _unknown(names)[:MAX_ORPHANS]]


@transaction.atomic
def delete_orphans(*, names: Collection[str], actor: Actor) -> Deleted:
    """Delete these orphans of the last check in a worker, except files that have a row by now.

    Raises `NotAllowed`, `RuleViolation` on `names` for none or too many, `Conflict` for names that the check
    doesn't list.
    """
    actor.require_person("delete files")
    actor.require("media.delete")
    wanted = list(dict.fromkeys(names))
    if not 1 <= len(wanted) <= MAX_ORPHANS:
        message = _("Choose 1 to %(most)s files at a time.") % {"most": MAX_ORPHANS}
        raise invalid("names", message)
    # Locked, so that two requests don't overwrite each other's list.
    check = FileCheck.objects.select_for_update().filter(finished_at__isnull=False).first()
    if check is None or not set(wanted) <= set(check.orphaned):
        raise Conflict(
            _("The files have been checked again. Check the new list and decide."),
            code="stale_check",
        )
    due = [name for name in _unknown(wanted) if _look(name).is_old]
    if due:
        file_store.release_unknown_files(due)
        outbox.record("media.orphans.deleted", actor=actor, payload={"names": [*due]})
    check.orphaned = [name for name in check.orphaned if name not in due]
    check.orphaned_count = max(0, check.orphaned_count - len(due))
    check.save(update_fields=["orphaned", "orphaned_count"])
    return Deleted(tuple(due), tuple(name for name in wanted if name not in due))


def _unknown(names: Iterable[str]) -> list[str]:
    """Return the names without a row, in order."""
    # Longer names don't fit into a row, which the deletion needs.
    storable = [name for name in names if len(name) <= _LONGEST]
    known = StoredFile.objects.filter(name__in=storable, is_deleted=False)
    present = set(known.values_list("name", flat=True))
    return [name for name in storable if name not in present]


def _look(name: str) -> Orphan:
    try:
        changed = default_storage.get_modified_time(name)
    except Exception:  # storages raise their own errors; an unreadable file is not deleted
        return Orphan(name, None, is_old=False)
    return Orphan(name, changed, is_old=changed < timezone.now() - ORPHAN_AGE)
