"""Runs of imports and exports, their reports, and the mapping of imported objects to source items."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from proofroom.core.background_jobs.models import BackgroundJob

ARCHIVE: Final = "archive"
SCHEDULE_NAME_MAX: Final = 60
CHUNK_BYTES: Final = 1024 * 1024


class Every(models.TextChoices):
    DAY = "day", gettext_lazy("Every day")
    WEEK = "week", gettext_lazy("Every week")


class ExportTarget(models.TextChoices):
    SITE = "site", gettext_lazy("On this site, to download")
    FOLDER = "folder", gettext_lazy("In the folder for exports")


class ExportSchedule(models.Model):
    """A repeated export. It runs with the rights of `by` at that moment.

    `options` as in an export's run. `weekday`: 0 is Monday; unused for daily exports. `keep`: number of archives to
    retain. `next_at`: the time of the next export; None if it is off.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=SCHEDULE_NAME_MAX, unique=True)
    options = models.JSONField(default=dict, blank=True)
    every = models.CharField(max_length=8, choices=Every.choices, default=Every.DAY)
    weekday = models.PositiveSmallIntegerField(default=0)
    hour = models.PositiveSmallIntegerField(default=3)
    target = models.CharField(max_length=8, choices=ExportTarget.choices, default=ExportTarget.SITE)
    keep = models.PositiveSmallIntegerField(default=7)
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "export schedule"
        verbose_name_plural = "export schedules"
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(hour__lte=23, weekday__lte=6, keep__gte=1),
                name="export_schedule_times",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ImportRun(BackgroundJob):
    """An import or export run. `counts` has the outcomes by kind; `stage` and `position` are its progress.

    `scope` names the site or folder that the ids of the items belong to. An uploaded file is stored in chunks until
    the run ends and its file is no longer needed; an export's file is stored until `expires_at`.
    """

    source = models.SlugField(max_length=60)
    name = models.CharField(max_length=300)
    scope = models.CharField(max_length=300, blank=True, default="")
    options = models.JSONField(default=dict, blank=True)
    is_dry_run = models.BooleanField(default=False)
    is_export = models.BooleanField(default=False)
    size = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    stage = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    planned = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict, blank=True)
    line_count = models.PositiveIntegerField(default=0)
    via = models.CharField(max_length=10, default="command")
    ended_at = models.DateTimeField(null=True, blank=True, db_column="finished_at")
    schedule = models.ForeignKey(
        ExportSchedule, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )

    class Meta:
        verbose_name = "import"
        verbose_name_plural = "imports"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="import_latest"),
            models.Index(
                fields=["touched_at"],
                name="import_running",
                condition=models.Q(state="running"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source}: {self.name}"


class ExportRun(ImportRun):
    """A run that writes an archive. A proxy for its own admin list."""

    class Meta:
        proxy = True
        verbose_name = "export"
        verbose_name_plural = "exports"


class ImportLine(models.Model):
    """A line of a run's report. `details` are the differing fields, each with path, before and after."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="lines")
    severity = models.CharField(max_length=8)
    kind = models.CharField(max_length=40, blank=True, default="")
    outcome = models.CharField(max_length=12, blank=True, default="")
    place = models.CharField(max_length=300)
    message = models.TextField(blank=True, default="")
    object_id = models.UUIDField(null=True, blank=True)
    details = models.JSONField(default=list, blank=True)
    is_conflict = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["id"]

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class ImportChunk(models.Model):
    """A part of an uploaded file. It is in the database because workers may run on another machine."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="import_chunk_once"),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of {self.run_id}"


class ImportedObject(models.Model):
    """The object that a source item became, so that the next run updates it.

    The key is a hash of the id, which may be too long for an index. `data` has the hashes of the imported values:
    values unchanged in the source keep the changes made on the site.
    """

    source = models.SlugField(max_length=60)
    scope = models.CharField(max_length=300)
    kind = models.CharField(max_length=10)
    key = models.CharField(max_length=64)
    source_id = models.TextField()
    object_id = models.UUIDField(db_index=True)
    data = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["source", "scope", "kind", "key"], name="imported_object_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source_id}"
