"""Redirects: where addresses that nothing stands at lead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from core.admin.edits import EditAdmin
from core.admin.labels import LanguageFilter
from core.admin.rights import actor_of
from seo.admin.files import import_view
from seo.models import ADDRESS_MAX, Redirect
from seo.services.redirects import change_redirect, create_redirect, delete_redirect

_TYPES = [("301", gettext_lazy("301: for good")), ("302", gettext_lazy("302: for now"))]


class RedirectForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    fromPath = forms.CharField(
        label=pgettext_lazy("address", "From"),
        max_length=ADDRESS_MAX,
        help_text=gettext_lazy("A path of this site, like /old."),
    )
    toPath = forms.CharField(
        label=pgettext_lazy("address", "To"),
        max_length=ADDRESS_MAX,
        help_text=gettext_lazy("A path of this site, or http(s)://…"),
    )
    type = forms.TypedChoiceField(label=gettext_lazy("Kind"), choices=_TYPES, coerce=int)
    active = forms.BooleanField(label=gettext_lazy("Active"), required=False, initial=True)


@admin.register(Redirect)
class RedirectAdmin(EditAdmin[Redirect]):
    view_permission = add_permission = "redirects.edit"
    empty_words = gettext_lazy(
        "A redirect leads from an old address to a new one, so that links of others keep working."
    )
    list_title = gettext_lazy("Redirects")
    add_title, add_button, add_form = (
        gettext_lazy("New redirect"),
        gettext_lazy("Add the redirect"),
        RedirectForm,
    )
    change_form = RedirectForm
    delete_sentence = gettext_lazy("Visitors of the address are no longer led on.")
    list_display = ("from_path", "to_path", "type", "is_active", "is_automatic", "hits")
    list_filter = ("type", "is_automatic", "is_active", ("locale", LanguageFilter))
    search_fields = ("from_path", "to_path")
    ordering = ("-created_at", "id")
    list_per_page = 50
    change_list_template = "admin/seo/redirects.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(import_view)
        return [path("import/", view, name="seo_redirect_import"), *super().get_urls()]

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        create_redirect(actor=actor_of(request), **_values(form))
        return HttpResponseRedirect(reverse("admin:seo_redirect_changelist"))

    def initial(self, row: Redirect) -> Mapping[str, object]:
        return {
            "fromPath": row.from_path,
            "toPath": row.to_path,
            "type": row.type,
            "active": row.is_active,
        }

    def change(self, request: HttpRequest, row: Redirect, form: forms.Form) -> None:
        change_redirect(redirect_id=row.pk, actor=actor_of(request), **_values(form))

    def remove(self, request: HttpRequest, row: Redirect, form: forms.Form) -> None:
        delete_redirect(redirect_id=row.pk, actor=actor_of(request))


def _values(form: forms.Form) -> dict[str, Any]:
    values = dict(form.cleaned_data)
    return {"from_path": values.pop("fromPath"), "to_path": values.pop("toPath"), **values}
