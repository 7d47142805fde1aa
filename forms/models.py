"""Forms, one per slug and locale, and their submissions."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models

from forms.fields import (
    DESCRIPTION_MAX,
    HONEYPOT,
    REDIRECT_URL_COLUMN_MAX,
    SLUG_MAX,
    SUBMIT_LABEL_MAX,
    SUCCESS_MESSAGE_MAX,
)
from proofroom.core.i18n.languages import language_name
from proofroom.core.validation.limits import LABEL_MAX, LOCALE_MAX


class FormDefinition(models.Model):
    """A form. `fields` is a list of `forms.fields.Field` as JSON."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    slug = models.SlugField(max_length=SLUG_MAX, db_index=False)
    locale = models.CharField(max_length=LOCALE_MAX)
    title = models.CharField(max_length=LABEL_MAX)
    description = models.TextField(blank=True, max_length=DESCRIPTION_MAX)
    fields = models.JSONField(default=list)
    submit_label = models.CharField(max_length=SUBMIT_LABEL_MAX)
    success_message = models.TextField(max_length=SUCCESS_MESSAGE_MAX)
    redirect_url = models.CharField(max_length=REDIRECT_URL_COLUMN_MAX, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    honeypot: ClassVar[str] = HONEYPOT

    class Meta:
        verbose_name = "form"
        ordering: ClassVar[list[str]] = ["slug", "locale"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["slug", "locale"], name="form_once_per_locale"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({language_name(self.locale)})"


class FormSubmission(models.Model):
    """A submission: values by field name. It is retained after its form is deleted, and contains no IP address.

    `event_ids`: events that contain the same values, to be deleted with it.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    form_slug = models.SlugField(max_length=SLUG_MAX, db_index=False)
    locale = models.CharField(max_length=LOCALE_MAX)
    payload = models.JSONField(default=dict)
    event_ids = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "submission"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["form_slug", "-created_at", "-id"], name="submission_newest"),
            models.Index(fields=["created_at"], name="submission_age"),
        ]

    def __str__(self) -> str:
        return f"{self.form_slug}, {self.created_at:%Y-%m-%d %H:%M}"
