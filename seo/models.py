"""Redirects: the table, the input of users, and the API response.

A new field is only declared here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID, uuid4

from django import forms
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy, pgettext_lazy
from pydantic import Field

from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Words
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LOCALE_MAX, URL_MAX


class RedirectType(models.IntegerChoices):
    PERMANENT = 301
    TEMPORARY = 302


TYPE_NAMES: Final = tuple(str(type_.value) for type_ in RedirectType)
"""The types in queries, files and forms."""
TYPE_CHOICES: Final = list(
    zip(TYPE_NAMES, (gettext_lazy("301: permanent"), gettext_lazy("302: temporary")), strict=True)
)


class Redirect(models.Model):
    """A redirect. `is_automatic`: created by the move of a post.

    The keys are hashes of the paths, because addresses are too long for an index. `to_key` is empty for another
    site.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    from_path = models.CharField(max_length=URL_MAX)
    from_key = models.CharField(max_length=64, unique=True)
    to_path = models.CharField(max_length=URL_MAX)
    to_key = models.CharField(max_length=64, blank=True, default="")
    type = models.PositiveSmallIntegerField(
        choices=RedirectType.choices, default=RedirectType.PERMANENT
    )
    locale = models.CharField(max_length=LOCALE_MAX)
    is_active = models.BooleanField(default=True)
    is_automatic = models.BooleanField(default=False)
    hits = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(type__in=RedirectType.values), name="redirect_type_known"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(F("created_at").desc(), "id", name="redirect_list"),
            models.Index(fields=["to_key"], name="redirect_to"),
        ]

    def __str__(self) -> str:
        return self.from_path


class RedirectAnswer(Answer):
    """A redirect. `locale` is the locale of its source address."""

    id: UUID
    from_path: str
    to_path: str
    type: RedirectType
    locale: str
    active: bool = Field(validation_alias="is_active")
    automatic: bool = Field(validation_alias="is_automatic")
    hits: int = Field(ge=0)
    created_at: datetime
    updated_at: datetime


class NewRedirect(Body, answered_by=RedirectAnswer):
    """A redirect. Other keys of a GET response are ignored."""

    from_path: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=pgettext_lazy("address", "From"),
                max_length=URL_MAX,
                help_text=gettext_lazy("A path on this site, such as /old."),
            )
        ),
    ] = Field(min_length=1, max_length=URL_MAX, description="A path of this site.")
    to_path: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=pgettext_lazy("address", "To"),
                max_length=URL_MAX,
                help_text=gettext_lazy("A path on this site, or http(s)://…"),
            )
        ),
    ] = Field(
        min_length=1,
        max_length=URL_MAX,
        description="A path of this site or an absolute http(s) address.",
    )
    type: Annotated[
        int,
        FormField(
            lambda: forms.TypedChoiceField(
                label=gettext_lazy("Kind"), choices=TYPE_CHOICES, coerce=int
            )
        ),
    ] = Field(
        RedirectType.PERMANENT.value, ge=min(RedirectType.values), le=max(RedirectType.values)
    )
    active: Annotated[
        bool,
        FormField(
            lambda: forms.BooleanField(label=gettext_lazy("Active"), required=False, initial=True)
        ),
    ] = True


class RedirectChanges(NewRedirect, answered_by=RedirectAnswer, partial=True):
    """Changes of a redirect; absent keys stay. Other keys of a GET response are ignored."""
