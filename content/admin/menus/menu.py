"""Menus: made, put in order as a tree, and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.admin.menus.page import acted, items_sent, tree_context
from content.admin.menus.rows import Row, rows_of
from content.models import Menu
from content.services.menus import NAME_MAX, SLUG_MAX, change_menu, create_menu, delete_menu
from core.admin.edits import EditAdmin
from core.admin.rights import actor_of, require
from core.errors import CmsError, RuleViolation


class MenuForm(forms.Form):
    """Named as on the wire, as the refusals of the service are; the items are read from what was sent."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)
    slug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=SLUG_MAX,
        help_text=gettext_lazy("The site shows main and footer."),
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["locale"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(locale, locale) for locale in settings.CMS_ENV.locales]


class NewMenuForm(MenuForm):
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Begin with"),
        queryset=Menu.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Nothing"),
        help_text=gettext_lazy(
            "The items of another menu are copied. Those for posts lead to their translations by themselves."
        ),
    )


class ChangeMenuForm(MenuForm):
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    items = forms.Field(required=False, widget=forms.HiddenInput)
    problems: Mapping[str, Sequence[str]] = {}
    """What was refused, by the path of the item."""

    def clean(self) -> dict[str, Any]:
        if not isinstance(self.data, QueryDict):
            raise TypeError(self.data)
        try:
            self.cleaned_data["items"] = items_sent(self.data)
        except ValueError as error:
            said = _("The items cannot be read: %(problem)s.") % {"problem": str(error)[:100]}
            self.add_error("items", said)
        return self.cleaned_data


@admin.register(Menu)
class MenuAdmin(EditAdmin[Menu]):
    view_permission = add_permission = "menus.edit"
    list_title = gettext_lazy("Menus")
    add_title = gettext_lazy("New menu")
    add_button = gettext_lazy("Make the menu")
    add_form, change_form = NewMenuForm, ChangeMenuForm
    change_template = "admin/menus/menu.html"
    delete_sentence = gettext_lazy(
        "The menu goes for good. Where the default language has one of its slug, that one is shown."
    )
    list_display = ("name", "slug", "locale", "entries", "updated_at")
    list_filter = ("locale",)
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
        return HttpResponseRedirect(reverse("admin:content_menu_change", args=[menu.pk]))

    def initial(self, row: Menu) -> Mapping[str, object]:
        names = ("name", "slug", "locale", "version")
        return {name: getattr(row, name) for name in names}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Every button but the one that saves shows the form again, with what it did to the items."""
        if request.method != "POST" or request.POST.get("do", "save") == "save":
            return super().change_view(request, object_id, form_url, extra_context)
        require(request, self.add_permission)
        row = self._find(object_id)
        return self.change_page(request, row, ChangeMenuForm(initial=request.POST.dict()))

    def shown(self, request: HttpRequest, row: Menu, form: forms.Form) -> Mapping[str, object]:
        rows, said = self._rows(request, row)
        problems = form.problems if isinstance(form, ChangeMenuForm) else {}
        words = request.POST.get("find", "")
        context = tree_context(row, rows, words=words, errors=problems)
        is_changed = request.method == "POST"
        return {**context, "said": said, "is_changed": is_changed, "new_id": _new_id(request, rows)}

    def _rows(self, request: HttpRequest, row: Menu) -> tuple[list[Row], str]:
        if request.method != "POST":
            return list(rows_of(row.items)), ""
        return acted(request.POST, row.locale)

    def change(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        try:
            change_menu(menu_id=row.pk, actor=actor_of(request), expected_version=version, **values)
        except RuleViolation as error:
            if isinstance(form, ChangeMenuForm):
                form.problems = error.details
            raise _at_the_tree(error) from None

    def remove(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        delete_menu(menu_id=row.pk, actor=actor_of(request))


def _new_id(request: HttpRequest, rows: Sequence[Row]) -> str:
    """The item that was added just now, which is the last; its fields are open."""
    is_new = request.POST.get("do", "").startswith("add")
    return rows[-1].id if is_new and rows else ""


def _at_the_tree(error: RuleViolation) -> CmsError:
    """The refusal with what is wrong in an item said by the item; above the tree only that it is so."""
    details: dict[str, list[str]] = {}
    for path, sentences in error.details.items():
        name, _dot, rest = path.partition(".")
        said = [_("Nothing was saved. What is marked below is to be corrected.")]
        details[name] = said if rest else list(sentences)
    return RuleViolation(error.message, code=error.code, details=details)
