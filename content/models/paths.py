"""URL patterns, and posts whose descendants still have outdated paths."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models

from content.models.post import Post
from proofroom.core.i18n.languages import language_name
from proofroom.core.validation.limits import LOCALE_MAX

PATTERN_MAX = 200


class UrlPattern(models.Model):
    """The URL pattern of a post type in one locale, if it differs from the type's own pattern.

    `is_pending`: stored paths do not all follow the pattern yet. A removed pattern keeps its row until all paths
    follow the type's own pattern again.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    type = models.SlugField(max_length=60)
    locale = models.CharField(max_length=LOCALE_MAX)
    pattern = models.CharField(max_length=PATTERN_MAX)
    is_removed = models.BooleanField(default=False)
    is_pending = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "URL pattern"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["type", "locale"], name="url_pattern_once"),
        ]

    def __str__(self) -> str:
        return f"{self.pattern} ({language_name(self.locale)})"


class TreeMove(models.Model):
    """A moved post whose descendants still have their old paths. Deleted when the work is done.

    `total` and `done` count descendants. `version` grows if the post moves again meanwhile.
    """

    post = models.OneToOneField(Post, on_delete=models.CASCADE, primary_key=True, related_name="+")
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.done} of {self.total} below {self.post_id}"
