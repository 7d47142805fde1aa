"""The admin of forms: create, edit with one card per field, and delete."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Final, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from forms.admin.add_to_page import add_to_page_view
from forms.admin.field_cards import BYTES_PER_MEGABYTE, KINDS, build_cards
from forms.confirmation import TEXT_MAX
from forms.fields import (
    CHOICE_TYPES,
    FIELD_NAME_MAX,
    MAX_FIELDS,
    MAX_LENGTHS,
    OPERATORS_WITHOUT_VALUE,
    SLUG_MAX,
)
from forms.file_types import FILE_KINDS
from forms.form_input import FormInput, input_values
from forms.models import FormDefinition, FormSubmission
from forms.services.definitions import create_form, delete_form, update_form
from proofroom.core.admin.labels import LanguageFilter, language
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.admin.row_forms import RedisplayAdmin, RowsForm
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.languages import site_languages
from proofroom.core.json import Json, JsonObject
from proofroom.core.slugs import ascii_slug_of, numbered_slugs
from proofroom.core.title_slugs import ascii_slug_of_title
from proofroom.core.validation.form_fields import InputForm
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.core.validation.limits import LABEL_MAX

_TEXTS: Final = ("name", "label", "type", "placeholder", "help", "pattern")
_NUMBERS: Final = ("minLength", "maxLength")


def read_fields(data: QueryDict) -> Json:
    """Return the fields from a request: from JSON if a script sent it, else from the inputs of the cards. Raises
    `ValueError`."""
    if "questions" in data:
        return read_json(str(data["questions"]))
    fields: list[Json] = []
    # One more than allowed, so that too many fields are refused, not cut.
    for key in data.getlist("row")[: MAX_FIELDS + 1]:
        field: JsonObject = {name: data.get(f"{name}-{key}", "").strip() for name in _TEXTS}
        field["required"] = data.get(f"required-{key}", "") in ("on", "true")
        if field["type"] in CHOICE_TYPES:
            lines = data.get(f"options-{key}", "").splitlines()
            field["options"] = [line.strip() for line in lines if line.strip()]
        for name in _NUMBERS:
            number = data.get(f"{name}-{key}", "").strip()
            # Other input stays text, which validation refuses with a message.
            is_whole = number.isascii() and number.isdigit() and len(number) < 10
            field[name] = int(number) if is_whole else number
        # Lengths and patterns exist only for some types.
        allowed = {"help"} if field["type"] == "step" else {"placeholder", "help"}
        if field["type"] in MAX_LENGTHS:
            allowed |= {*_NUMBERS} if field["type"] == "textarea" else {*_NUMBERS, "pattern"}
        for name in ("placeholder", "help", "pattern", *_NUMBERS):
            if field[name] == "" or name not in allowed:
                del field[name]
        if field["type"] == "file":
            field |= _read_file_limits(data, key)
        if condition := _read_condition(data, key):
            field["showIf"] = condition
        fields.append(field)
    return fields


def _read_file_limits(data: QueryDict, key: str) -> JsonObject:
    found: JsonObject = {}
    accept: list[Json] = [*data.getlist(f"accept-{key}")]
    # None and all mean the same, so that types that are added later are accepted too.
    if 0 < len(accept) < len(FILE_KINDS):
        found["accept"] = accept
    text = data.get(f"maxBytes-{key}", "").strip().replace(",", ".")
    if text:
        try:
            found["maxBytes"] = max(1, round(float(text) * BYTES_PER_MEGABYTE))
        except (ValueError, OverflowError):
            found["maxBytes"] = text
    return found


def _read_condition(data: QueryDict, key: str) -> JsonObject:
    names = {"field": "if-field", "operator": "if-operator", "value": "if-value"}
    values = {name: data.get(f"{own}-{key}", "").strip() for name, own in names.items()}
    if not values["field"]:
        return {}
    if values["operator"] in OPERATORS_WITHOUT_VALUE:
        values["value"] = ""
    return {name: value for name, value in values.items() if value}


def name_fields(questions: Json) -> Json:
    """Return the fields, with names made from the labels where they are missing."""
    used_names = {str(row.get("name")) for row in objects_in(questions)}
    # More fields than this are refused anyway.
    for row in objects_in(questions)[: MAX_FIELDS + 1]:
        if row.get("name") == "":
            row["name"] = name_for(str(row.get("label", "")), used_names)
            used_names.add(str(row["name"]))
    return questions


def read_json(text: str) -> Json:
    """Parse JSON. Raises `ValueError` with a message for the user."""
    try:
        found: Json = json.loads(text)
        reject_unstorable(found, "fields")
    except RecursionError:
        raise ValueError(_("it is nested too deeply")) from None
    except RuleViolation as error:
        raise ValueError(error.message) from None
    return found


def objects_in(value: Json) -> list[JsonObject]:
    """Return the objects of a list. The value may be unchecked input."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def name_for(label: str, taken: set[str]) -> str:
    """Return an identifier made from the label that is not in use."""
    name = ascii_slug_of(label, 50).replace("-", "_")
    name = name if name[:1].isalpha() else f"field_{name}".rstrip("_")
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def apply_button(data: QueryDict) -> tuple[list[JsonObject], str]:
    """Return the fields after the action of the pressed button, and a message."""
    rows = objects_in(read_fields(data))
    do, _colon, key = data.get("do", "").partition(":")
    if do == "json":
        return objects_in(read_json(data.get("json", ""))), _("Fields updated from JSON.")
    if do == "add" and len(rows) < MAX_FIELDS and key in (*KINDS, "consent"):
        kind = _("Consent checkbox") if key == "consent" else str(KINDS[key])
        # Without a name: it is made from the label when the form is saved.
        field: JsonObject = {"name": "", "label": "", "type": key, "required": False}
        if key == "consent":
            label = _("I agree that my details may be stored so that you can reply to me.")
            field = {"name": "consent", "label": label, "type": "checkbox", "required": True}
        elif key in CHOICE_TYPES:
            field["options"] = [_("First"), _("Second")]
        return [*rows, field], _("Added at the end: %(name)s") % {"name": kind}
    place = int(key) if key.isascii() and key.isdigit() and len(key) < 4 else len(rows)
    if place >= len(rows):
        return rows, ""
    row = rows[place]
    named = {"name": str(row.get("label", ""))}
    if do == "remove":
        return rows[:place] + rows[place + 1 :], _("Removed: %(name)s") % named
    if do == "copy" and len(rows) < MAX_FIELDS:
        copied = {**row, "name": ""}
        return [*rows[: place + 1], copied, *rows[place + 1 :]], _("Copied: %(name)s") % named
    other = {"up": place - 1, "down": place + 1}.get(do, -1)
    if 0 <= other < len(rows):
        rows[place], rows[other] = rows[other], rows[place]
    return rows, ""


