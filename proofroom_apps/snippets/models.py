"""Snippets, which are saved modules and pieces of text, and templates of posts."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import uuid4

from django.db import models
from django.utils.translation import gettext_lazy

from proofroom.core.validation.limits import LOCALE_MAX

NAME_MAX: Final = 120
DESCRIPTION_MAX: Final = 300
TYPE_MAX: Final = 60


class Snippet(models.Model):
    """Saved modules, or a piece of rich text. Inserting it copies it; later changes do not reach the copies.

    `modules`: list of `StoredCopy`. `text`: a rich-text document. `kind` says which of them is filled. `types`: names
    of the post types it is offered in; an empty list means all, as an empty `locale` means all languages. `version`
    grows with every change, to detect a stale writer.
    """

    class Kind(models.TextChoices):
        MODULES = "modules", gettext_lazy("Modules")
        TEXT = "text", gettext_lazy("Text")

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=NAME_MAX, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    modules = models.JSONField(default=list, blank=True)
    text = models.JSONField(null=True, blank=True)
    types = models.JSONField(default=list, blank=True)
    locale = models.CharField(max_length=LOCALE_MAX, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "snippet"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(kind="text", text__isnull=False)
                | models.Q(kind="modules", text__isnull=True),
                name="snippet_modules_or_text",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class PostTemplate(models.Model):
    """The content of a post to start new posts from.

    `fields`: values of post fields, with `customFields`. `modules`: list of `StoredCopy`. `locale` is the language of
    its texts.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=NAME_MAX, unique=True)
    description = models.CharField(max_length=DESCRIPTION_MAX, blank=True, default="")
    type = models.SlugField(max_length=TYPE_MAX, db_index=False)
    locale = models.CharField(max_length=LOCALE_MAX)
    fields = models.JSONField(default=dict, blank=True)
    modules = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "post template"

    def __str__(self) -> str:
        return self.name
