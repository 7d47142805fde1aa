"""Stored files and their rows. A row is created before its file, so that a killed process leaves no unknown file.

A row with `due_at` belongs to an unused file: one being written, replaced or deleted. At that time a sweep
deletes the file.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Final
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from media.image_sizes import IMAGE_SIZES
from media.models import Asset, ImageTheme, StoredFile
from proofroom.core.errors import CmsError
from proofroom.core.task_queue import queue_task, send_after_commit

logger = logging.getLogger(__name__)
VARIANT_NAME: Final = re.compile(
    rf"(?P<stem>.*[0-9a-f]{{32}})(?P<dark>-dark)?-(?P<size>{'|'.join(IMAGE_SIZES)})\.webp"
)
_SUFFIXES: Final = (".jpg", ".png", ".webp", ".gif", ".avif")
UNUSED_FILE_AGE: Final = timedelta(hours=1)
"""Time after which an unfinished file counts as abandoned."""
_BATCH_SIZE: Final = 20
"""Number of files deleted in one transaction, which locks their rows."""


class StorageFailed(CmsError):
    """The storage did not accept the file."""

    status = 503
    code = "storage_failed"


def new_name(suffix: str) -> str:
    """Return a random name that can't be guessed and doesn't reveal the original name."""
    stem = uuid4().hex
    return f"{stem[:2]}/{stem}{suffix}"


def planned_variants(name: str, theme: str = ImageTheme.LIGHT) -> dict[str, str]:
    """Return the names of the variants of a file."""
    path = PurePosixPath(name)
    stem = path.stem if theme == ImageTheme.LIGHT else f"{path.stem}-dark"
    return {size: str(path.with_name(f"{stem}-{size}.webp")) for size in IMAGE_SIZES}


def related_names(name: str) -> tuple[str, ...]:
    """Return the names that lead to the file's asset: its own, and for a variant also the possible names of its
    original."""
    found = VARIANT_NAME.fullmatch(name)
    return (name, *(found["stem"] + suffix for suffix in _SUFFIXES)) if found else (name,)


def reserve(names: Iterable[str], time: timedelta = UNUSED_FILE_AGE) -> None:
    """Create rows for files about to be written. Names in use are unchanged."""
    wanted, due = list(names), timezone.now() + time
    rows = [StoredFile(name=name, due_at=due) for name in wanted]
    # Names may have rows already; they are updated below unless the file is in use.
    StoredFile.objects.bulk_create(rows, ignore_conflicts=True)
    unused = StoredFile.objects.filter(name__in=wanted).filter(
        Q(due_at__isnull=False) | Q(is_deleted=True)
    )
    unused.update(due_at=due, is_deleted=False)


def put(name: str, content: bytes) -> None:
    """Write a file whose name is reserved."""
    try:
        written = default_storage.save(name, ContentFile(content))
    except Exception as error:  # storages raise their own errors
        logger.exception("cannot store %s", name)
        raise StorageFailed(
            _("The storage is not accepting files right now. Try again later.")
        ) from error
    if written != name:
        # The storage chose another name, either because a file exists or because it doesn't accept the name.
        default_storage.delete(written)
        raise StorageFailed(_("The storage does not accept this file name."))


@contextmanager
def new_file(suffix: str, content: bytes) -> Iterator[str]:
    """Write a file and yield its name. If the block raises, the file and its row are deleted."""
    name = new_name(suffix)
    with transaction.atomic(durable=True):  # an outer rollback would lose the row but not the file
        reserve([name])
    try:
        put(name, content)
        yield name
    # Also on KeyboardInterrupt and SystemExit: nothing was committed, so the file is unused.
    except BaseException:
        discard(name)
        raise


def discard(name: str) -> None:
    """Delete an unused file and its row."""
    try:
        default_storage.delete(name)
        StoredFile.objects.filter(name=name).delete()
    except Exception:  # its row marks the file as unused, so the sweep deletes it later
        logger.warning("cannot delete %s now; the sweep will", name, exc_info=True)


def take(names: Iterable[str], asset: Asset) -> None:
    """Mark the files as used by the asset. Must be called in the caller's transaction."""
    wanted = list(names)
    rows = StoredFile.objects.filter(name__in=wanted)
    # Fewer rows mean that the sweep deleted one of the files meanwhile.
    if rows.update(asset=asset, due_at=None, is_deleted=False) != len(wanted):
        raise StorageFailed(_("The file was deleted before it could be used. Try again."))


def release_files(names: Iterable[str], when: datetime) -> None:
    """Mark the files as unused, to be deleted at `when`. Must be called in the caller's transaction."""
    wanted = list(names)
    StoredFile.objects.bulk_create(
        [StoredFile(name=name, due_at=when) for name in wanted], ignore_conflicts=True
    )
    StoredFile.objects.filter(name__in=wanted, is_deleted=False).update(due_at=when)
    if when <= timezone.now():
        _wake_deletion()


def release_unknown_files(names: Collection[str]) -> None:
    """Delete files without a row now, except files in use by now. Must be called in the caller's transaction."""
    now = timezone.now()
    StoredFile.objects.filter(name__in=names, is_deleted=True).update(is_deleted=False, due_at=now)
    rows = [StoredFile(name=name, due_at=now) for name in names]
    StoredFile.objects.bulk_create(rows, ignore_conflicts=True)
    _wake_deletion()


def _wake_deletion() -> None:
    send_after_commit(lambda: queue_task("media.tasks.delete_files"), "files to delete", once=True)


def delete_due_files() -> int:
    """Delete files whose time has come and return their number. Safe to run twice, also concurrently."""
    total = 0
    while True:
        with transaction.atomic():
            # The lock makes a process that wants to write one of these files wait for the deletion.
            now = timezone.now()
            due = StoredFile.objects.select_for_update(skip_locked=True).filter(
                due_at__lte=now, is_deleted=False
            )
            rows = list(due.order_by("due_at", "pk")[:_BATCH_SIZE])
            ids = [row.pk for row in rows if _delete_file(row.name)]
            left = {row.pk for row in rows} - set(ids)
            StoredFile.objects.filter(pk__in=left).update(due_at=now + UNUSED_FILE_AGE)
            # The row of an old name still leads to its asset. Without an asset it is useless.
            StoredFile.objects.filter(pk__in=ids, asset=None).delete()
            StoredFile.objects.filter(pk__in=ids).update(is_deleted=True, due_at=None)
        total += len(ids)
        if len(rows) < _BATCH_SIZE:
            return total


def _delete_file(name: str) -> bool:
    try:
        default_storage.delete(name)
    except Exception:  # storages raise their own errors; the next sweep tries again
        logger.warning("cannot delete %s; the next sweep tries again", name, exc_info=True)
        return False
    return True
