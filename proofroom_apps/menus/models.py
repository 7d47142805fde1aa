"""Menus, one per slug and locale."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.db import models

from proofroom.core.i18n.languages import language_name
from proofroom.core.validation.limits import LOCALE_MAX

NAME_MAX: Final = 200
SLUG_MAX: Final = 100


class Menu(models.Model):
    """A named list of links. `items` is a tree of `{id, label, type, url, postId?, children}`.

    `version` grows with every change, to detect a stale writer.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    slug = models.SlugField(max_length=SLUG_MAX)
    locale = models.CharField(max_length=LOCALE_MAX)
    name = models.CharField(max_length=NAME_MAX)
    items = models.JSONField(default=list, blank=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["slug", "locale"], name="menu_once_per_locale"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({language_name(self.locale)})"
