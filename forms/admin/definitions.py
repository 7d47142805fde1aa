"""Forms: made, built of cards, and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.admin.forms import answered, form_page, saved
from core.admin.labels import LanguageFilter, language
from core.admin.rights import PermittedAdmin, actor_of, answers_refusals, may, require
from core.errors import RuleViolation
from core.json import Json
from core.words.languages import site_languages
from forms import presenters
from forms.admin.builder import builder_page
from forms.admin.questions import named, questions_sent
from forms.models import FormDefinition
from forms.services.definitions import create_form, delete_form, update_form

_NAMES = ("title", "description", "submitLabel", "successMessage", "redirectUrl")
_COPIED = ("description", "fields", "submitLabel", "successMessage", "redirectUrl")


def _example() -> list[Json]:
    labels = {"text": ("name", _("Name")), "email": ("email", _("Email"))}
    labels["textarea"] = ("message", _("Message"))
    return [
        {"name": name, "label": label, "type": type_, "required": True}
        for type_, (name, label) in labels.items()
    ]


class ChangeDefinitionForm(forms.Form):
    """Named as on the wire, as the refusals of the service are; but for `fields`, which forms of Django have."""

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
    problems: Mapping[str, Sequence[str]] = {}
    """What was refused, by the path of the field."""

    def clean(self) -> dict[str, Any]:
        if not isinstance(self.data, QueryDict):
            raise TypeError(self.data)
        try:
            self.cleaned_data["questions"] = named(questions_sent(self.data))
        except ValueError as error:
            said = _("This is no JSON: %(problem)s.") % {"problem": str(error)[:100]}
            self.add_error("questions", said)
        return self.cleaned_data


class NewDefinitionForm(forms.Form):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    slug = forms.CharField(
        label=gettext_lazy("Slug"), max_length=100, help_text=gettext_lazy("Stays as it is.")
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"))
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Begin with"),
        queryset=FormDefinition.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Name, email and message"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["locale"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # declared above
        choice.choices = site_languages()


@admin.register(FormDefinition)
class FormDefinitionAdmin(PermittedAdmin[FormDefinition]):
    view_permission = "forms.edit"
    list_display = ("title", "slug", language, "number", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("title", "slug")
    ordering = ("slug", "locale")

    @admin.display(description=gettext_lazy("Fields"))
    def number(self, form: FormDefinition) -> int:
        return len(form.fields)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, "forms.edit")

    def has_change_permission(
        self, request: HttpRequest, obj: FormDefinition | None = None
    ) -> bool:
        return may(request, "forms.edit")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Forms"), **(extra_context or {})})

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, "forms.edit")
        posted = request.POST if request.method == "POST" else None
        form = NewDefinitionForm(posted, initial=request.GET.dict())
        made = answered(form, lambda: _create(request, form)) if posted is not None else None
        if made is not None:
            return made
        context = {"button": _("Make the form")}
        return form_page(
            request, "admin/forms/one.html", FormDefinition, context, title=_("New form"), form=form
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Every button but the one that saves shows the form again, with what it did to the fields."""
        require(request, "forms.edit")
        row = _find(object_id)
        if request.method != "POST":
            return builder_page(request, row, ChangeDefinitionForm(initial=_initial(row)))
        if request.POST.get("do", "save") != "save":
            return builder_page(request, row, ChangeDefinitionForm(initial=request.POST.dict()))
        form = ChangeDefinitionForm(request.POST)
        if saved(form, lambda: _update(request, row, form)):
            said = _("%(title)s is saved.") % {"title": form.cleaned_data["title"]}
            messages.success(request, said)
            return HttpResponseRedirect(request.path)
        return builder_page(request, row, form)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """GET asks, POST deletes."""
        require(request, "forms.edit")
        row = _find(object_id)
        if request.method == "POST":
            _delete(row, request)
            messages.success(
                request,
                _("%(title)s is deleted. What was sent with it stays.") % {"title": row.title},
            )
            return HttpResponseRedirect(reverse("admin:forms_formdefinition_changelist"))
        context = {
            "sentence": _(
                "The form goes for good; pages no longer show it. What visitors sent stays."
            ),
            "button": _("Delete the form"),
            "back": reverse("admin:forms_formdefinition_change", args=[row.pk]),
        }
        return form_page(
            request,
            "admin/forms/confirm.html",
            FormDefinition,
            context,
            title=_("Delete: %(name)s") % {"name": row.title},
        )


def _find(id_: str) -> FormDefinition:
    try:
        row = FormDefinition.objects.filter(pk=UUID(id_)).first()
    except ValueError:
        row = None
    if row is None:
        raise Http404(_("No such form."))
    return row


def _initial(row: FormDefinition) -> dict[str, object]:
    wire = presenters.definition(row)
    return {**{name: wire[name] or "" for name in _NAMES}, "version": row.version}


def _create(request: HttpRequest, form: NewDefinitionForm) -> HttpResponse:
    values = form.cleaned_data
    copied = presenters.definition(values["copied"]) if values["copied"] else None
    rest = {name: copied[name] for name in _COPIED} if copied else {"fields": _example()}
    made = create_form(
        slug=values["slug"],
        locale=values["locale"],
        values={**rest, "title": values["title"]},
        actor=actor_of(request),
    )
    messages.success(request, _("The form is there. Build it here."))
    return HttpResponseRedirect(reverse("admin:forms_formdefinition_change", args=[made.pk]))


def _update(request: HttpRequest, row: FormDefinition, form: ChangeDefinitionForm) -> None:
    values = dict(form.cleaned_data)
    version = values.pop("version")
    values["fields"] = values.pop("questions")
    try:
        update_form(
            slug=row.slug,
            locale=row.locale,
            values=values,
            actor=actor_of(request),
            expected_version=version,
        )
    except RuleViolation as error:
        form.problems = error.details
        raise _at_fields(error) from None


@answers_refusals
def _delete(row: FormDefinition, request: HttpRequest) -> HttpResponse:
    delete_form(slug=row.slug, locale=row.locale, actor=actor_of(request))
    return HttpResponse()


def _at_fields(error: RuleViolation) -> RuleViolation:
    """The refusal with what is wrong in a form's fields said by their cards; above them only that it is so."""
    details: dict[str, list[str]] = {}
    for path, sentences in error.details.items():
        name, _dot, rest = path.partition(".")
        said = [_("Nothing was saved. What is marked below is to be corrected.")]
        details["questions" if name == "fields" else name] = said if rest else list(sentences)
    return RuleViolation(error.message, code=error.code, details=details)
