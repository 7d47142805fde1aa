"""The admin of briefs: list, edit with rows and a preview, and a page to read for everyone else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.briefs.admin.preview import BriefPreview, preview_of
from proofroom.briefs.admin.rows import ROWS, apply_button, read_rows, row_lists
from proofroom.briefs.brief_fields import (
    BriefAnswer,
    BriefChanges,
    NewBrief,
    language_choices,
    type_choices,
)
from proofroom.briefs.models import Brief
from proofroom.briefs.services import EDIT, VIEW, change_brief, create_brief, delete_brief
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import LanguageFilter
from proofroom.core.admin.permissions import actor_of, may, require
from proofroom.core.admin.row_forms import RedisplayAdmin
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.form_fields import InputForm

_TEXTS: Final = (
    "name",
    "locale",
    "type",
    "section",
    "audience",
    "voice",
    "address",
    "readingLevel",
)


class NewBriefForm(InputForm):
    input_class = NewBrief
    asked_fields = ("name", "locale", "type", "section")


class ChangeBriefForm(InputForm):
    """The form of a brief. Its lists are read from rows, under the names that the service uses in errors."""

    input_class = NewBrief
    asked_fields = (
        "name",
        "locale",
        "type",
        "section",
        "audience",
        "voice",
        "address",
        "reading_level",
        "never",
        "terms",
        "protected_names",
        "examples",
    )
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    problems: Mapping[str, list[str]] = {}
    """Errors of the service by path, for the rows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in (("locale", language_name), ("type", str)):
            field = cast(forms.ChoiceField, self.fields[name])
            stored = str(self.initial.get(name) or "")
            known = [value for value, _label in cast("list[tuple[str, str]]", field.choices)]
            # One that the site no longer has stays until somebody chooses another.
            if stored and stored not in known:
                field.choices = [*cast("list[Any]", field.choices), (stored, label(stored))]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not isinstance(self.data, QueryDict):
            raise TypeError(self.data)
        return {**values, **{name: read_rows(self.data, name) for name in ROWS}}


@admin.register(Brief)
class BriefAdmin(RedisplayAdmin[Brief]):
    view_permission, add_permission = VIEW, EDIT
    empty_words = gettext_lazy(
        "A brief tells agents and AI clients how your site writes: for whom, in which voice, with which terms and "
        "names. Start with one for the whole site; then add briefs for a language, a post type or a section where "
        "they differ."
    )
    list_title = gettext_lazy("Editorial briefs")
    add_title = gettext_lazy("New brief")
    add_button = gettext_lazy("Create brief")
    add_form, change_form = NewBriefForm, ChangeBriefForm
    add_template = "admin/briefs/new.html"
    change_template = "admin/briefs/brief.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the brief and its history. Agents and AI clients then follow the other briefs."
    )
    list_display = ("name", "place", "term_count", "version", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("name", "section")
    ordering = ("section", "type", "locale")

    @admin.display(description=gettext_lazy("Applies to"))
    def place(self, brief: Brief) -> str:
        return place_words(brief)

    @admin.display(description=gettext_lazy("Terms"))
    def term_count(self, brief: Brief) -> int:
        return len(brief.terms)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        brief = create_brief(
            actor=actor_of(request), brief=cast(NewBriefForm, form).read_input(NewBrief)
        )
        messages.success(request, _("Brief created. Fill it in below."))
        return HttpResponseRedirect(reverse("admin:proofroom_briefs_brief_change", args=[brief.pk]))

    def initial(self, row: Brief) -> Mapping[str, object]:
        return BriefAnswer.of(row).model_dump(by_alias=True)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if not may(request, self.add_permission):
            return self.read_view(request, object_id)
        return super().change_view(request, object_id, form_url, extra_context)

    def read_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the brief to users who may not change it."""
        require(request, self.view_permission)
        row = self._find(object_id)
        context = {
            "row": row,
            "place": place_words(row),
            "tabs": brief_tabs(row),
            "tab": "edit",
            "preview": preview_of(row, {}),
        }
        return form_page(request, "admin/briefs/read.html", Brief, context, title=str(row))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, self.view_permission)
        return HttpResponseRedirect(reverse("admin:brief-history", args=[self._find(object_id).pk]))

    def change_again(self, request: HttpRequest, row: Brief) -> forms.Form:
        return self.change_form(initial=request.POST.dict())

    def shown(self, request: HttpRequest, row: Brief, form: forms.Form) -> Mapping[str, object]:
        problems = cast(ChangeBriefForm, form).problems
        message, added = "", ""
        if request.method == "POST":
            values = submitted_values(request.POST)
            do = request.POST.get("do", "")
            lists, message = apply_button({name: values[name] for name in ROWS}, do)
            added = do.removeprefix("add:") if do.startswith("add:") and message else ""
            preview = preview_of(row, request.POST, {**values, **lists})
        else:
            answer = BriefAnswer.of(row).model_dump(by_alias=True)
            lists = {name: answer[name] for name in ROWS}
            preview = preview_of(row, request.GET)
        return {
            "lists": row_lists(lists, problems, added),
            "row_errors": bool(problems),
            "said": message,
            "is_changed": request.method == "POST",
            "tabs": brief_tabs(row),
            "tab": "edit",
            **preview_context(preview),
        }

    def change(self, request: HttpRequest, row: Brief, form: forms.Form) -> str | None:
        brief_form = cast(ChangeBriefForm, form)
        try:
            changes = brief_form.read_input(BriefChanges)
            changed = change_brief(
                brief_id=row.pk,
                actor=actor_of(request),
                changes=changes,
                expected_version=form.cleaned_data["version"],
            )
        except RuleViolation as error:
            brief_form.problems = error.details
            fields = {name for name in error.details if name in form.fields}
            if fields or "body" in error.details:
                raise
            # The errors are shown at their rows.
            raise RuleViolation(_("Not saved. Correct the marked fields.")) from None
        if changed.version == row.version:
            return _("No changes to save.")
        return _("Version %(version)s saved.") % {"version": changed.version}

    def remove(self, request: HttpRequest, row: Brief, form: forms.Form) -> None:
        delete_brief(brief_id=row.pk, actor=actor_of(request))


def submitted_values(data: QueryDict) -> dict[str, Any]:
    """Return the values of a form as the API takes them, without validating them."""
    texts: dict[str, Json] = {name: data.get(name, "") for name in _TEXTS}
    return {**texts, **{name: read_rows(data, name) for name in ROWS}}


def preview_context(preview: BriefPreview) -> dict[str, object]:
    return {
        "preview": preview,
        "preview_types": type_choices(),
        "preview_locales": language_choices(),
    }


def place_words(brief: Brief) -> str:
    """Return what the brief applies to, in the reader's language."""
    labels = post_type_labels()
    parts = [
        language_name(brief.locale) if brief.locale else "",
        in_words(labels.get(brief.type, brief.type)),
        brief.section,
    ]
    return " · ".join(part for part in parts if part) or _("Whole site")


def brief_tabs(brief: Brief) -> list[tuple[str, str, str]]:
    """Return the tabs of a brief: name, label and address."""
    return [
        ("edit", _("Brief"), reverse("admin:proofroom_briefs_brief_change", args=[brief.pk])),
        ("history", _("History"), reverse("admin:brief-history", args=[brief.pk])),
    ]
