"""The admin of redirects, and their import from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.form_pages import answer_form, form_page
from proofroom.core.admin.labels import LanguageFilter, switch_badge
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.validation.form_fields import InputForm
from seo.models import NewRedirect, Redirect, RedirectAnswer, RedirectChanges
from seo.redirect_csv import MAX_CHARACTERS, MAX_LINES
from seo.services.redirect_import import ImportResult, check_import, import_redirects
from seo.services.redirects import change_redirect, create_redirect, delete_redirect

_FILE_HELP = format_lazy(
    gettext_lazy(
        "Columns: from, to, and optionally type (301 or 302) and active, "
        "separated by commas or semicolons. At most {most} lines."
    ),
    most=lazy(number_format, str)(MAX_LINES, force_grouping=True),
)


class RedirectForm(InputForm):
    input_class = NewRedirect


class RedirectImportForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("File"), required=False, help_text=_FILE_HELP)
    text = forms.CharField(
        label=gettext_lazy("Or enter lines"),
        required=False,
        max_length=MAX_CHARACTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=gettext_lazy("For example: /old,/new"),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file = values.get("file")
        if file is not None:
            # UTF-8 uses at most four bytes per character.
            if (file.size or 0) > 4 * MAX_CHARACTERS:
                raise forms.ValidationError({"file": _("The file is too large.")})
            try:
                # Spreadsheets write a byte order mark.
                values["text"] = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                raise forms.ValidationError({"file": _("The file is not UTF-8 text.")}) from None
            if "\x00" in values["text"]:
                raise forms.ValidationError({"file": _("The file contains a NUL character.")})
        if not values.get("text"):
            raise forms.ValidationError(_("Choose a file, or enter lines."))
        return values


@admin.register(Redirect)
class RedirectAdmin(EditAdmin[Redirect]):
    view_permission = add_permission = "redirects.edit"
    empty_words = gettext_lazy(
        "Redirects send visitors from an old address to a new one, so that "
        "existing links keep working."
    )
    list_title = gettext_lazy("Redirects")
    add_title, add_button, add_form = (
        gettext_lazy("New redirect"),
        gettext_lazy("Create redirect"),
        RedirectForm,
    )
    change_form = RedirectForm
    delete_sentence = gettext_lazy("Visitors to the old address are no longer redirected.")
    list_display = ("from_path", "to_path", "type", "state", "origin", "hits")
    list_filter = ("type", "is_automatic", "is_active", ("locale", LanguageFilter))
    search_fields = ("from_path", "to_path")
    ordering = ("-created_at", "id")
    list_per_page = 50
    change_list_template = "admin/seo/redirects.html"

    @admin.display(description=gettext_lazy("Status"), ordering="is_active")
    def state(self, row: Redirect) -> SafeString:
        return switch_badge(row.is_active)

    @admin.display(description=gettext_lazy("Origin"), ordering="is_automatic")
    def origin(self, row: Redirect) -> str:
        return _("Automatic") if row.is_automatic else _("Manual")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(import_view)
        return [path("import/", view, name="seo_redirect_import"), *super().get_urls()]

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        redirect = cast(RedirectForm, form).read_input(NewRedirect)
        made = create_redirect(actor=actor_of(request), redirect=redirect)
        messages.success(request, _("Created “%(name)s”.") % {"name": made.from_path})
        return HttpResponseRedirect(reverse("admin:seo_redirect_changelist"))

    def initial(self, row: Redirect) -> Mapping[str, object]:
        return RedirectAnswer.of(row).model_dump(by_alias=True)

    def change(self, request: HttpRequest, row: Redirect, form: forms.Form) -> None:
        changes = cast(RedirectForm, form).read_input(RedirectChanges)
        change_redirect(redirect_id=row.pk, actor=actor_of(request), changes=changes)

    def remove(self, request: HttpRequest, row: Redirect, form: forms.Form) -> None:
        delete_redirect(redirect_id=row.pk, actor=actor_of(request))


def import_view(request: HttpRequest) -> HttpResponse:
    """GET shows the form, POST checks the file; with `import`, POST imports it."""
    require(request, "redirects.edit")
    form = RedirectImportForm(*(request.POST, request.FILES) if request.method == "POST" else ())

    def check_or_import() -> HttpResponse:
        text, actor = form.cleaned_data["text"], actor_of(request)
        if "import" in request.POST:
            messages.success(request, import_sentence(import_redirects(text=text, actor=actor)))
            return HttpResponseRedirect(reverse("admin:seo_redirect_changelist"))
        checked = check_import(text=text, actor=actor)
        return import_page(request, RedirectImportForm(initial={"text": text}), checked)

    answer = answer_form(form, check_or_import) if form.is_bound else None
    return answer or import_page(request, form, None)


def import_page(
    request: HttpRequest, form: RedirectImportForm, checked: ImportResult | None
) -> HttpResponse:
    """Return the page with the form, and with the result of a check."""
    context = {
        "checked": checked,
        "would": import_sentence(checked) if checked else "",
        "problems": checked.problems[:100] if checked else [],
        "problem_count": len(checked.problems) if checked else 0,
    }
    title = _("Import redirects")
    return form_page(request, "admin/seo/import.html", Redirect, context, title=title, form=form)


def import_sentence(done: ImportResult) -> str:
    """Return the numbers of an import as a sentence."""
    return _("%(created)s new, %(changed)s changed, %(unchanged)s unchanged.") % {
        "created": done.created,
        "changed": done.changed,
        "unchanged": done.unchanged,
    }
