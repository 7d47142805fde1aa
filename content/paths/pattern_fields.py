"""URL patterns: writable fields and API output. A new field is declared here and in the model."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import Field

from content.document.labels import type_choices
from content.models.paths import PATTERN_MAX
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LOCALE_MAX


class UrlPatternAnswer(Answer):
    """The pattern of the paths of a post type in a locale. `pending`: posts are still being moved."""

    id: UUID
    type: str
    locale: str
    pattern: str = Field(max_length=PATTERN_MAX)
    pending: bool = Field(validation_alias="is_pending")
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


Pattern = Annotated[
    Words,
    FormField(
        lambda: forms.CharField(
            label=gettext_lazy("Pattern"),
            max_length=PATTERN_MAX,
            help_text=gettext_lazy(
                "For example, /news/{yyyy}/{slug}. Variables: {slug}, {path} "
                "(including parent pages), {locale}, {yyyy}, {mm}, {dd}. Old "
                "addresses redirect to the new ones."
            ),
        )
    ),
    Field(min_length=1, max_length=PATTERN_MAX),
]


class NewPattern(Body, answered_by=UrlPatternAnswer):
    """A URL pattern. Other keys of a GET response are ignored."""

    type: Annotated[
        Words,
        FormField(lambda: forms.ChoiceField(label=gettext_lazy("Post type"), choices=type_choices)),
    ] = Field(min_length=1, max_length=60, description="Post type.")
    locale: Annotated[
        Words,
        FormField(
            lambda: forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
        ),
    ] = Field(min_length=1, max_length=12)
    pattern: Pattern = Field(
        description="A path such as /news/{yyyy}/{slug}. Variables: {slug} {path} {locale} {yyyy} {mm} {dd}."
    )
    version: int | None = Field(None, ge=0, description="Ignored when you create one.")


class PatternChanges(Body, answered_by=UrlPatternAnswer):
    """Another pattern for the same type and locale."""

    type: Words | None = Field(None, max_length=60, description="Must be unchanged.")
    locale: Words | None = Field(None, max_length=LOCALE_MAX, description="Must be unchanged.")
    pattern: Pattern
    version: int | None = Field(None, ge=0, description="The version you last read.")
