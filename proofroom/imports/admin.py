"""Imports in the admin: a file is uploaded, tried first, and imported by a worker; the report of each is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.permissions import actor_of, may, refusals_as_messages, require
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom.imports.content_importer import ContentImporter
from proofroom.imports.models import ImportRun, RunState
from proofroom.imports.registry import importers
from proofroom.imports.runs import (
    CHUNK_BYTES,
    cancel_run,
    find_importer,
    repeat_run,
    start_run,
)

MAX_UPLOAD: Final = 500 * 1024 * 1024
LINES_PER_PAGE: Final = 100
_STATES: Final[dict[str, tuple[str, Promise]]] = {
    RunState.RUNNING: ("running", gettext_lazy("Running")),
    RunState.DONE: ("succeeded", gettext_lazy("Finished")),
    RunState.CANCELLED: ("cancelled", gettext_lazy("Cancelled")),
    RunState.FAILED: ("failed", gettext_lazy("Failed")),
}
_KINDS: Final[dict[str, Promise]] = {
    "items": gettext_lazy("Unreadable items"),
    "terms": gettext_lazy("Terms"),
    "files": gettext_lazy("Files"),
    "posts": gettext_lazy("Posts"),
    "menus": gettext_lazy("Menus"),
    "redirects": gettext_lazy("Redirects"),
}
OUTCOMES: Final[dict[str, Promise]] = {
    "created": gettext_lazy("New"),
    "updated": gettext_lazy("Changed"),
    "staged": gettext_lazy("Sent to Review"),
    "unchanged": gettext_lazy("Unchanged"),
    "skipped": gettext_lazy("Skipped"),
    "failed": gettext_lazy("Failed"),
}
_SEVERITIES: Final = ("error", "warning", "info")


def content_importers() -> list[type[ContentImporter]]:
    """The sources that take an uploaded file."""
    return [one for one in importers if issubclass(one, ContentImporter) and one.suffixes]


class ImportForm(forms.Form):
    source = forms.ChoiceField(label=gettext_lazy("Source"))
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("The export file, or a ZIP archive of the folder."),
    )
    type = forms.ChoiceField(
        label=gettext_lazy("Post type"),
        required=False,
        help_text=gettext_lazy("Used where the source does not name one."),
    )
    locale = forms.ChoiceField(label=gettext_lazy("Language"), choices=site_languages)
    site = forms.URLField(
        label=gettext_lazy("Address of the old site"),
        required=False,
        max_length=300,
        assume_scheme="https",
        help_text=gettext_lazy("Links to it become links to the imported posts."),
    )
    mapping = forms.JSONField(
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
            ("", _("As the source says")),
            *((one.name, one.label) for one in post_types),
        ]
        if not any(one.has_mapping for one in content_importers()):
            del self.fields["mapping"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file, name = values.get("file"), values.get("source")
        if isinstance(file, UploadedFile) and name:
            suffixes = find_importer(name).suffixes
            if PurePath(str(file.name)).suffix.lower() not in suffixes:
                text = _("Choose a file that ends in %(suffixes)s.")
                self.add_error("file", text % {"suffixes": ", ".join(suffixes)})
            elif (file.size or 0) > MAX_UPLOAD:
                text = _("The file is larger than %(most)s MB. Import it with the command.")
                self.add_error("file", text % {"most": MAX_UPLOAD // 1024**2})
        return values


@admin.register(ImportRun)
class ImportRunAdmin(FormAdmin[ImportRun]):
    view_permission = add_permission = "posts.edit"
    empty_words = gettext_lazy(
        "Bring in posts, images and menus from WordPress, Markdown and other systems."
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

    @admin.display(description=gettext_lazy("Source"))
    def source_label(self, row: ImportRun) -> str:
        found = importers.get(row.source)
        return str(found.label) if found is not None else row.source

    @admin.display(description=gettext_lazy("Kind"))
    def kind(self, row: ImportRun) -> str:
        return _("Dry run") if row.is_dry_run else _("Import")

    @admin.display(description=gettext_lazy("State"))
    def outcome(self, row: ImportRun) -> str:
        return str(_STATES[row.state][1])

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        """Start a dry run, which stores nothing."""
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
        answer = super().add_view(request, form_url, extra_context)
        if hasattr(answer, "template_name"):
            answer.template_name = "admin/imports/start.html"
        return answer

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """GET shows how far it is and what it said; POST cancels it, or imports for good what was tried."""
        require(request, self.view_permission)
        try:
            run = ImportRun.objects.filter(pk=UUID(object_id)).first()
        except ValueError:
            run = None
        if run is None:
            raise Http404(_("There is no such import."))
        if request.method == "POST":
            target = run.pk
            with refusals_as_messages(request):
                if request.POST.get("action") == "cancel":
                    cancel_run(run_id=run.pk, actor=actor_of(request))
                    messages.success(request, _("Import cancelled. What is imported stays."))
                else:
                    target = repeat_run(run_id=run.pk, actor=actor_of(request)).pk
            return HttpResponseRedirect(
                reverse("admin:proofroom_imports_importrun_change", args=[target])
            )
        return self._run_page(request, run)

    def _run_page(self, request: HttpRequest, run: ImportRun) -> HttpResponse:
        severity = request.GET.get("severity", "")
        lines = run.lines.all()
        if severity in _SEVERITIES:
            lines = lines.filter(severity=severity)
        page = Paginator(lines, LINES_PER_PAGE).get_page(request.GET.get("p"))
        badge, state = _STATES[run.state]
        is_own = run.by_id == request.user.pk or may(request, "database.manage")
        outcomes = [
            name for name in OUTCOMES if any(name in counts for counts in run.counts.values())
        ]
        context = {
            "run": run,
            "badge": badge,
            "state": state,
            "source_label": self.source_label(run),
            "outcomes": [str(OUTCOMES[name]) for name in outcomes],
            "counts": [
                (str(label), [run.counts[kind].get(name, 0) for name in outcomes])
                for kind, label in _KINDS.items()
                if kind in run.counts
            ],
            "page": page,
            "lines": [(line, str(OUTCOMES.get(line.outcome, ""))) for line in page],
            "severity": severity,
            "severities": [
                ("", _("All")),
                ("error", _("Errors")),
                ("warning", _("Warnings")),
                ("info", _("Details")),
            ],
            "may_cancel": is_own and run.is_running,
            "may_import": run.is_dry_run and run.state == RunState.DONE and run.chunks.exists(),
        }
        title = run.name
        return form_page(request, "admin/imports/run.html", ImportRun, context, title=title)


def _chunks_of(file: UploadedFile[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while block := file.read(CHUNK_BYTES):
        yield block
