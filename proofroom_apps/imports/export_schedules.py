"""Repeated exports: when the next one is due, where the archive goes, and how many are retained."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.archive.export import PERMISSION
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.background_jobs.models import JobState
from proofroom.core.database.errors import is_database_unreachable
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.validation.input_validation import clean_name
from proofroom_apps.imports.event_kinds import EXPORT_FAILED
from proofroom_apps.imports.export_runs import ExportOptions, export_folder
from proofroom_apps.imports.models import (
    SCHEDULE_NAME_MAX,
    Every,
    ExportSchedule,
    ExportTarget,
    ImportChunk,
    ImportRun,
)
from proofroom_apps.imports.problems import sentence_of
from proofroom_apps.imports.runs import start_export

logger = logging.getLogger(__name__)
KEEP_MAX: Final = 60
KEEP_MAX_ON_SITE: Final = 12
"""Archives on the site are in the database, and runs are deleted after 90 days."""
_MAX_DUE: Final = 5
"""Number of exports that one sweep starts."""


def save_schedule(
    *, actor: Actor, values: Mapping[str, Any], schedule_id: UUID | str | None = None
) -> ExportSchedule:
    """Create or change a schedule; absent values stay. `is_active` turns it on or off.

    The exports run with the rights of who saved it last. Raises `RuleViolation` by field, `NotFound`.
    """
    _allow(actor)
    with transaction.atomic():
        row = ExportSchedule() if schedule_id is None else _lock(schedule_id)
        was_active = row.next_at is not None or schedule_id is None
        _set_values(row, values)
        row.by_id = actor.user.pk
        is_active = bool(values.get("is_active", was_active))
        row.next_at = next_time(row, timezone.now()) if is_active else None
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError:
            raise invalid("name", _("Another schedule has this name.")) from None
        _record(row, actor, "changed" if schedule_id is not None else "created")
    return row


@transaction.atomic
def delete_schedule(*, schedule_id: UUID | str, actor: Actor) -> None:
    """Delete a schedule. Its archives in the folder stay; those on the site are deleted after a week."""
    _allow(actor)
    row = _lock(schedule_id)
    _record(row, actor, "deleted")
    row.delete()


def next_time(schedule: ExportSchedule, after: datetime) -> datetime:
    """Return the first time after a moment, in the site's time zone."""
    # The active time zone is that of the signed-in person.
    local = timezone.localtime(after, timezone.get_default_timezone())
    found = local.replace(hour=schedule.hour, minute=0, second=0, microsecond=0)
    if schedule.every == Every.WEEK:
        found += timedelta(days=(schedule.weekday - found.weekday()) % 7)
    # Days are added to the wall clock, so that a change of clocks keeps the hour.
    if found <= local:
        found += timedelta(days=7 if schedule.every == Every.WEEK else 1)
    return found


def start_due_exports() -> int:
    """Start the exports that are due. Return their number.

    A schedule that cannot start, such as after its owner lost the permission, is reported and tried again at its next
    time.
    """
    now = timezone.now()
    ids = list(
        ExportSchedule.objects.filter(next_at__lte=now)
        .order_by("next_at")
        .values_list("pk", flat=True)[:_MAX_DUE]
    )
    started = 0
    for schedule_id in ids:
        with transaction.atomic():
            rows = ExportSchedule.objects.select_for_update(of=("self",), skip_locked=True)
            row = rows.select_related("by").filter(pk=schedule_id, next_at__lte=now).first()
            if row is None:
                continue
            # Moved first: what was missed while no worker ran is made up once.
            row.next_at = next_time(row, now)
            row.save(update_fields=["next_at"])
            try:
                with transaction.atomic():
                    _start(row)
                started += 1
            except Exception as error:
                if is_database_unreachable(error):
                    raise
                if not isinstance(error, CmsError):
                    logger.exception("starting the scheduled export %s failed", row.name)
                # An error that would stop here would block the schedules after it.
                report_failure(row, sentence_of(error))
    return started


