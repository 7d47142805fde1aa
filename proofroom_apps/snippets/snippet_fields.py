"""Fields of snippets and post templates: writable ones, and those in API answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import AfterValidator, Field, StringConstraints
from typing_extensions import TypedDict

from content.modules.module_copies import COPIES_MAX
from proofroom.core.api.answer import Answer, AsStored, TextOrNull, one_of
from proofroom.core.api.body import Body, Id
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LOCALE_MAX
from proofroom.definitions.fields import check_line
from proofroom_apps.snippets.models import DESCRIPTION_MAX, NAME_MAX, TYPE_MAX

TYPES_MAX: Final = 50
Line = AfterValidator(check_line)
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_MAX), Line
]
Description = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=DESCRIPTION_MAX), Line
]


def language_choices() -> list[tuple[str, str]]:
    return [("", str(gettext_lazy("All languages"))), *site_languages()]


def type_choices() -> list[tuple[str, str]]:
    return [(name, in_words(label)) for name, label in post_type_labels().items()]


class SnippetModuleAnswer(TypedDict):
    """A module of a snippet. A global module has a slug and overrides, any other has props."""

    type: str
    props: dict[str, Any]
    overrides: dict[str, Any]
    globalSlug: Annotated[str, Field(description="Empty unless the module is global.")]


class SnippetAnswer(Answer):
    """Saved modules, or a piece of text. Inserting it makes a copy."""

    id: UUID
    name: str
    kind: Annotated[str, one_of(["modules", "text"])]
    modules: Annotated[list[SnippetModuleAnswer], AsStored()]
    text: Annotated[dict[str, Any] | None, AsStored()] = Field(
        description="A rich-text document; null if the snippet has modules."
    )
    types: list[str] = Field(description="Post types that offer it; empty means all.")
    locale: TextOrNull = Field(description="Null means all languages.")
    version: int = Field(ge=1)
    created_at: datetime
    updated_at: datetime


class SnippetGoneAnswer(Answer):
    """The snippet that was deleted."""

    id: UUID


class NewSnippet(Body, answered_by=SnippetAnswer):
    """A snippet: either `modules` or `text`. Other keys of a GET answer are ignored."""

    name: Annotated[
        Name,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)),
    ]
    modules: list[dict[str, Any]] | None = Field(
        None,
        max_length=COPIES_MAX,
        description="Modules as `{type, props, overrides, globalSlug}`.",
    )
    text: str | dict[str, Any] | None = Field(
        None, description="A rich-text document, or Markdown."
    )
    types: Annotated[
        list[Annotated[str, StringConstraints(max_length=TYPE_MAX)]] | None,
        FormField(
            lambda: forms.MultipleChoiceField(
                label=gettext_lazy("Post types"),
                required=False,
                choices=type_choices,
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext_lazy("Where the snippet is offered. None means everywhere."),
            )
        ),
    ] = Field(None, max_length=TYPES_MAX, description="Post types that offer it; empty means all.")
    locale: Annotated[
        Annotated[str, StringConstraints(max_length=LOCALE_MAX), Line] | None,
        FormField(
            lambda: forms.ChoiceField(
                label=gettext_lazy("Language"), required=False, choices=language_choices
            )
        ),
    ] = Field(None, description="A language of the site; null for all.")
    version: int | None = Field(None, ge=0, description="Ignored when you create one.")


class SnippetChanges(NewSnippet, answered_by=SnippetAnswer, partial=True):
    """Changes of a snippet; absent fields are unchanged. Other keys of a GET answer are ignored."""

    version: int | None = Field(None, ge=0, description="The version you last read.")


class TemplateModuleAnswer(Answer):
    """A module of a template, as its outline shows it."""

    type: str
    label: str


class PostTemplateAnswer(Answer):
    """The content of a post to start new posts from."""

    id: UUID
    name: str
    description: str
    type: str
    locale: str
    modules: list[TemplateModuleAnswer]
    created_at: datetime


class PostTemplateGoneAnswer(Answer):
    """The template that was deleted."""

    id: UUID


class NewPostTemplate(Body):
    """A template made from the live content of a post."""

    post: Id
    name: Annotated[
        Name,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)),
    ]
    description: Annotated[
        Description | None,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Description"),
                required=False,
                max_length=DESCRIPTION_MAX,
                help_text=gettext_lazy("What the template is for."),
            )
        ),
    ] = None
