"""The page that exports texts for translation and imports translations, as XLIFF 2."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.api.xliff import xliff_response
from content.models import Post
from content.store.scopes import visible_to
from content.store.translation_status import MatrixFilter, list_originals
from content.translations.xliff.exports import MAX_POSTS, export_xliff
from content.translations.xliff.imports import FileReport, UnitOutcome, import_xliff
from content.translations.xliff.reader import MAX_BYTES
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import allowed_names, reading_scopes
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.post_pages import page, review_url


class ExportForm(forms.Form):
    source = forms.ChoiceField(label=gettext_lazy("From"), choices=site_languages)
    locale = forms.ChoiceField(label=gettext_lazy("Translate into"), choices=site_languages)
    has_all = forms.BooleanField(
        label=gettext_lazy("Include texts that are up to date"), required=False
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("source") and values.get("source") == values.get("locale"):
            self.add_error("locale", _("Choose another language."))
        return values


class UploadForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("XLIFF file"),
        widget=forms.ClearableFileInput(attrs={"accept": ".xlf,.xliff,.xml"}),
    )
    dry_run = forms.BooleanField(label=gettext_lazy("Check only"), required=False)


@service_errors_as_http
def xliff(request: HttpRequest) -> HttpResponse:
    """GET shows both forms, POST exports or imports. `?post=` chooses one post, `?type=` and `?q=` many."""
    require(request, "posts.translate")
    do = request.POST.get("do", "")
    post = _chosen_post(request)
    source = post.locale if post is not None else None
    initial = {"source": source, "locale": request.GET.get("locale", "")}
    export_form = ExportForm(request.POST if do == "export" else None, initial=initial)
    if post is not None:
        export_form.fields["source"].disabled = True
    upload_form = UploadForm(*((request.POST, request.FILES) if do == "import" else ()))
    reports: list[FileReport] | None = None
    is_dry_run = False
    if do == "export" and export_form.is_valid():
        answer = _export(request, export_form, post)
        if answer is not None:
            return answer
    if do == "import" and upload_form.is_valid():
        is_dry_run = upload_form.cleaned_data["dry_run"]
        reports = _import(request, upload_form, is_dry_run=is_dry_run)
    has_errors = bool(export_form.errors or upload_form.errors)
    context = {
        "post": post,
        "export_form": export_form,
        "upload_form": upload_form,
        "reports": [_shown(one) for one in reports or ()],
        "is_dry_run": is_dry_run,
        "has_reports": reports is not None,
    }
    title = _("Translate with XLIFF")
    status = 422 if has_errors else 200
    return page(request, "admin/xliff.html", context, title=title, status=status)


def _chosen_post(request: HttpRequest) -> Post | None:
    with suppress(ValueError):
        seen = visible_to(Post.objects.kept(), actor_of(request))
        return seen.filter(pk=UUID(request.GET.get("post", ""))).first()
    return None


def _export(request: HttpRequest, form: ExportForm, post: Post | None) -> HttpResponse | None:
    """Return the file, or None after adding the problem to the form."""
    values = form.cleaned_data
    actor = actor_of(request)
    ids = [post.pk] if post is not None else _listed_ids(request, values["source"])
    if not ids:
        form.add_error(None, _("No posts match these filters."))
        return None
    try:
        export = export_xliff(
            post_ids=ids, locale=values["locale"], actor=actor, has_all=values["has_all"]
        )
    except NotAllowed:
        raise
    except CmsError as error:
        form.add_error(None, error.message)
        return None
    for line in export.skipped[:20]:
        messages.warning(request, line)
    name = post.slug if post is not None else "posts"
    return xliff_response(export.content, f"{name}.{values['source']}-{values['locale']}.xlf")


def _listed_ids(request: HttpRequest, source: str) -> list[UUID]:
    """Return the ids of the posts in a language that the filter of the matrix lists."""
    actor = actor_of(request)
    known = [type_.name for type_ in post_types if type_.localized]
    types = allowed_names(reading_scopes(actor), "types", known)
    type_ = request.GET.get("type", "")
    filters = MatrixFilter(
        words=request.GET.get("q", "").strip()[:100], type=type_ if type_ in known else ""
    )
    rows = list_originals(filters, types, (), actor).filter(locale=source, is_placeholder=False)
    return list(rows.values_list("pk", flat=True)[:MAX_POSTS])


def _import(request: HttpRequest, form: UploadForm, *, is_dry_run: bool) -> list[FileReport] | None:
    file = cast("UploadedFile[bytes]", form.cleaned_data["file"])
    try:
        return import_xliff(
            content=file.read(MAX_BYTES + 1), actor=actor_of(request), is_dry_run=is_dry_run
        )
    except NotAllowed:
        raise
    except CmsError as error:
        form.add_error("file", error.message)
        return None


def _shown(report: FileReport) -> dict[str, object]:
    id_ = report.translation_id
    labels: dict[UnitOutcome, str] = {
        "staged": _("In Review"),
        "stale": _("In Review, source changed"),
        "unchanged": _("Unchanged"),
        "untranslated": _("Not translated"),
        "failed": _("Failed"),
    }
    return {
        "report": report,
        "url": review_url(str(id_), "review") if id_ is not None else "",
        "counts": [(label, report.count(outcome)) for outcome, label in labels.items()],
        "notes": [unit for unit in report.units if unit.message],
    }
