"""Redirects: where addresses that nothing stands at lead."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import F, Q

ADDRESS_MAX = 2000


class RedirectType(models.IntegerChoices):
    PERMANENT = 301
    TEMPORARY = 302


class Redirect(models.Model):
    """`is_automatic` ones came with the move of a post.

    The keys are hashes of the paths: addresses are longer than an index takes. `to_key` is empty for another site.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    from_path = models.CharField(max_length=ADDRESS_MAX)
    from_key = models.CharField(max_length=64, unique=True)
    to_path = models.CharField(max_length=ADDRESS_MAX)
    to_key = models.CharField(max_length=64, blank=True, default="")
    type = models.PositiveSmallIntegerField(
        choices=RedirectType.choices, default=RedirectType.PERMANENT
    )
    locale = models.CharField(max_length=12)
    is_active = models.BooleanField(default=True)
    is_automatic = models.BooleanField(default=False)
    hits = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(type__in=[301, 302]), name="redirect_type_known"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(F("created_at").desc(), "id", name="redirect_list"),
            models.Index(fields=["to_key"], name="redirect_to"),
        ]

    def __str__(self) -> str:
        return self.from_path