_MAX_JSON_SHOWN: Final = 100_000


def builder_context(request: HttpRequest, row: FormDefinition, form: RowsForm) -> dict[str, object]:
    """Return the page context: the stored fields, or the fields after the action of the pressed button."""
    problem, message = "", ""
    rows: list[JsonObject] = list(row.fields)
    if request.method == "POST":
        try:
            rows, message = apply_button(request.POST)
        except ValueError as error:
            problem = str(error)[:200]
    is_new = request.POST.get("do", "").partition(":")[0] == "add"
    submissions = reverse("admin:forms_formsubmission_changelist")
    others = FormDefinition.objects.filter(slug=row.slug).exclude(pk=row.pk).order_by("locale")
    may_read = may(request, "forms.submissions")
    return {
        "cards": build_cards(rows, form.problems, len(rows) - 1 if is_new else None),
        "addresses": [one for one in rows if one.get("type") == "email" and one.get("name")],
        "has_email": settings.HAS_EMAIL,
        "json": json.dumps(rows, indent=2, ensure_ascii=False)[:_MAX_JSON_SHOWN],
        "problem": problem,
        "said": message,
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


_CONFIRMATION: Final = {
    "confirmationField": "emailField",
    "confirmationSubject": "subject",
    "confirmationText": "text",
}
"""Names of the form's fields with the names of the API."""


class ChangeDefinitionForm(InputForm, RowsForm):
    """Field names equal the API names, as in errors of the service, except `fields`, which Django forms use."""

    input_class = FormInput
    own_fields_after = "description"
    rows_field = "questions"
    wire_name = "fields"
    questions = forms.Field(required=False, widget=forms.HiddenInput)
    confirmationField = forms.CharField(required=False, max_length=FIELD_NAME_MAX)
    confirmationSubject = forms.CharField(
        label=gettext_lazy("Subject"), required=False, max_length=LABEL_MAX
    )
    confirmationText = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        max_length=TEXT_MAX,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy(
            "{{name}} stands for the answer in the field “name”, {{answers}} for all answers."
        ),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)

    def rows_sent(self, data: QueryDict) -> object:
        return name_fields(read_fields(data))

    def visible_fields(self) -> list[forms.BoundField]:
        # The confirmation has a card of its own.
        return [field for field in super().visible_fields() if field.name not in _CONFIRMATION]

    def confirmation_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("confirmationSubject", "confirmationText")]


