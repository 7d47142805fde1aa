"""Releases: named sets of changes that go live at one moment, all or nothing."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q

from proofroom.core.background_jobs.models import BackgroundJob
from proofroom_apps.previews.models import TemporaryLink

NAME_MAX: Final = 200
TITLE_MAX: Final = 300


class ReleaseState(models.TextChoices):
    """`failed`: it could not go live as it was. It can be changed and tried again, as an open one."""

    OPEN = "open"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PUBLISHED = "published"
    UNDONE = "undone"
    FAILED = "failed"


class RunKind(models.TextChoices):
    PUBLISH = "publish"
    UNDO = "undo"


class Release(models.Model):
    """A set of changes that go live together.

    - `at`: the time to go live. `time_zone`: the zone in which it was chosen, empty for UTC.
    - `scheduled_by`: who chose the time. Null after the account was deleted.
    - `failure`: why the last publication or undo did not succeed.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=NAME_MAX)
    state = models.CharField(max_length=10, choices=ReleaseState.choices, default=ReleaseState.OPEN)
    at = models.DateTimeField(null=True)
    time_zone = models.CharField(max_length=60, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    scheduled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    scheduled_by_name = models.CharField(max_length=150, blank=True, default="")
    published_by_name = models.CharField(max_length=150, blank=True, default="")
    published_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created_at", "id"], name="release_newest"),
            models.Index(fields=["at"], name="release_due", condition=Q(state="scheduled")),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=~Q(state="scheduled") | Q(at__isnull=False),
                name="release_scheduled_has_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_editable(self) -> bool:
        """True until it has gone live."""
        return self.state in EDITABLE


EDITABLE: Final = (ReleaseState.OPEN, ReleaseState.SCHEDULED, ReleaseState.FAILED)
WAITING: Final = (*EDITABLE, ReleaseState.RUNNING)
"""States in which items have not gone live."""


class ReleaseItem(models.Model):
    """One change of a release.

    - `kind`: name of an item kind. `object_id`: the post, menu, term, global module or redirect.
    - `paths` and `digest`: of a post's changes, as in an approval. `digest` of shared content names the change that
      waited when the item was added.
    - `approved_by`: whose rights count at a scheduled time: who chose the time, or added the item after that.
    - `failure`: why the item stopped the last run. `before`: what its undo needs.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10)
    object_id = models.UUIDField()
    title = models.CharField(max_length=TITLE_MAX)
    paths = models.JSONField(default=list)
    digest = models.TextField(blank=True, default="")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    failure = models.TextField(blank=True, default="")
    before = models.JSONField(default=dict)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["release", "kind", "object_id"], name="release_item_once"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["object_id", "kind"], name="release_item_object"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.title}"


class ReleaseRun(BackgroundJob):
    """One publication or undo of a release, carried out by a worker.

    It first checks each item (`done` of `total`), then writes all of them in one transaction (`is_applied`).
    `via`: the interface of who started it, `system` for a run at the time of its release.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=10, choices=RunKind.choices)
    via = models.CharField(max_length=10)
    is_applied = models.BooleanField(default=False)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["release", "-created_at"], name="release_run_latest"),
            models.Index(
                fields=["touched_at"], name="release_run_running", condition=Q(state="running")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.release_id}"

    @property
    def is_scheduled(self) -> bool:
        """True if no person started it, so that each item goes live in the name of its approver."""
        return self.via == "system"


class ReleasePreviewLink(TemporaryLink):
    """A link to the site as of a release. `kinds`: the kinds of items that its creator could view."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="preview_links")
    kinds = models.JSONField(default=list)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["release", "-created_at"], name="release_preview_newest"),
            models.Index(fields=["expires_at"], name="release_preview_expires"),
        ]

    def __str__(self) -> str:
        return f"{self.release_id} until {self.expires_at:%Y-%m-%d %H:%M}"
