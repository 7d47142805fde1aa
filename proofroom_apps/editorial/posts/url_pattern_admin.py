"""URL patterns: the addresses of a post type in a language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import UrlPattern
from content.paths.pattern_fields import NewPattern, PatternChanges
from content.paths.url_patterns import (
    MAX_POSTS_READ,
    change_pattern,
    create_pattern,
    delete_pattern,
    preview_pattern,
)
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import LanguageFilter, badge, language
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.admin.row_forms import RedisplayAdmin, is_saving
from proofroom.core.validation.form_fields import InputForm
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.list_columns import PostTypeFilter, post_type


class PatternForm(InputForm):
    input_class = PatternChanges
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)


class NewPatternForm(InputForm):
    input_class = NewPattern


@admin.register(UrlPattern)
class UrlPatternAdmin(RedisplayAdmin[UrlPattern]):
    view_permission = add_permission = "urlPatterns.edit"
    empty_words = gettext_lazy("A URL pattern replaces the default addresses of a post type.")
    list_title = gettext_lazy("URL patterns")
    add_title = gettext_lazy("New URL pattern")
    add_button = gettext_lazy("Save pattern")
    add_form, change_form = NewPatternForm, PatternForm
    change_template = "admin/structure/pattern.html"
    delete_sentence = gettext_lazy(
        "Posts get the default addresses of their type. Old addresses redirect to the new ones."
    )
    list_display = ("pattern", post_type, language, "state", "updated_at")
    list_filter = (("type", PostTypeFilter), ("locale", LanguageFilter))
    ordering = ("type", "locale")

    def get_queryset(self, request: HttpRequest) -> QuerySet[UrlPattern]:
        return super().get_queryset(request).filter(is_removed=False)

    @admin.display(description=gettext_lazy("Status"))
    def state(self, row: UrlPattern) -> SafeString:
        if row.is_pending:
            return badge("running", _("Updating addresses"))
        return badge("succeeded", _("In use"))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, self.add_permission)
        if request.method == "POST" and is_saving(request):
            answer = super().add_view(request)
            if answer.status_code == 302 or not isinstance(answer, TemplateResponse):
                return answer
            form = answer.context_data["form"] if answer.context_data else NewPatternForm()
        else:
            # Not a save: show the form and the preview without validating the values.
            sent = request.POST if request.method == "POST" else request.GET
            form = NewPatternForm(initial=sent.dict())
        values = [str(form[name].value() or "") for name in ("type", "locale", "pattern")]
        context = _preview_context(*values)
        template = self.change_template
        return form_page(
            request, template, UrlPattern, context, title=str(self.add_title), form=form
        )

    def shown(self, request: HttpRequest, row: UrlPattern, form: forms.Form) -> Mapping[str, Any]:
        return _preview_context(row.type, row.locale, str(form["pattern"].value() or ""))

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


def _preview_context(type_name: str, locale: str, pattern: str) -> dict[str, Any]:
    """Return the preview of a pattern for the template; empty without a pattern."""
    is_known = type_name in post_types and locale in settings.CMS_ENV.locales
    found = preview_pattern(type_name, locale, pattern) if pattern and is_known else None
    return {"found": found, "most": MAX_POSTS_READ}
