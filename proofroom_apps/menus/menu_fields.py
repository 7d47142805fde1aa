"""Fields of menus: writable ones, and those in API answers. Declare a new field here and in the table."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import Field
from typing_extensions import TypedDict

from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.body import Body, Words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.validation.form_fields import FormField
from proofroom.core.validation.limits import LABEL_MAX, LOCALE_MAX, URL_MAX
from proofroom_apps.menus.items import ITEM_TYPES, MAX_MENU_DEPTH, MAX_MENU_ITEMS
from proofroom_apps.menus.models import NAME_MAX, SLUG_MAX

UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
ItemType = Annotated[str, one_of(ITEM_TYPES)]


class MenuItemAnswer(TypedDict):
    """An item as stored."""

    id: str
    label: str
    type: ItemType
    url: str
    postId: NotRequired[UuidText]
    children: list[MenuItemAnswer]


class MenuAnswer(Answer):
    """A menu for editing."""

    id: UUID
    name: str
    slug: str
    locale: str
    items: list[MenuItemAnswer]
    version: int = Field(ge=1)
    updated_at: datetime


class MenuEntry(Body):
    """A menu link: `custom` has a url, `post` uses the post's address and translation."""

    id: Words | None = Field(
        None, min_length=1, max_length=64, description="Leave it out for a new item."
    )
    label: Words = Field("", max_length=LABEL_MAX, description="If empty, the title of the post.")
    type: Literal["custom", "post"] = "custom"
    url: Words = Field("", max_length=URL_MAX, description="Ignored if the item is a post.")
    post_id: Words | None = Field(None, max_length=80)
    children: list[MenuEntry] = Field([], max_length=MAX_MENU_ITEMS)


LOCALE_FIELD: Final = FormField(
    lambda: forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
)


class NewMenu(Body, answered_by=MenuAnswer):
    """A menu. Other keys of a GET answer are ignored."""

    name: Annotated[
        Words,
        FormField(lambda: forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)),
    ] = Field(min_length=1, max_length=NAME_MAX)
    slug: Annotated[
        Words,
        FormField(
            lambda: forms.CharField(
                label=gettext_lazy("Slug"),
                max_length=SLUG_MAX,
                help_text=gettext_lazy("Use “main” or “footer”; other menus need a template."),
            )
        ),
    ] = Field(min_length=1, max_length=SLUG_MAX)
    locale: Annotated[Words | None, LOCALE_FIELD] = Field(
        None, max_length=12, description="Defaults to the default locale."
    )
    items: list[MenuEntry] = Field(
        [],
        max_length=MAX_MENU_ITEMS,
        description=f"A tree, at most {MAX_MENU_DEPTH} levels deep.",
    )
    version: int | None = Field(None, ge=0, description="Ignored when you create one.")


class MenuChanges(NewMenu, answered_by=MenuAnswer, partial=True):
    """Changes of a menu; absent fields are unchanged. Other keys of a GET answer are ignored."""

    locale: Annotated[Words, LOCALE_FIELD] = Field(max_length=LOCALE_MAX)
    version: int | None = Field(None, ge=0, description="The version you last read.")
