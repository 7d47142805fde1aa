"""Imports and exports in the admin. Each is a run that a worker executes, with a stored report.

An upload starts with a dry run; for an archive, the dry run compares it with the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.archive.export import PERMISSION as ARCHIVES
from proofroom.archive.imports import Mode
from proofroom.archive.services import require_mode
from proofroom.core.admin.form_pages import answer_form, form_page
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.admin.run_pages import RunAdmin
from proofroom.core.background_jobs.models import JobState
from proofroom.core.errors import NotAllowed, NotFound
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom_apps.imports import schedule_admin  # noqa: F401  # registers its list
from proofroom_apps.imports.archive_report import (
    ARCHIVE_OUTCOMES,
    entries_of,
    filter_lines,
    filters,
    kind_label,
)
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.export_form import ExportForm
from proofroom_apps.imports.export_runs import ExportOptions, open_export
from proofroom_apps.imports.importers.archive import ArchiveImporter
from proofroom_apps.imports.models import ARCHIVE, CHUNK_BYTES, ExportRun, ImportRun
from proofroom_apps.imports.registry import importers
from proofroom_apps.imports.run_report import KINDS, OUTCOMES, groups_by_kind, report_of
from proofroom_apps.imports.runs import (
    cancel_run,
    find_importer,
    repeat_run,
    start_export,
    start_run,
    visible_imports,
)

if TYPE_CHECKING:
    pass

MAX_UPLOAD: Final = 500 * 1024 * 1024
LINES_PER_PAGE: Final = 100
_SEVERITIES: Final = ("error", "warning", "info")


def content_importers() -> list[type[ContentImporter]]:
    """Return the sources that the form offers, including sources of the site's own apps."""
    # Archives have their own page, which compares instead of asking for options.
    return [one for one in importers if issubclass(one, ContentImporter)]


