"""Models of media: files with their metadata."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models

ALT_TEXT_MAX: Final = 500
DESCRIPTION_MAX: Final = 2000
LIVE: Final = "live"
"""Layer of the public content."""
POSTER_HOLDER: Final = "media"
"""Kind of holder of a reference to a poster: the video or audio file that shows it."""
RECORDING_TYPES: Final = ("video/", "audio/")
"""Beginnings of the media types of recordings: files with a duration, which a player plays."""


class AssetStatus(models.TextChoices):
    """State of the variants. Until they are ready, pages show the original file."""

    PROCESSING = "processing", "Generating sizes"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


class Asset(models.Model):
    """A stored file.

    `file`, `variants` and `dark_variants` are paths in the storage; `filename` is the original name. The focal
    point is in fractions of width and height from the left and top; None means the centre. `alt_text` is in the
    default language, `alt_texts` holds the others by language; pages ignore both if `is_decorative`. `digest`
    is the SHA-256 of the original file, empty for old files.

    Videos and audio have `duration` in seconds. `captions` are names of WebVTT files by language. `poster` is the id
    of the image that is shown before a video starts, and `poster_file` the name of its file, so that pages need not
    look it up; an old name leads to the current file.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    filename = models.CharField(max_length=255)
    file = models.FileField(max_length=300)
    size = models.PositiveBigIntegerField()
    mime = models.CharField(max_length=100)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    variants = models.JSONField(default=dict, blank=True)
    dark_variants = models.JSONField(default=dict, blank=True)
    status = models.CharField(max_length=12, choices=AssetStatus.choices, default=AssetStatus.READY)
    focal_x = models.FloatField(null=True, blank=True)
    focal_y = models.FloatField(null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True, default="", db_index=True)
    alt_text = models.CharField(max_length=ALT_TEXT_MAX, blank=True, default="")
    alt_texts = models.JSONField(default=dict, blank=True)
    is_decorative = models.BooleanField(default=False)
    duration = models.FloatField(null=True, blank=True)
    poster = models.UUIDField(null=True, blank=True)
    poster_file = models.CharField(max_length=300, blank=True, default="", db_default="")
    captions = models.JSONField(null=True, blank=True)
    description = models.CharField(max_length=DESCRIPTION_MAX, blank=True, default="")
    categories = models.JSONField(default=list, blank=True)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "file"
        verbose_name_plural = "media"
        ordering: ClassVar[list[str]] = ["-created_at"]

    @property
    def is_recording(self) -> bool:
        return self.mime.startswith(RECORDING_TYPES)

    def __str__(self) -> str:
        return self.filename


class MediaReference(models.Model):
    """One place where an asset is used, written in the transaction of the change.

    The holder is no foreign key, because media doesn't depend on posts. `holder_kind` is registered in
    `media.usage_sources` (`post`, `global-module`), `path` is a path of contract §6, `layer` is live, review or
    ai-review.
    """

    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="references")
    holder_kind = models.CharField(max_length=20)
    holder_id = models.UUIDField()
    layer = models.CharField(max_length=10)
    path = models.CharField(max_length=300)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["holder_kind", "holder_id", "layer", "path", "asset"],
                name="media_reference_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.holder_kind} {self.holder_id} ({self.layer}): {self.path}"


class StoredFile(models.Model):
    """A file in the storage by name. The row is created before the file is written.

    Therefore a killed process leaves no unknown file, an old name still leads to its asset after a replacement,
    and a file without a row is an orphan. `due_at`: time when an unused file is deleted, later than its last
    use because of cached pages; None while in use.
    """

    name = models.CharField(max_length=300, unique=True)
    asset = models.ForeignKey(
        Asset, null=True, blank=True, on_delete=models.SET_NULL, related_name="files"
    )
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    is_deleted = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name


class ImageTheme(models.TextChoices):
    """The theme of variants."""

    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class VariantWork(models.Model):
    """Variants to be made by a worker: one row per asset and theme, deleted when done.

    A worker claims the work by moving `due_at` ahead. After the last attempt the row stays, with the reason.
    """

    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="works")
    theme = models.CharField(max_length=5, choices=ImageTheme.choices)
    due_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    is_given_up = models.BooleanField(default=False)
    reason = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["asset", "theme"], name="variant_work_once"),
        ]

    def __str__(self) -> str:
        return f"{self.theme} variants of {self.asset_id}"


class FileCheck(models.Model):
    """A requested check of the storage. The lists hold the first findings only."""

    asked_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    checked = models.PositiveBigIntegerField(default=0)
    missing_count = models.PositiveBigIntegerField(default=0)
    orphaned_count = models.PositiveBigIntegerField(default=0)
    missing = models.JSONField(default=list)
    orphaned = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar[list[str]] = ["-id"]

    def __str__(self) -> str:
        return f"check of {self.asked_at:%Y-%m-%d %H:%M}"


class AltTextState(models.TextChoices):
    """State of a proposed alt text. `replaced`: a newer proposal took its place before a decision."""

    WAITING = "waiting", "Waiting"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"
    REPLACED = "replaced", "Replaced"


class AltTextProposal(models.Model):
    """An alt text that an agent or AI client proposed for a file.

    `before`: the alt text of the language when it was proposed. `reason`: the explanation by the author. `note`: the
    reason of a rejection. `principal`: the credential of an AI client.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="alt_text_proposals")
    locale = models.CharField(max_length=20)
    text = models.CharField(max_length=ALT_TEXT_MAX)
    before = models.CharField(max_length=ALT_TEXT_MAX, blank=True, default="")
    state = models.CharField(
        max_length=10, choices=AltTextState.choices, default=AltTextState.WAITING
    )
    reason = models.CharField(max_length=500, blank=True, default="")
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    agent_id = models.CharField(max_length=100, blank=True, default="")
    run_id = models.CharField(max_length=40, blank=True, default="")
    principal = models.CharField(max_length=100, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["state", "created_at"], name="media_alt_text_waiting"),
        ]

    def __str__(self) -> str:
        return f"alt text for {self.asset_id} ({self.locale}): {self.state}"


class AssetSearchEntry(models.Model):
    """The search entry of a file. Its words are not a model field, because their storage depends on the database."""

    id = models.BigAutoField(primary_key=True)
    asset = models.OneToOneField(Asset, on_delete=models.CASCADE, related_name="+")
    word_rules = models.PositiveSmallIntegerField(db_default=1)
    """Version of the word rules used for this entry."""

    def __str__(self) -> str:
        return f"words of {self.asset_id}"
