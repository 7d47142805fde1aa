"""Snippets: a list, a page to write a piece of text, and a page to rename, edit and delete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.document.labels import module_label
from content.modules.module_copies import StoredCopy
from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.labels import LanguageFilter
from proofroom.core.admin.permissions import actor_of
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import JsonObject
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.form_fields import InputForm
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import modules, props_of
from proofroom.definitions.fields import RICH_TEXT_MAX_BYTES
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom_apps.snippets.models import Snippet
from proofroom_apps.snippets.services import (
    MANAGE,
    change_snippet,
    create_snippet,
    delete_snippet,
)
from proofroom_apps.snippets.snippet_fields import NewSnippet, SnippetAnswer, SnippetChanges

_DOCUMENT: Final = "text~doc"
"""The hidden field of the rich-text editor, with the document."""


class TextArea(forms.Textarea):
    """Markdown, which the rich-text editor of the admin replaces. `document` is what the Markdown was made from."""

    document = ""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        address = reverse("admin:content_post_richtext")
        return super().get_context(name, value, {**(attrs or {}), "data-richtext": address})

    def render(self, *args: Any, **kwargs: Any) -> SafeString:
        field = super().render(*args, **kwargs)
        if not self.document:
            return field
        return format_html('{}<template data-document="{}"></template>', field, self.document)


class SnippetForm(InputForm):
    """The name and place of a snippet. A text can be edited here; modules are shown only."""

    input_class = NewSnippet
    asked_fields = ("name", "types", "locale")
    field_order = ("name", "text", "types", "locale")
    text = forms.CharField(
        label=gettext_lazy("Text"),
        max_length=RICH_TEXT_MAX_BYTES,
        widget=TextArea(attrs={"rows": 8}),
        strip=False,
    )
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def written(self) -> str | dict[str, Any]:
        """Return the document of the rich-text editor; without scripts, the Markdown."""
        sent = self.data.get(_DOCUMENT, "") if isinstance(self.data, QueryDict) else ""
        try:
            document = json.loads(sent) if sent else None
        except (ValueError, RecursionError):
            document = None
        markdown = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        return document if isinstance(document, dict) else markdown


@admin.register(Snippet)
class SnippetAdmin(EditAdmin[Snippet]):
    view_permission = add_permission = MANAGE
    empty_words = gettext_lazy(
        "Snippets are modules and pieces of text that you insert again and again. Save modules from a post, or "
        "write a text here. Inserting a snippet makes a copy: later changes do not reach it. Use global modules for "
        "content that changes everywhere at once."
    )
    list_title = gettext_lazy("Snippets and templates")
    add_title = gettext_lazy("New text snippet")
    add_button = gettext_lazy("Create snippet")
    add_form = change_form = SnippetForm
    add_template = "admin/snippets/new.html"
    change_template = "admin/snippets/snippet.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the snippet. What was inserted from it stays."
    )
    list_display = ("name", "content", "offered_in", "updated_at")
    list_filter = (("locale", LanguageFilter), "kind")
    search_fields = ("name",)
    ordering = ("name",)

    @admin.display(description=gettext_lazy("Content"))
    def content(self, snippet: Snippet) -> str:
        if snippet.kind == Snippet.Kind.TEXT:
            return _("Text")
        number = len(snippet.modules)
        labels = ", ".join(module_label(one["type"]) for one in snippet.modules[:3])
        if number <= 3:
            return labels
        more = ngettext("%(labels)s and %(n)s more", "%(labels)s and %(n)s more", number - 3)
        return more % {"labels": labels, "n": number - 3}

    @admin.display(description=gettext_lazy("Offered in"))
    def offered_in(self, snippet: Snippet) -> str:
        labels = post_type_labels()
        names = ", ".join(in_words(labels.get(name, name)) for name in snippet.types)
        language = language_name(snippet.locale) if snippet.locale else ""
        return " · ".join(part for part in (names, language) if part) or _("Everywhere")

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        asked = cast(SnippetForm, form)
        values = {**asked.read_input(NewSnippet).model_dump(exclude_unset=True)}
        snippet = create_snippet(
            actor=actor_of(request), snippet=NewSnippet(**values, text=asked.written())
        )
        messages.success(request, _("Snippet “%(name)s” created.") % {"name": snippet.name})
        return HttpResponseRedirect(reverse("admin:proofroom_snippets_snippet_changelist"))

    def initial(self, row: Snippet) -> Mapping[str, object]:
        values = SnippetAnswer.of(row).model_dump(by_alias=True)
        values["text"] = to_markdown(row.text).strip() if row.text is not None else ""
        return values

    def form_of(self, request: HttpRequest, row: Snippet, data: QueryDict | None) -> forms.Form:
        form = super().form_of(request, row, data)
        if row.kind != Snippet.Kind.TEXT:
            del form.fields["text"]
        elif data is None:
            cast(TextArea, form.fields["text"].widget).document = json.dumps(row.text)
        return form

    def shown(self, request: HttpRequest, row: Snippet, form: forms.Form) -> dict[str, Any]:
        return {"outline": outline_of(row.modules)}

    def change(self, request: HttpRequest, row: Snippet, form: forms.Form) -> str | None:
        asked = cast(SnippetForm, form)
        values = asked.read_input(SnippetChanges).model_dump(exclude_unset=True)
        if "text" in form.fields:
            text = asked.written()
            # Markdown cannot express everything, so an unchanged text stays as it is stored.
            if not isinstance(text, str) or text.strip() != to_markdown(row.text).strip():
                reject_unstorable(text, "text")
                values["text"] = text
        change_snippet(
            snippet_id=row.pk,
            actor=actor_of(request),
            changes=SnippetChanges(**values),
            expected_version=form.cleaned_data["version"],
        )
        return _("Snippet saved.")

    def remove(self, request: HttpRequest, row: Snippet, form: forms.Form) -> None:
        delete_snippet(snippet_id=row.pk, actor=actor_of(request))


def outline_of(copies: Iterable[StoredCopy]) -> list[tuple[str, str, str]]:
    """Return the label, the slug of a global module, and the first text of each module."""
    return [(module_label(one["type"]), one["globalSlug"], _summary_of(one)) for one in copies]


def _summary_of(module: StoredCopy) -> str:
    definition = modules.get(module["type"])
    values: JsonObject = {**module["props"], **module["overrides"]}
    # In the order of the definition: databases do not keep the order of keys.
    texts = (
        values.get(name)
        for name, prop in (props_of(definition.Props).items() if definition is not None else ())
        if prop.kind in ("text", "textarea")
    )
    return next((one for one in texts if isinstance(one, str) and one.strip()), "")[:90]
