"""The report of an archive for the admin: each object with its fields on the site and in the archive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.labels import field_label, prop_label
from proofroom.archive.imports import Outcome
from proofroom.archive.registry import archive_kinds
from proofroom.core.i18n import in_words
from proofroom.core.json import Json
from proofroom.definitions import modules
from proofroom_apps.imports.models import ImportLine, ImportRun

ARCHIVE_OUTCOMES: Final[dict[str, Promise]] = {
    Outcome.CREATED: gettext_lazy("New"),
    Outcome.UPDATED: gettext_lazy("Changed"),
    Outcome.PROPOSED: gettext_lazy("Proposed"),
    Outcome.UNCHANGED: gettext_lazy("Unchanged"),
    Outcome.KEPT: gettext_lazy("Not imported"),
    "conflict": gettext_lazy("Conflicts"),
    "exported": gettext_lazy("Exported"),
}
_FIELDS: Final[dict[str, Promise]] = {
    "active": gettext_lazy("Active"),
    "altText": gettext_lazy("Alt text"),
    "altTexts": gettext_lazy("Alt texts"),
    "categories": gettext_lazy("Categories"),
    "description": gettext_lazy("Description"),
    "fields": gettext_lazy("Fields"),
    "focalX": gettext_lazy("Focal point"),
    "focalY": gettext_lazy("Focal point"),
    "fromPath": gettext_lazy("From"),
    "isDecorative": gettext_lazy("Decorative image"),
    "items": gettext_lazy("Links"),
    "label": gettext_lazy("Label"),
    "locale": gettext_lazy("Language"),
    "menu": gettext_lazy("Menu"),
    "modules": gettext_lazy("Modules"),
    "name": gettext_lazy("Name"),
    "parentId": gettext_lazy("Parent"),
    "pattern": gettext_lazy("URL pattern"),
    "props": gettext_lazy("Content"),
    "redirectUrl": gettext_lazy("Redirect after submitting"),
    "slug": gettext_lazy("Slug"),
    "status": gettext_lazy("Status"),
    "submitLabel": gettext_lazy("Submit button"),
    "successMessage": gettext_lazy("Success message"),
    "title": gettext_lazy("Title"),
    "toPath": gettext_lazy("To"),
    "type": gettext_lazy("Kind"),
}


@dataclass(frozen=True, slots=True)
class FieldRow:
    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """An object of the archive: the outcome of its import, and the fields that differ."""

    line: ImportLine
    kind: str
    outcome: str
    badge: str
    fields: list[FieldRow]
    url: str


def kind_label(name: str) -> str:
    kind = archive_kinds.get(name)
    return _("People") if name == "people" else str(kind.label) if kind is not None else name


def filter_lines(lines: QuerySet[ImportLine], show: str) -> QuerySet[ImportLine]:
    """Return the lines for a filter of the report; all lines for an unknown filter."""
    if show == "conflict":
        return lines.filter(is_conflict=True)
    if show == "changed":
        return lines.filter(outcome__in=(Outcome.UPDATED, Outcome.PROPOSED))
    if show == "note":
        # Notes on the archive as a whole have no outcome.
        return lines.filter(Q(outcome="") | Q(outcome=Outcome.KEPT))
    return lines.filter(outcome=Outcome.CREATED) if show == "created" else lines


def filters() -> list[tuple[str, str]]:
    return [
        ("", _("All")),
        ("created", _("New")),
        ("changed", _("Changed")),
        ("conflict", _("Conflicts")),
        ("note", _("Items not imported, and notes")),
    ]


def entries_of(run: ImportRun, lines: Iterable[ImportLine]) -> list[ReportEntry]:
    return [_entry(run, line) for line in lines]


def _entry(run: ImportRun, line: ImportLine) -> ReportEntry:
    url = ""
    if line.kind == "posts" and line.object_id is not None:
        # A post that a dry run would create has no page yet.
        is_here = line.outcome != Outcome.CREATED or not run.is_dry_run
        page = "review" if line.outcome == Outcome.PROPOSED and not run.is_dry_run else "change"
        url = reverse(f"admin:content_post_{page}", args=[line.object_id]) if is_here else ""
    return ReportEntry(
        line=line,
        kind=kind_label(line.kind) if line.kind else _("Notes"),
        outcome=str(ARCHIVE_OUTCOMES.get(line.outcome, "")),
        badge="archived" if line.is_conflict else _BADGES.get(line.outcome, ""),
        fields=[
            FieldRow(_label(line.kind, one), _text(one["before"]), _text(one["after"]))
            for one in line.details
        ],
        url=url,
    )


_BADGES: Final[dict[str, str]] = {Outcome.CREATED: "succeeded", Outcome.UPDATED: "running"}


def _label(kind: str, field: dict[str, Any]) -> str:
    path, of = str(field["path"]), str(field.get("of", ""))
    if path.startswith("modules."):
        definition = modules.get(of)
        module = in_words(definition.label) if definition is not None else of
        rest = path.split(".", 3)[2:]
        if not rest:
            return module
        return f"{module} › {prop_label(of, rest[-1]) if len(rest) > 1 else _('Position')}"
    if kind == "posts" and path != "status":
        return field_label(of, path.removeprefix("post."))
    return str(_FIELDS.get(path, path))


def _text(value: Json) -> str:
    if value is None or value == "":
        return "—"
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return str(value)
