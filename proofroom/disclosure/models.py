"""The settings of the disclosure of AI work to visitors."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

TYPE_MAX = 60


class Show(models.TextChoices):
    """Where pages disclose AI work."""

    LINE = "line", _("A line on the page")
    JSONLD = "jsonld", _("Structured data for machines")
    BOTH = "both", _("Both")


class DisclosureSettings(models.Model):
    """How pages disclose AI work, in one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    show = models.CharField(max_length=6, choices=Show, default=Show.BOTH)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "disclosure settings"
        verbose_name_plural = "disclosure settings"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(pk=1), name="disclosure_settings_once"),
        ]

    def __str__(self) -> str:
        return "disclosure settings"


class DisclosedType(models.Model):
    """A post type whose posts disclose AI work. A row each, so that queries of posts can join them."""

    type = models.SlugField(max_length=TYPE_MAX, primary_key=True)

    def __str__(self) -> str:
        return self.type
