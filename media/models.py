"""Media: files with their description."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.conf import settings
from django.db import models

ALT_TEXT_MAX: Final = 500
DESCRIPTION_MAX: Final = 2000
LIVE: Final = "live"
"""The layer of what visitors see."""


class AssetStatus(models.TextChoices):
    """The progress of the variants. Until they are ready, pages show the file itself."""

    PROCESSING = "processing", "Generating sizes"
    READY = "ready", "Ready"
    FAILED = "failed", "Failed"


class Asset(models.Model):
    """A stored file. `file`, `variants` and `dark_variants` are paths in the storage; `filename` is the original
    name. The focal point is in fractions of width and height, from the left and the top; none means the middle.

    `alt_text` is in the default language, `alt_texts` in the others, by language; where `is_decorative`, pages give
    none. `digest` is the SHA-256 of the file as it came, empty for those that came before it was kept.
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

    def __str__(self) -> str:
        return self.filename


class MediaReference(models.Model):
    """A place where an asset is used: one row a place, written in the transaction of the change that made it.

    The holder is named, not keyed: media knows no post. `holder_kind` is what registered itself in
    `media.usage_sources` (`post`, `global-module`), `path` a path of contract §6,
    `layer` one of live, review, ai-review.
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
    """A file of the storage, by its name there: every one has its row before it is written.

    So a killed process leaves nothing that is not known, an old name still leads to the asset after its file was
    replaced, and whatever lies in the storage without a row is an orphan. `due_at` is when a file that is no longer
    in use is deleted (cached pages still show it for a while); None while it is in use.
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
    """The theme that variants are made for."""

    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class VariantWork(models.Model):
    """Variants that a worker has to make: one row for each theme of an asset, gone once they are made.

    Who takes it up moves `due_at` ahead, so that no second worker does. After the last try it stays, with the reason.
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
    """A check of the storage that somebody asked for. The lists hold the first that were found."""

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


class AssetSearchEntry(models.Model):
    """The search entry of a file. Its words are no column of the model: each database keeps them in its own way."""

    id = models.BigAutoField(primary_key=True)
    asset = models.OneToOneField(Asset, on_delete=models.CASCADE, related_name="+")
    word_rules = models.PositiveSmallIntegerField(db_default=1)
    """The version of the rules by which its words were cut."""

    def __str__(self) -> str:
        return f"words of {self.asset_id}"
