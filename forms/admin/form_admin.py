"""Forms: made, built of cards, and deleted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms.admin.field_cards import KINDS, apply_button, cards, name_fields, read_fields
from forms.fields import MAX_FIELDS
from forms.form_input import input_values
from forms.models import FormDefinition, FormSubmission
from forms.services.definitions import create_form, delete_form, update_form
from proofroom.core.admin.labels import LanguageFilter, language
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.admin.row_forms import RowsForm, ShownAgainAdmin
from proofroom.core.i18n.languages import site_languages
from proofroom.core.json import Json, JsonObject

_MAX_JSON_SHOWN: Final = 100_000


def builder_context(request: HttpRequest, row: FormDefinition, form: RowsForm) -> dict[str, object]:
    """Return what the page shows: the fields that are stored, or as the button that was pressed leaves them."""
    problem, said = "", ""
    rows: list[JsonObject] = list(row.fields)
    if request.method == "POST":
        try:
            rows, said = apply_button(request.POST)
        except ValueError as error:
            problem = str(error)[:200]
    is_new = request.POST.get("do", "").partition(":")[0] == "add"
    submissions = reverse("admin:forms_formsubmission_changelist")
    others = FormDefinition.objects.filter(slug=row.slug).exclude(pk=row.pk).order_by("locale")
    may_read = may(request, "forms.submissions")
    return {
        "cards": cards(rows, form.problems, len(rows) - 1 if is_new else None),
        "json": json.dumps(rows, indent=2, ensure_ascii=False)[:_MAX_JSON_SHOWN],
        "problem": problem,
        "said": said,
        "is_changed": request.method == "POST",
        "kinds": list(KINDS.items()),
        "most": MAX_FIELDS,
        "shown": {
            name: str(form[name].value() or "") for name in ("title", "description", "submitLabel")
        },
        "siblings": others,
        "may_read": may_read,
        "sent": FormSubmission.objects.filter(form_slug=row.slug).count() if may_read else 0,
        "submissions_url": f"{submissions}?form_slug={row.slug}",
        "export_url": f"/api/forms/{row.slug}/submissions/export",
    }


class ChangeDefinitionForm(RowsForm):
    """Named as on the wire, as the refusals of the service are; but for `fields`, which forms of Django have."""

    rows_field = "questions"
    wire_name = "fields"
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    questions = forms.Field(required=False, widget=forms.HiddenInput)
    submitLabel = forms.CharField(
        label=gettext_lazy("Text of the button"), max_length=100, initial=gettext_lazy("Send")
    )
    successMessage = forms.CharField(
        label=gettext_lazy("Answer to the visitor"), widget=forms.Textarea(attrs={"rows": 2})
    )
    redirectUrl = forms.CharField(
        label=gettext_lazy("Then go to"),
        required=False,
        help_text=gettext_lazy("A path of this site or http(s)://…; empty to stay."),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)

    def rows_sent(self, data: QueryDict) -> object:
        return name_fields(read_fields(data))


class NewDefinitionForm(forms.Form):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    slug = forms.CharField(
        label=gettext_lazy("Slug"), max_length=100, help_text=gettext_lazy("Stays as it is.")
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Begin with"),
        queryset=FormDefinition.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Name, email and message"),
    )


@admin.register(FormDefinition)
class FormDefinitionAdmin(ShownAgainAdmin[FormDefinition]):
    view_permission = add_permission = "forms.edit"
    list_title = gettext_lazy("Forms")
    add_title = gettext_lazy("New form")
    add_button = gettext_lazy("Make the form")
    add_form, change_form = NewDefinitionForm, ChangeDefinitionForm
    change_template = "admin/site_forms/form.html"
    delete_sentence = gettext_lazy(
        "The form goes for good; pages no longer show it. What visitors sent stays."
    )
    list_display = ("title", "slug", language, "number", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("title", "slug")
    ordering = ("slug", "locale")

    @admin.display(description=gettext_lazy("Fields"))
    def number(self, form: FormDefinition) -> int:
        return len(form.fields)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        example: list[Json] = [
            {"name": name, "label": label, "type": type_, "required": True}
            for type_, name, label in (
                ("text", "name", _("Name")),
                ("email", "email", _("Email")),
                ("textarea", "message", _("Message")),
            )
        ]
        copied = input_values(values["copied"]) if values["copied"] else {"fields": example}
        made = create_form(
            slug=values["slug"],
            locale=values["locale"],
            values={**copied, "title": values["title"]},
            actor=actor_of(request),
        )
        messages.success(request, _("The form is there. Build it here."))
        return HttpResponseRedirect(reverse("admin:forms_formdefinition_change", args=[made.pk]))

    def initial(self, row: FormDefinition) -> Mapping[str, object]:
        return {**input_values(row), "version": row.version}

    def shown(
        self, request: HttpRequest, row: FormDefinition, form: forms.Form
    ) -> Mapping[str, object]:
        return builder_context(request, row, cast(ChangeDefinitionForm, form))

    def change(self, request: HttpRequest, row: FormDefinition, form: forms.Form) -> None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        values["fields"] = values.pop("questions")
        with cast(ChangeDefinitionForm, form).refusals_at_rows():
            update_form(
                slug=row.slug,
                locale=row.locale,
                values=values,
                actor=actor_of(request),
                expected_version=version,
            )

    def remove(self, request: HttpRequest, row: FormDefinition, form: forms.Form) -> None:
        delete_form(slug=row.slug, locale=row.locale, actor=actor_of(request))