class OptionalJson(forms.JSONField):
    """A JSON field that is blank at first instead of null, and refuses deeply nested JSON."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        # Python's JSON parser raises it for deeply nested input, and Django's field does not catch it.
        except RecursionError:
            message = self.error_messages["invalid"]
            raise forms.ValidationError(message, code="invalid", params={"value": ""}) from None

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class ImportForm(forms.Form):
    source = forms.ChoiceField(label=gettext_lazy("Import from"))
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("The export file, or a ZIP archive of the folder."),
    )
    type = forms.ChoiceField(
        label=gettext_lazy("Post type"),
        required=False,
        help_text=gettext_lazy("Used when the source does not specify one."),
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
    site = forms.URLField(
        label=gettext_lazy("Address of the old site"),
        required=False,
        max_length=300,
        assume_scheme="https",
        help_text=gettext_lazy("Links to this address are changed to the imported posts."),
    )
    mapping = OptionalJson(
        label=gettext_lazy("Mapping"),
        required=False,
        help_text=gettext_lazy("For CSV and JSON: an object with a column for each field."),
    )
    fetch = forms.BooleanField(
        label=gettext_lazy("Fetch images from the old site"), required=False, initial=True
    )
    live = forms.BooleanField(
        label=gettext_lazy("Change existing posts without review"), required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        source = cast(forms.ChoiceField, self.fields["source"])
        source.choices = [(one.name, str(one.label)) for one in content_importers()]
        type_ = cast(forms.ChoiceField, self.fields["type"])
        type_.choices = [
            ("", _("As in the source")),
            *((one.name, one.label) for one in post_types),
        ]
        if not any(one.has_mapping for one in content_importers()):
            del self.fields["mapping"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file, name = values.get("file"), values.get("source")
        if isinstance(file, UploadedFile) and name:
            suffixes = find_importer(name).suffixes
            if suffixes and PurePath(str(file.name)).suffix.lower() not in suffixes:
                text = _("Choose a file that ends in %(suffixes)s.")
                self.add_error("file", text % {"suffixes": ", ".join(suffixes)})
            elif (file.size or 0) > MAX_UPLOAD:
                text = _("The file is larger than %(most)s MB. Import it on the command line.")
                self.add_error("file", text % {"most": MAX_UPLOAD // 1024**2})
        return values


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("An archive that was exported here or from another installation."),
    )

    def clean_file(self) -> UploadedFile[bytes]:
        file = cast("UploadedFile[bytes]", self.cleaned_data["file"])
        if PurePath(str(file.name)).suffix.lower() not in ArchiveImporter.suffixes:
            raise forms.ValidationError(_("Choose a file that ends in .zip."))
        if (file.size or 0) > MAX_UPLOAD:
            text = _("The file is larger than %(most)s MB. Import it on the command line.")
            raise forms.ValidationError(text % {"most": MAX_UPLOAD // 1024**2})
        return file


@admin.register(ImportRun)
class ImportRunAdmin(RunAdmin[ImportRun]):
    view_permission = add_permission = "posts.edit"
    empty_words = gettext_lazy(
        "Import posts, images and menus from WordPress, Markdown and other systems."
    )
    list_title = gettext_lazy("Imports")
    add_title, add_button, add_form = (
        gettext_lazy("Import content"),
        gettext_lazy("Start dry run"),
        ImportForm,
    )
    list_display = ("name", "source_label", "kind", "outcome", "by_name", "created_at")
    search_fields = ("name",)
    ordering = ("-created_at",)
    run_template = "admin/imports/run.html"
    not_found = gettext_lazy("Import not found.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ImportRun]:
        # Exports are in the same table, see the proxy `ExportRun`.
        rows = super().get_queryset(request).filter(is_export=False)
        return visible_imports(rows, actor_of(request))

    @admin.display(description=gettext_lazy("Imported from"))
    def source_label(self, row: ImportRun) -> str:
        found = importers.get(row.source)
        return str(found.label) if found is not None else row.source

    @admin.display(description=gettext_lazy("Kind"))
    def kind(self, row: ImportRun) -> str:
        return _("Dry run") if row.is_dry_run else _("Import")

    @admin.display(description=gettext_lazy("Status"))
    def outcome(self, row: ImportRun) -> str:
        return str(self.states[row.state][1])

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        """Start a dry run, which stores no content."""
        values = form.cleaned_data
        file = cast("UploadedFile[bytes]", values["file"])
        importer = find_importer(values["source"])
        name = PurePath(str(file.name)).name
        options = importer.check_options(
            {
                **{key: values.get(key) or "" for key in ("type", "locale", "site")},
                "mapping": values.get("mapping") or {},
                "fetch": values["fetch"],
                "live": values["live"],
                "name": name[:200],
            }
        )
        run = start_run(
            actor=actor_of(request),
            importer=importer,
            name=name,
            options=options,
            is_dry_run=True,
            upload=_chunks_of(file),
        )
        return HttpResponseRedirect(
            reverse("admin:proofroom_imports_importrun_change", args=[run.pk])
        )

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        may_propose = _may_import(request, Mode.PROPOSE)
        if request.GET.get("source") == ARCHIVE and may_propose:
            return self._archive_page(request)
        answer = super().add_view(request, form_url, extra_context)
        if isinstance(answer, TemplateResponse):
            answer.template_name = "admin/imports/start.html"
            cast("dict[str, Any]", answer.context_data)["may_archive"] = may_propose
        return answer

    def _archive_page(self, request: HttpRequest) -> HttpResponse:
        """Upload an archive and compare it with the site."""
        require(request, self.add_permission)
        posted = request.method == "POST"
        form = ArchiveForm(request.POST, request.FILES) if posted else ArchiveForm()

        def compare() -> HttpResponse:
            file = form.cleaned_data["file"]
            importer = ArchiveImporter()
            # Compare in the mode of the import, so that users who may only propose see those effects.
            mode = Mode.UPDATE if _may_import(request, Mode.UPDATE) else Mode.PROPOSE
            run = start_run(
                actor=actor_of(request),
                importer=importer,
                name=PurePath(str(file.name)).name,
                options=importer.check_options({"mode": mode}),
                is_dry_run=True,
                upload=_chunks_of(file),
            )
            page = reverse("admin:proofroom_imports_importrun_change", args=[run.pk])
            return HttpResponseRedirect(page)

        done = answer_form(form, compare) if posted else None
        if done is not None:
            return done
        context = {"button": _("Compare archive"), "may_archive": True, "is_archive": True}
        title = self.add_title
        template = "admin/imports/start.html"
        return form_page(request, template, ImportRun, context, title=title, form=form)

    def run_title(self, run: ImportRun) -> str:
        return run.name

    def act(self, request: HttpRequest, run: ImportRun, action: str) -> ImportRun:
        """Cancel the run, or start the import after its dry run."""
        if action == "cancel":
            cancel_run(run_id=run.pk, actor=actor_of(request))
            messages.success(
                request,
                _("Import cancelled. Nothing was imported.")
                if run.source == ARCHIVE
                else _("Import cancelled. Content already imported is kept."),
            )
            return run
        # The buttons of an archive are named by modes of the import.
        changed = {"mode": action} if run.source == ARCHIVE else None
        return repeat_run(run_id=run.pk, actor=actor_of(request), changed=changed)

    def run_context(self, request: HttpRequest, run: ImportRun, *, is_own: bool) -> dict[str, Any]:
        is_archive = run.source == ARCHIVE
        severity = request.GET.get("severity", "")
        lines = run.lines.all()
        if is_archive:
            lines = filter_lines(lines, severity)
        elif severity in _SEVERITIES:
            lines = lines.filter(severity=severity)
        page = Paginator(lines, LINES_PER_PAGE).get_page(request.GET.get("p"))
        names = ARCHIVE_OUTCOMES if is_archive else OUTCOMES
        outcomes = [name for name in names if any(name in counts for counts in run.counts.values())]
        kinds = {name: kind_label(name) for name in run.counts} if is_archive else KINDS
        # A repeated run takes over the chunks, and old ones are deleted: then nothing is left to import.
        may_import = run.is_dry_run and run.state == JobState.DONE and run.chunks.exists()
        return {
            "source_label": self.source_label(run),
            "is_archive": is_archive,
            "entries": entries_of(run, page) if is_archive else (),
            "outcomes": [str(names[name]) for name in outcomes],
            "counts": [
                (str(label), [run.counts[kind].get(name, 0) for name in outcomes])
                for kind, label in kinds.items()
                if kind in run.counts
            ],
            # While it runs, the report grows with each request.
            "groups": [] if is_archive or run.is_running else list(groups_by_kind(report_of(run))),
            "page": page,
            "lines": [(line, str(OUTCOMES.get(line.outcome, ""))) for line in page],
            "severity": severity,
            "severities": filters()
            if is_archive
            else [
                ("", _("All")),
                ("error", _("Errors")),
                ("warning", _("Warnings")),
                ("info", _("Details")),
            ],
            "may_import": may_import and (not is_archive or _may_import(request, Mode.PROPOSE)),
            "may_update": may_import and is_archive and _may_import(request, Mode.UPDATE),
        }


@admin.register(ExportRun)
class ExportRunAdmin(RunAdmin[ExportRun]):
    view_permission = add_permission = ARCHIVES
    empty_words = gettext_lazy("Download all content, or a part of it, as an archive.")
    list_title = gettext_lazy("Exports")
    add_title, add_button, add_form = (
        gettext_lazy("Export content"),
        gettext_lazy("Export content"),
        ExportForm,
    )
    list_display = ("name", "outcome", "by_name", "created_at")
    search_fields = ("name",)
    ordering = ("-created_at",)
    run_template = "admin/imports/export_run.html"
    not_found = gettext_lazy("Export not found.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ExportRun]:
        return super().get_queryset(request).filter(is_export=True)

    def get_urls(self) -> list[URLPattern]:
        download = path(
            "<uuid:object_id>/download/",
            self.admin_site.admin_view(self.download_view),
            name="proofroom_imports_exportrun_download",
        )
        return [download, *super().get_urls()]

    @admin.display(description=gettext_lazy("State"))
    def outcome(self, row: ExportRun) -> str:
        return _("Expired") if _has_expired(row) else str(self.states[row.state][1])

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        answer = super().add_view(request, form_url, extra_context)
        if isinstance(answer, TemplateResponse):
            answer.template_name = "admin/imports/export.html"
        return answer

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = dict(form.cleaned_data)
        day = values.pop("changed_since")
        since = timezone.make_aware(datetime.combine(day, datetime.min.time())) if day else None
        options = ExportOptions(changed_since=since, **values)
        name = f"{timezone.localtime():%Y-%m-%d-%H%M}.zip"
        run = start_export(actor=actor_of(request), name=name, options=options)
        page = reverse("admin:proofroom_imports_exportrun_change", args=[run.pk])
        return HttpResponseRedirect(page)

    def run_title(self, run: ExportRun) -> str:
        return run.name

    def act(self, request: HttpRequest, run: ExportRun, action: str) -> ExportRun:
        cancel_run(run_id=run.pk, actor=actor_of(request))
        messages.success(request, _("Export cancelled."))
        return run

    def run_context(self, request: HttpRequest, run: ExportRun, *, is_own: bool) -> dict[str, Any]:
        return {
            "counts": [(kind_label(kind), one["exported"]) for kind, one in run.counts.items()],
            "notes": run.lines.all()[:LINES_PER_PAGE],
            "may_download": run.state == JobState.DONE and not _has_expired(run),
        }

    def download_view(self, request: HttpRequest, object_id: UUID) -> HttpResponseBase:
        """Stream the archive to users who may export. It must not be cached."""
        require(request, self.view_permission)
        run = self.find_run(request, str(object_id))
        try:
            content = open_export(run, actor_of(request))
        except NotFound as error:
            raise Http404(error.message) from None
        return StreamingHttpResponse(
            content,
            content_type="application/zip",
            headers={
                "Content-Disposition": f'attachment; filename="{run.name}"',
                "Content-Length": str(run.size),
                "Cache-Control": "no-store, private",
            },
        )


def _may_import(request: HttpRequest, mode: Mode) -> bool:
    """Return whether the user may import an archive in that mode."""
    try:
        require_mode(actor_of(request), mode)
    except NotAllowed:
        return False
    return True


def _has_expired(run: ImportRun) -> bool:
    return run.expires_at is not None and run.expires_at <= timezone.now()


def _chunks_of(file: UploadedFile[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while block := file.read(CHUNK_BYTES):
        yield block
