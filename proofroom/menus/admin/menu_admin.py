"""Menus: made, put in order as a tree, and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy

from proofroom.core.admin.labels import LanguageFilter, language
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.row_forms import RowsForm, ShownAgainAdmin
from proofroom.core.validation.form_fields import InputForm
from proofroom.menus.admin.item_rows import MenuRow, rows_of
from proofroom.menus.admin.menu_page import apply_button, read_items, tree_context
from proofroom.menus.menu_fields import MenuChanges, NewMenu
from proofroom.menus.models import Menu
from proofroom.menus.services import change_menu, create_menu, delete_menu


class NewMenuForm(InputForm):
    input_class = NewMenu
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Begin with"),
        queryset=Menu.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Nothing"),
        help_text=gettext_lazy(
            "The items of another menu are copied. Those for posts lead to their translations by themselves."
        ),
    )


class ChangeMenuForm(InputForm, RowsForm):
    """The form of a menu that is there; the items are read from all that was sent."""

    input_class = MenuChanges
    rows_field = wire_name = "items"
    unreadable = gettext_lazy("The items cannot be read: %(problem)s.")
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    items = forms.Field(required=False, widget=forms.HiddenInput)

    def rows_sent(self, data: QueryDict) -> object:
        return read_items(data)


@admin.register(Menu)
class MenuAdmin(ShownAgainAdmin[Menu]):
    view_permission = add_permission = "menus.edit"
    empty_words = gettext_lazy(
        "A menu leads visitors to your pages. The site shows the ones with the slugs main and footer."
    )
    list_title = gettext_lazy("Menus")
    add_title = gettext_lazy("New menu")
    add_button = gettext_lazy("Make the menu")
    add_form, change_form = NewMenuForm, ChangeMenuForm
    change_template = "admin/menus/menu.html"
    delete_sentence = gettext_lazy(
        "The menu goes for good. Where the default language has one of its slug, that one is shown."
    )
    list_display = ("name", "slug", language, "entries", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("name", "slug")
    ordering = ("slug", "locale")

    @admin.display(description=gettext_lazy("Items"))
    def entries(self, menu: Menu) -> int:
        return sum(1 for _row in rows_of(menu.items))

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = {name: form.cleaned_data[name] for name in ("name", "slug", "locale")}
        copied = form.cleaned_data["copied"]
        items = copied.items if copied else []
        menu = create_menu(actor=actor_of(request), items=items, **values)
        return HttpResponseRedirect(reverse("admin:proofroom_menus_menu_change", args=[menu.pk]))

    def initial(self, row: Menu) -> Mapping[str, object]:
        names = ("name", "slug", "locale", "version")
        return {name: getattr(row, name) for name in names}

    def shown(self, request: HttpRequest, row: Menu, form: forms.Form) -> Mapping[str, object]:
        rows, said = self._rows(request, row)
        problems = cast(ChangeMenuForm, form).problems
        words = request.POST.get("find", "")
        context = tree_context(row, rows, words=words, errors=problems)
        is_changed = request.method == "POST"
        # The item that was added just now, which is the last; its fields are open.
        is_new = request.POST.get("do", "").startswith("add")
        return {
            **context,
            "said": said,
            "is_changed": is_changed,
            "new_id": (rows[-1].id if is_new and rows else ""),
        }

    def _rows(self, request: HttpRequest, row: Menu) -> tuple[list[MenuRow], str]:
        if request.method == "POST":
            # Those that cannot be read give way to the stored ones: an empty tree would be saved as one.
            with suppress(ValueError):
                return apply_button(request.POST, row.locale)
        return list(rows_of(row.items)), ""

    def change(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        with cast(ChangeMenuForm, form).refusals_at_rows():
            change_menu(menu_id=row.pk, actor=actor_of(request), expected_version=version, **values)

    def remove(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        delete_menu(menu_id=row.pk, actor=actor_of(request))
