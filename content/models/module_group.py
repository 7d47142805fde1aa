"""Module groups that people made, beside those that are code (`proofroom/starter/module_groups/`)."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models


class ModuleGroup(models.Model):
    """A layout template. `modules` is a list of `{type, scope, locked, props, globalSlug}`."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.SlugField(max_length=80, unique=True)
    label = models.CharField(max_length=200)
    description = models.CharField(max_length=500, blank=True, default="")
    post_type = models.SlugField(max_length=60)
    modules = models.JSONField(default=list)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.label
