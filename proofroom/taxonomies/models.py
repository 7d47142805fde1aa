"""Taxonomy terms: the model, form inputs and API answers.

The taxonomies are defined in code (`proofroom_apps/starter/taxonomies/`).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final
from uuid import UUID, uuid4

from django import forms
from django.db import models
from django.utils.translation import gettext_lazy
from pydantic import Field

from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LOCALE_MAX

NAME_MAX: Final = 200
SLUG_MAX: Final = 100
DESCRIPTION_MAX: Final = 5000
ORDER_MAX: Final = 1_000_000


class Term(models.Model):
    """A term of a taxonomy in a locale. Terms form a tree if the taxonomy is hierarchical.

    `version` counts changes of the term, except of its position among its siblings.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    taxonomy = models.SlugField(max_length=60)
    slug = models.SlugField(max_length=SLUG_MAX, allow_unicode=True)
    name = models.CharField(max_length=NAME_MAX)
    description = models.TextField(blank=True, default="")
    locale = models.CharField(max_length=LOCALE_MAX, blank=True, default="")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    order_index = models.IntegerField(default=0)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["taxonomy", "locale", "slug"], name="term_slug_once"),
        ]
        ordering: ClassVar[list[str]] = ["order_index", "name"]

    def __str__(self) -> str:
        return self.name


class TermAnswer(Answer):
    """A term. An empty `locale` means every language."""

    id: UUID
    taxonomy: str
    slug: str
    name: str
    description: str
    parent_id: UUID | None
    locale: str
    order_index: int


class TermNodeAnswer(TermAnswer):
    """A term with its children."""

    children: list[TermNodeAnswer]


PARENT_FIELD: Final = FormField(
    lambda: forms.CharField(
        label=gettext_lazy("Parent term"),
        max_length=80,
        required=False,
        widget=forms.Select(attrs={"data-reference": "terms"}),
        help_text=gettext_lazy("Of the same taxonomy and language. Leave blank for none."),
    )
)
"""A search field. Without scripts it is a select, filled by the page."""


class TermFields(Body):
    """The fields of new and existing terms."""

    name: Annotated[
        Words,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)),
    ] = Field(min_length=1, max_length=NAME_MAX)
    slug: Annotated[
        Words | None,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Slug"),
                max_length=SLUG_MAX,
                required=False,
                help_text=gettext_lazy("Leave blank to generate it from the name."),
            )
        ),
    ] = Field(None, max_length=SLUG_MAX, description="Generated from the name if left out.")
    description: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Description"),
                max_length=DESCRIPTION_MAX,
                required=False,
                widget=forms.Textarea(attrs={"rows": 4}),
                help_text=gettext_lazy(
                    "Shown above the posts with this term, and to search engines."
                ),
            )
        ),
    ] = Field("", max_length=DESCRIPTION_MAX, description="Plain text.")
    parent_id: Annotated[Words | None, PARENT_FIELD] = Field(
        None, max_length=80, description="The ID of the parent term."
    )
    order_index: Annotated[
        int,
        FormField(
            lambda: forms.IntegerField(
                label=gettext_lazy("Position"), min_value=-ORDER_MAX, max_value=ORDER_MAX, initial=0
            )
        ),
    ] = Field(0, ge=-ORDER_MAX, le=ORDER_MAX)


class NewTerm(TermFields, answered_by=TermNodeAnswer):
    """A term. Other keys that a GET answers are ignored."""

    locale: Annotated[
        Words | None,
        FormField(
            lambda: forms.ChoiceField(
                label=gettext_lazy("Language"),
                required=False,
                choices=[*site_languages(), ("", gettext_lazy("All languages"))],
            )
        ),
    ] = Field(
        None,
        max_length=12,
        description="Defaults to the default locale; empty means every language.",
    )


class TermChanges(TermFields, answered_by=TermNodeAnswer, partial=True):
    """Changes of a term; absent fields stay unchanged. Other keys that a GET answers are ignored."""

    slug: Annotated[
        Words,
        FormField(lambda: forms.CharField(label=gettext_lazy("Slug"), max_length=SLUG_MAX)),
    ] = Field(min_length=1, max_length=SLUG_MAX)
    parent_id: Annotated[Words | None, PARENT_FIELD] = Field(
        None, max_length=80, description="Null for a top-level term."
    )
