"""Menus: made, changed and deleted. Their items are written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from content.models import Menu
from content.services.menus import NAME_MAX, SLUG_MAX, change_menu, create_menu, delete_menu
from core.admin.edits import EditAdmin
from core.admin.rights import actor_of
from core.errors import CmsError, RuleViolation
from core.json import Json

_EXAMPLE = [{"label": "Home", "type": "custom", "url": "/", "children": []}]
_ITEMS_HELP = (
    "A JSON list of {label, type, url, postId, children}. Type custom leads to its url; type post follows the post "
    "of that id, also to its translation, and without a label has the post's title."
)


class MenuForm(forms.Form):
    name = forms.CharField(label="Name", max_length=NAME_MAX)
    slug = forms.CharField(
        label="Slug", max_length=SLUG_MAX, help_text="The site shows main and footer."
    )
    locale = forms.ChoiceField(label="Language")
    items = forms.CharField(
        label="Items",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 20, "class": "json", "spellcheck": "false"}),
        help_text=_ITEMS_HELP,
    )
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["locale"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(locale, locale) for locale in settings.CMS_ENV.locales]
        if not self.initial:
            self.initial = {"items": _json(_EXAMPLE)}

    def clean_items(self) -> Json:
        try:
            found: Json = json.loads(self.cleaned_data["items"])
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is no JSON: {str(error)[:100]}.") from None
        return found


@admin.register(Menu)
class MenuAdmin(EditAdmin[Menu]):
    view_permission = add_permission = "menus.edit"
    list_title = "Menus"
    add_title, add_button, add_form = "New menu", "Make the menu", MenuForm
    change_form = MenuForm
    delete_sentence = (
        "The menu goes for good. Where the default language has one of its slug, that one is shown."
    )
    list_display = ("name", "slug", "locale", "updated_at")
    list_filter = ("locale",)
    search_fields = ("name", "slug")
    ordering = ("slug", "locale")

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = {name: form.cleaned_data[name] for name in ("name", "slug", "locale", "items")}
        try:
            menu = create_menu(actor=actor_of(request), **values)
        except RuleViolation as error:
            raise _at_the_box(error) from None
        return HttpResponseRedirect(reverse("admin:content_menu_change", args=[menu.pk]))

    def initial(self, row: Menu) -> Mapping[str, object]:
        return {
            "name": row.name,
            "slug": row.slug,
            "locale": row.locale,
            "items": _json(row.items),
            "version": row.version,
        }

    def change(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        try:
            change_menu(menu_id=row.pk, actor=actor_of(request), expected_version=version, **values)
        except RuleViolation as error:
            raise _at_the_box(error) from None

    def remove(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        delete_menu(menu_id=row.pk, actor=actor_of(request))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _at_the_box(error: RuleViolation) -> CmsError:
    """The refusal with what is wrong in an item at the one box that holds them all."""
    details: dict[str, list[str]] = {}
    for path, sentences in error.details.items():
        name, _, rest = path.partition(".")
        said = [f"{rest}: {text}" if rest else text for text in sentences]
        details.setdefault(name, []).extend(said)
    return RuleViolation(error.message, code=error.code, details=details)
