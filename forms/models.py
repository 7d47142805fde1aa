"""Forms, one per slug and locale, and their submissions."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models

from forms.fields import (
    DESCRIPTION_MAX,
    FIELD_NAME_MAX,
    HONEYPOT,
    REDIRECT_URL_COLUMN_MAX,
    SLUG_MAX,
    SUBMIT_LABEL_MAX,
    SUCCESS_MESSAGE_MAX,
)
from proofroom.core.i18n.languages import language_name
from proofroom.core.validation.limits import LABEL_MAX, LOCALE_MAX


class FormDefinition(models.Model):
    """A form. `fields` is a list of `forms.fields.Field` as JSON, `confirmation` a `Confirmation` or null."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    slug = models.SlugField(max_length=SLUG_MAX, db_index=False)
    locale = models.CharField(max_length=LOCALE_MAX)
    title = models.CharField(max_length=LABEL_MAX)
    description = models.TextField(blank=True, max_length=DESCRIPTION_MAX)
    fields = models.JSONField(default=list)
    submit_label = models.CharField(max_length=SUBMIT_LABEL_MAX)
    success_message = models.TextField(max_length=SUCCESS_MESSAGE_MAX)
    redirect_url = models.CharField(max_length=REDIRECT_URL_COLUMN_MAX, blank=True)
    confirmation = models.JSONField(null=True, blank=True, default=None)
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


class ConfirmationState(models.TextChoices):
    """Whether the sender of a submission gets a confirmation by email."""

    NONE = ""
    DUE = "due"
    SENT = "sent"
    LIMITED = "limited"


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
    confirmation = models.CharField(
        max_length=10,
        choices=ConfirmationState,
        blank=True,
        default=ConfirmationState.NONE,
        db_default=ConfirmationState.NONE,
    )

    class Meta:
        verbose_name = "submission"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["form_slug", "-created_at", "-id"], name="submission_newest"),
            models.Index(fields=["created_at"], name="submission_age"),
        ]

    def __str__(self) -> str:
        return f"{self.form_slug}, {self.created_at:%Y-%m-%d %H:%M}"


class SubmissionFile(models.Model):
    """A file of a submission. Its name is in the submission's payload.

    The content is in the database, so that it is deleted with the submission in the same transaction, and no
    address of the media leads to it.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    submission = models.ForeignKey(FormSubmission, on_delete=models.CASCADE, related_name="files")
    field = models.CharField(max_length=FIELD_NAME_MAX)
    media_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        verbose_name = "file of a submission"
        verbose_name_plural = "files of submissions"

    def __str__(self) -> str:
        return f"{self.field} ({self.media_type})"
