"""The page of the disclosure of AI work to visitors."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.permissions import PermittedAdmin, actor_of, require
from proofroom.core.i18n import said
from proofroom.core.post_type_names import post_type_labels
from proofroom.disclosure.models import DisclosureSettings, Show
from proofroom.disclosure.services import PERMISSION, change_disclosure, load_disclosure

_NAME: Final = "proofroom_disclosure_disclosuresettings_changelist"


class DisclosureForm(forms.Form):
    types = forms.MultipleChoiceField(
        label=gettext_lazy("Post types"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Pages of these types say how much of their text AI wrote."),
    )
    show = forms.ChoiceField(
        label=gettext_lazy("Where"), choices=said(Show.choices), widget=forms.RadioSelect
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = cast("forms.MultipleChoiceField", self.fields["types"])
        types.choices = list(post_type_labels().items())


@admin.register(DisclosureSettings)
class DisclosureAdmin(PermittedAdmin[DisclosureSettings]):
    """One page instead of a list, because the model has at most one row."""

    view_permission = PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, PERMISSION)
        stored = load_disclosure()
        initial = {"types": list(stored.types), "show": stored.show}
        form = DisclosureForm(request.POST if request.method == "POST" else None, initial=initial)

        def save() -> None:
            # Types whose definition was removed are not among the choices, and stay.
            kept = set(stored.types) - post_type_labels().keys()
            change_disclosure(
                actor=actor_of(request),
                types=[*form.cleaned_data["types"], *kept],
                show=form.cleaned_data["show"],
            )

        if form.is_bound and save_form(form, save):
            messages.success(request, _("Saved the disclosure of AI work."))
            return HttpResponseRedirect(request.path)
        template = "admin/disclosure.html"
        title = _("Disclosure of AI")
        return form_page(request, template, DisclosureSettings, {}, title=title, form=form)

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if url.name == _NAME]
