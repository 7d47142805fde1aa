"""Redirects as a file in the admin: checked first, then imported."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.base import File
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.admin.forms import answered, form_page
from core.admin.rights import actor_of, require
from seo.models import Redirect
from seo.redirect_lines import MOST_CHARACTERS, MOST_LINES
from seo.services.importing import Imported, check_import, import_redirects

_HELP = format_lazy(
    gettext_lazy(
        "Columns from and to, and if wanted type (301 or 302) and active, parted by commas or "
        "semicolons. At most {most} lines."
    ),
    most=lazy(number_format, str)(MOST_LINES, force_grouping=True),
)


class ImportForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("File"), required=False, help_text=_HELP)
    text = forms.CharField(
        label=gettext_lazy("Or its lines"),
        required=False,
        max_length=MOST_CHARACTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=gettext_lazy("Such as: /old,/new"),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file = values.get("file")
        if file is not None:
            values["text"] = _text_of(file)
        if not values.get("text"):
            raise forms.ValidationError(_("Choose a file, or write the lines."))
        return values


def _text_of(file: File[bytes]) -> str:
    if (file.size or 0) > 4 * MOST_CHARACTERS:
        raise forms.ValidationError({"file": _("The file is too large.")})
    try:
        text: str = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise forms.ValidationError({"file": _("The file is no text in UTF-8.")}) from None
    if "\x00" in text:
        raise forms.ValidationError({"file": _("The file holds the character NUL.")})
    return text


def import_view(request: HttpRequest) -> HttpResponse:
    """GET asks for a file; POST says what it would do, and with `import` does it."""
    require(request, "redirects.edit")
    form = ImportForm(*(request.POST, request.FILES) if request.method == "POST" else ())
    checked: list[Imported] = []

    def done() -> HttpResponse:
        text, actor = form.cleaned_data["text"], actor_of(request)
        if "import" in request.POST:
            imported = import_redirects(text=text, actor=actor)
            messages.success(request, _sentence(imported))
            return HttpResponseRedirect(reverse("admin:seo_redirect_changelist"))
        checked.append(check_import(text=text, actor=actor))
        return _page(request, ImportForm(initial={"text": text}), checked[0])

    answer = answered(form, done) if form.is_bound else None
    return answer or _page(request, form, None)


def _page(request: HttpRequest, form: ImportForm, checked: Imported | None) -> HttpResponse:
    context = {
        "checked": checked,
        "would": _sentence(checked) if checked else "",
        "problems": checked.problems[:100] if checked else [],
        "problem_count": len(checked.problems) if checked else 0,
    }
    title = _("Import redirects")
    return form_page(request, "admin/seo/import.html", Redirect, context, title=title, form=form)


def _sentence(done: Imported) -> str:
    return _("%(created)s new, %(changed)s changed, %(unchanged)s as they were.") % {
        "created": done.created,
        "changed": done.changed,
        "unchanged": done.unchanged,
    }
