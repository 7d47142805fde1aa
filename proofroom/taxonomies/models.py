"""Taxonomy terms. Which taxonomies there are is code (`proofroom/starter/taxonomies/`)."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models


class Term(models.Model):
    """A term of a taxonomy, in a locale; a tree where the taxonomy is hierarchical."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    taxonomy = models.SlugField(max_length=60)
    slug = models.SlugField(max_length=100, allow_unicode=True)
    name = models.CharField(max_length=200)
    locale = models.CharField(max_length=12, blank=True, default="")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    order_index = models.IntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["taxonomy", "locale", "slug"], name="term_slug_once"),
        ]
        ordering: ClassVar[list[str]] = ["order_index", "name"]

    def __str__(self) -> str:
        return self.name
