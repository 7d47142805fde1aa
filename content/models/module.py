"""Modules in the database: an instance has the props, a placement puts it on a post, a group is a layout."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q

from content.models.post import Post


class ModuleInstanceQuerySet(models.QuerySet["ModuleInstance"]):
    def globals(self) -> ModuleInstanceQuerySet:
        """Return the global modules, which posts share."""
        return self.filter(scope="global")


class ModuleInstance(models.Model):
    """The props of a module. All posts that place a global module share its instance.

    `version` counts the changes of a global module. A local one changes with its post.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    type = models.CharField(max_length=80)
    scope = models.CharField(
        max_length=10, choices=[("local", "local"), ("global", "global"), ("static", "static")]
    )
    global_slug = models.SlugField(max_length=100, null=True, blank=True, unique=True)
    label = models.CharField(max_length=200, blank=True)
    props = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[models.Manager[ModuleInstance]] = models.Manager.from_queryset(
        ModuleInstanceQuerySet
    )()

    class Meta:
        verbose_name = "global module"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="module_global_has_slug",
                condition=Q(scope="global", global_slug__isnull=False)
                | Q(~Q(scope="global"), global_slug__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.label or f"{self.type} {self.pk}"


class PostModule(models.Model):
    """The placement of an instance on a post. Its id is the `postModuleId` in every layer."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="placements")
    instance = models.ForeignKey(
        ModuleInstance, on_delete=models.PROTECT, related_name="placements"
    )
    order_index = models.PositiveIntegerField()
    locked = models.BooleanField(default=False)
    overrides = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["post", "order_index"], name="module_order"),
        ]

    def __str__(self) -> str:
        return f"{self.instance} on {self.post_id}"


class ModuleGroup(models.Model):
    """A layout template created by an editor, besides the templates in code.

    `modules`: list of `{type, scope, locked, props, globalSlug}`.
    """

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
