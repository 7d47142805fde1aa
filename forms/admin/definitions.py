"""Forms: made, changed and deleted. Fields are written as JSON."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from core.admin.forms import form_page, saved
from core.admin.rights import PermittedAdmin, actor_of, answers_refusals, may, require
from core.errors import RuleViolation
from core.json import Json
from forms import presenters
from forms.models import FormDefinition
from forms.services.definitions import create_form, delete_form, update_form

_EXAMPLE = [
    {"name": "name", "label": "Name", "type": "text", "required": True},
    {"name": "email", "label": "Email", "type": "email", "required": True},
    {"name": "message", "label": "Message", "type": "textarea", "required": True},
]
_NAMES = ("title", "description", "submitLabel", "successMessage", "redirectUrl")


class DefinitionForm(forms.Form):
    """Named as on the wire, as the refusals of the service are; but for `fields`, which forms of Django have."""

    title = forms.CharField(label="Title", max_length=200)
    description = forms.CharField(
        label="Description", required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    questions = forms.CharField(
        label="Fields",
        widget=forms.Textarea(attrs={"rows": 16, "class": "json", "spellcheck": "false"}),
        help_text=(
            "A JSON list of {name, label, type, required, options, minLength, maxLength, pattern, placeholder, "
            "help}. Types: text, email, textarea, select, checkbox, number, date, tel, url."
        ),
    )
    submitLabel = forms.CharField(label="Text of the button", max_length=100, initial="Send")
    successMessage = forms.CharField(
        label="Answer", initial="Thank you.", widget=forms.Textarea(attrs={"rows": 2})
    )
    redirectUrl = forms.CharField(
        label="Then go to",
        required=False,
        help_text="A path of this site or http(s)://…; empty to stay.",
    )

    def clean_questions(self) -> Json:
        try:
            found: Json = json.loads(self.cleaned_data["questions"])
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is no JSON: {str(error)[:100]}.") from None
        return found


class ChangeDefinitionForm(DefinitionForm):
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)


class NewDefinitionForm(DefinitionForm):
    slug = forms.CharField(label="Slug", max_length=100, help_text="Stays as it is.")
    locale = forms.ChoiceField(label="Language")
    field_order = ("slug", "locale")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["locale"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # declared above
        choice.choices = [(locale, locale) for locale in settings.CMS_ENV.locales]


@admin.register(FormDefinition)
class FormDefinitionAdmin(PermittedAdmin[FormDefinition]):
    view_permission = "forms.edit"
    list_display = ("title", "slug", "locale", "updated_at")
    list_filter = ("locale",)
    search_fields = ("title", "slug")
    ordering = ("slug", "locale")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, "forms.edit")

    def has_change_permission(
        self, request: HttpRequest, obj: FormDefinition | None = None
    ) -> bool:
        return may(request, "forms.edit")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Forms", **(extra_context or {})})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, "forms.edit")
        form = NewDefinitionForm(request.POST or None, initial={"questions": _json(_EXAMPLE)})
        if request.method == "POST" and saved(form, lambda: _create(request, form)):
            messages.success(request, f"The form {form.cleaned_data['title']} is there.")
            return HttpResponseRedirect(reverse("admin:forms_formdefinition_changelist"))
        context = {"button": "Make the form"}
        return form_page(
            request, "admin/forms/one.html", FormDefinition, context, title="New form", form=form
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "forms.edit")
        row = _find(object_id)
        form = ChangeDefinitionForm(request.POST or None, initial=_initial(row))
        if request.method == "POST" and saved(form, lambda: _update(request, row, form)):
            messages.success(request, f"{form.cleaned_data['title']} is saved.")
            return HttpResponseRedirect(request.path)
        submissions = reverse("admin:forms_formsubmission_changelist")
        context = {
            "row": row,
            "submissions_url": f"{submissions}?form_slug={row.slug}",
            "export_url": f"/api/forms/{row.slug}/submissions/export",
            "delete_url": reverse("admin:forms_formdefinition_delete", args=[row.pk]),
            "may_read": may(request, "forms.submissions"),
        }
        return form_page(
            request,
            "admin/site_forms/form.html",
            FormDefinition,
            context,
            title=row.title,
            form=form,
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """GET asks, POST deletes."""
        require(request, "forms.edit")
        row = _find(object_id)
        if request.method == "POST":
            _delete(row, request)
            messages.success(request, f"{row.title} is deleted. What was sent with it stays.")
            return HttpResponseRedirect(reverse("admin:forms_formdefinition_changelist"))
        context = {
            "sentence": "The form goes for good; pages no longer show it. What visitors sent stays.",
            "button": "Delete the form",
            "back": reverse("admin:forms_formdefinition_change", args=[row.pk]),
        }
        return form_page(
            request,
            "admin/forms/confirm.html",
            FormDefinition,
            context,
            title=f"Delete: {row.title}",
        )


def _find(id_: str) -> FormDefinition:
    try:
        row = FormDefinition.objects.filter(pk=UUID(id_)).first()
    except ValueError:
        row = None
    if row is None:
        raise Http404("No such form.")
    return row


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _initial(row: FormDefinition) -> dict[str, object]:
    wire = presenters.definition(row)
    values = {name: wire[name] or "" for name in _NAMES}
    return {**values, "questions": _json(row.fields), "version": row.version}


def _values(form: DefinitionForm) -> dict[str, Any]:
    values = dict(form.cleaned_data)
    return {"fields": values.pop("questions"), **values}


def _create(request: HttpRequest, form: NewDefinitionForm) -> None:
    values = _values(form)
    slug, locale = values.pop("slug"), values.pop("locale")
    try:
        create_form(slug=slug, locale=locale, values=values, actor=actor_of(request))
    except RuleViolation as error:
        raise _at_fields(error) from None


def _update(request: HttpRequest, row: FormDefinition, form: DefinitionForm) -> None:
    values = _values(form)
    version = values.pop("version")
    try:
        update_form(
            slug=row.slug,
            locale=row.locale,
            values=values,
            actor=actor_of(request),
            expected_version=version,
        )
    except RuleViolation as error:
        raise _at_fields(error) from None


@answers_refusals
def _delete(row: FormDefinition, request: HttpRequest) -> HttpResponse:
    delete_form(slug=row.slug, locale=row.locale, actor=actor_of(request))
    return HttpResponse()


def _at_fields(error: RuleViolation) -> RuleViolation:
    """The refusal with what is wrong in a form's field at the one box that holds them all."""
    details: dict[str, list[str]] = {}
    for path, sentences in error.details.items():
        name, _, rest = path.partition(".")
        said = [f"{rest}: {text}" if rest else text for text in sentences]
        details.setdefault("questions" if name == "fields" else name, []).extend(said)
    return RuleViolation(error.message, code=error.code, details=details)