@contextmanager
def _own_names() -> Iterator[None]:
    """Show errors of the confirmation at the form's own fields."""
    own = {f"confirmation.{key}": name for name, key in _CONFIRMATION.items()}
    try:
        yield
    except RuleViolation as error:
        details = {own.get(path, path): list(texts) for path, texts in error.details.items()}
        raise RuleViolation(error.message, code=error.code, details=details) from None


class NewDefinitionForm(InputForm):
    input_class = FormInput
    asked_fields = ("title",)
    slug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=SLUG_MAX,
        required=False,
        help_text=gettext_lazy(
            "Leave blank to generate it from the title. It cannot be changed later."
        ),
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Start with"),
        queryset=FormDefinition.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Name, email and message"),
    )


def free_slug(title: str, locale: str) -> str:
    """Return a slug made from the title, with a number if a form in this language already has it."""
    # Leaves room for a number at the end.
    base = ascii_slug_of_title(title, locale, SLUG_MAX - 5) or "form"
    rows = FormDefinition.objects.filter(locale=locale, slug__startswith=base)
    used_slugs = set(rows.values_list("slug", flat=True))
    return next(slug for slug in numbered_slugs(base, SLUG_MAX) if slug not in used_slugs)


@admin.register(FormDefinition)
class FormDefinitionAdmin(RedisplayAdmin[FormDefinition]):
    view_permission = add_permission = "forms.edit"
    list_title = gettext_lazy("Forms")
    add_title = gettext_lazy("New form")
    add_button = gettext_lazy("Create form")
    add_form, change_form = NewDefinitionForm, ChangeDefinitionForm
    change_template = "admin/site_forms/form.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the form, and pages no longer show it. Submissions are kept."
    )
    list_display = ("title", "slug", language, "number", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("title", "slug")
    ordering = ("slug", "locale")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(add_to_page_view)
        name = "forms_formdefinition_add_to_page"
        return [path("<str:form_id>/add-to-page/", view, name=name), *super().get_urls()]

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
            slug=values["slug"] or free_slug(values["title"], values["locale"]),
            locale=values["locale"],
            values={**copied, "title": values["title"]},
            actor=actor_of(request),
        )
        messages.success(request, _("Form created. Add fields below."))
        return HttpResponseRedirect(reverse("admin:forms_formdefinition_change", args=[made.pk]))

    def initial(self, row: FormDefinition) -> Mapping[str, object]:
        confirmation = row.confirmation or {}
        own = {name: confirmation.get(key, "") for name, key in _CONFIRMATION.items()}
        return {**input_values(row), **own, "version": row.version}

    def shown(
        self, request: HttpRequest, row: FormDefinition, form: forms.Form
    ) -> Mapping[str, object]:
        return builder_context(request, row, cast(ChangeDefinitionForm, form))

    def change(self, request: HttpRequest, row: FormDefinition, form: forms.Form) -> None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        values["fields"] = values.pop("questions")
        confirmation = {key: values.pop(name) for name, key in _CONFIRMATION.items()}
        values["confirmation"] = confirmation if confirmation["emailField"] else None
        with cast(ChangeDefinitionForm, form).service_errors_at_rows(), _own_names():
            update_form(
                slug=row.slug,
                locale=row.locale,
                values=values,
                actor=actor_of(request),
                expected_version=version,
            )

    def remove(self, request: HttpRequest, row: FormDefinition, form: forms.Form) -> None:
        delete_form(slug=row.slug, locale=row.locale, actor=actor_of(request))
