"""Feedback: notes at a place on a page."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q

from content.models.post import Post


class FeedbackCategory(models.TextChoices):
    COMMENT = "comment"
    COPY = "copy"
    BUG = "bug"
    FEATURE = "feature"


class FeedbackStatus(models.TextChoices):
    PENDING = "pending"
    RESOLVED = "resolved"


class Feedback(models.Model):
    """A note on a post. `x` and `y` are pixels of the page; `element_selector` is the element there."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="feedback")
    category = models.CharField(
        max_length=10, choices=FeedbackCategory.choices, default=FeedbackCategory.COMMENT
    )
    content = models.TextField(max_length=5000)
    x = models.FloatField(null=True)
    y = models.FloatField(null=True)
    element_selector = models.CharField(max_length=500, blank=True)
    status = models.CharField(
        max_length=10, choices=FeedbackStatus.choices, default=FeedbackStatus.PENDING
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "feedback"
        verbose_name_plural = "feedback"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "-created_at", "-id"], name="feedback_of_post"),
            models.Index(fields=["-created_at", "-id"], name="feedback_newest"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(status="resolved") | Q(resolved_at__isnull=True),
                name="feedback_resolved_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category} {self.pk}"
