"""What visitors looked at and clicked on. Nothing here says who they were."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class EventType(models.TextChoices):
    VIEW = "view"
    CLICK = "click"


class AnalyticsEvent(models.Model):
    """A view or a click. `post_id` is empty on pages that are no post's; `x` and `y` are pixels of the document.

    No foreign key: a row is written for each click, and outlives its post.
    """

    event_type = models.CharField(max_length=5, choices=EventType.choices)
    post_id = models.UUIDField(null=True)
    x = models.FloatField(null=True)
    y = models.FloatField(null=True)
    viewport_width = models.PositiveIntegerField(null=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["created_at"], name="analytics_when"),
            models.Index(fields=["post_id", "event_type", "created_at"], name="analytics_of_post"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(event_type__in=EventType.values), name="analytics_type_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} of {self.post_id or 'a page'}"
