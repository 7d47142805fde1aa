"""URL patterns: what the addresses of a post type look like in a language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from content.definitions import post_types
from content.models import UrlPattern
from content.models.url_pattern import PATTERN_MAX
from content.services.url_patterns import change_pattern, create_pattern, delete_pattern
from core.admin.edits import EditAdmin
from core.admin.rights import actor_of
from core.words import in_words

_HELP = (
    "Like /news/{yyyy}/{slug}. Variables: {slug}, {path} with the pages above, {locale}, {yyyy}, {mm}, {dd}. "
    "Addresses that visitors know lead on to the new ones."
)


class PatternForm(forms.Form):
    pattern = forms.CharField(label="Pattern", max_length=PATTERN_MAX, help_text=_HELP)
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)


class NewPatternForm(forms.Form):
    type = forms.ChoiceField(label="Post type")
    locale = forms.ChoiceField(label="Language")
    pattern = forms.CharField(label="Pattern", max_length=PATTERN_MAX, help_text=_HELP)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types, locales = self.fields["type"], self.fields["locale"]
        if isinstance(types, forms.ChoiceField) and isinstance(locales, forms.ChoiceField):
            types.choices = [(found.name, in_words(found.label)) for found in post_types]
            locales.choices = [(locale, locale) for locale in settings.CMS_ENV.locales]


@admin.register(UrlPattern)
class UrlPatternAdmin(EditAdmin[UrlPattern]):
    view_permission = add_permission = "urlPatterns.edit"
    list_title = "URL patterns"
    add_title, add_button, add_form = "New URL pattern", "Use the pattern", NewPatternForm
    change_form = PatternForm
    delete_sentence = "The addresses become those of the type's own pattern; the old ones lead on."
    list_display = ("pattern", "type", "locale", "is_followed", "updated_at")
    list_filter = ("type", "locale")
    ordering = ("type", "locale")

    def get_queryset(self, request: HttpRequest) -> QuerySet[UrlPattern]:
        return super().get_queryset(request).filter(is_removed=False)

    @admin.display(description="All posts follow it", boolean=True)
    def is_followed(self, row: UrlPattern) -> bool:
        return not row.is_pending

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        create_pattern(actor=actor_of(request), **form.cleaned_data)
        return HttpResponseRedirect(reverse("admin:content_urlpattern_changelist"))

    def initial(self, row: UrlPattern) -> Mapping[str, object]:
        return {"pattern": row.pattern, "version": row.version}

    def change(self, request: HttpRequest, row: UrlPattern, form: forms.Form) -> None:
        change_pattern(
            pattern_id=row.pk,
            actor=actor_of(request),
            pattern=form.cleaned_data["pattern"],
            expected_version=form.cleaned_data["version"],
        )

    def remove(self, request: HttpRequest, row: UrlPattern, form: forms.Form) -> None:
        delete_pattern(pattern_id=row.pk, actor=actor_of(request))