def _start(row: ExportSchedule) -> ImportRun:
    if row.by is None or not row.by.is_active:
        raise NotAllowed(_("The person who started this no longer has an active account."))
    if row.target == ExportTarget.FOLDER:
        export_folder()
    if row.runs.filter(state=JobState.RUNNING).exists():
        raise RuleViolation(_("The export before has not finished yet."))
    options = ExportOptions.model_validate(row.options)
    now = timezone.localtime(timezone=timezone.get_default_timezone())
    return start_export(
        actor=Actor(user=row.by, via="system"),
        name=f"{_file_stem(row)}-{now:%Y-%m-%d-%H%M}.zip",
        options=options,
        schedule=row,
    )


def finish_scheduled(run: ImportRun) -> None:
    """Delete older archives after an export of a schedule, or report its failure. In the run's transaction."""
    # First, because it needs no query. Most runs have none.
    if run.schedule_id is None or (row := run.schedule) is None:
        return
    if run.state == JobState.DONE:
        transaction.on_commit(lambda: prune_archives(row))
    elif run.state == JobState.FAILED:
        report_failure(row, run.why, run)


def prune_archives(row: ExportSchedule) -> int:
    """Delete the archives of a schedule beyond the number to retain. Return the number deleted."""
    if row.target == ExportTarget.SITE:
        done = row.runs.filter(state=JobState.DONE).order_by("-created_at", "-pk")
        old = list(done.values_list("pk", flat=True)[row.keep :])
        ImportRun.objects.filter(pk__in=old).update(expires_at=timezone.now())
        ImportChunk.objects.filter(run__in=old).delete()
        return len(old)
    pattern = re.compile(rf"{re.escape(_file_stem(row))}-\d{{4}}-\d\d-\d\d-\d{{4}}\.zip")
    # Names end in the time, so they sort by age.
    found = sorted(path for path in export_folder().iterdir() if pattern.fullmatch(path.name))
    old_files = found[: -row.keep]
    for path in old_files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            report_failure(row, _("An old archive cannot be deleted: %(why)s") % {"why": error})
    return len(old_files)


def report_failure(row: ExportSchedule, why: str, run: ImportRun | None = None) -> None:
    """Record that an export failed, which notifies administrators."""
    logger.error("The scheduled export %s failed: %s", row.name, why)
    payload = {"id": str(row.pk), "name": row.name, "why": why[:500]}
    if run is not None:
        payload["runId"] = str(run.pk)
    outbox.record(EXPORT_FAILED, actor=Actor(user=SYSTEM, via="system"), payload={**payload})


def _set_values(row: ExportSchedule, values: Mapping[str, Any]) -> None:
    if "name" in values or not row.name:
        row.name = clean_name(values.get("name"), SCHEDULE_NAME_MAX)
    for name, known in (("every", Every.values), ("target", ExportTarget.values)):
        if name in values:
            if values[name] not in known:
                raise invalid(name, _("This is not one of the options."))
            setattr(row, name, values[name])
    most = KEEP_MAX_ON_SITE if row.target == ExportTarget.SITE else KEEP_MAX
    for name, low, high in (("weekday", 0, 6), ("hour", 0, 23), ("keep", 1, most)):
        value = values.get(name, getattr(row, name))
        if not isinstance(value, int) or not low <= value <= high:
            text = _("Enter a number from %(low)s to %(high)s.")
            raise invalid(name, text % {"low": low, "high": high})
        setattr(row, name, value)
    if row.target == ExportTarget.FOLDER and settings.CMS_ENV.export_folder is None:
        raise invalid("target", _("The site has no folder for exports. Set EXPORT_FOLDER."))
    if "options" in values:
        options: ExportOptions = values["options"]
        row.options = options.model_dump(mode="json")


def _file_stem(row: ExportSchedule) -> str:
    return f"export-{row.pk.hex[:12]}"


def _lock(schedule_id: UUID | str) -> ExportSchedule:
    row = find_by_id(ExportSchedule.objects.select_for_update(of=("self",)), schedule_id)
    if row is None:
        raise NotFound(_("Schedule not found."))
    return row


def _record(row: ExportSchedule, actor: Actor, did: str) -> None:
    outbox.record(
        "archive.schedule-changed",
        actor=actor,
        payload={"id": str(row.pk), "name": row.name, "did": did},
    )


def _allow(actor: Actor) -> None:
    actor.require_person("schedule exports")
    actor.require(PERMISSION)
