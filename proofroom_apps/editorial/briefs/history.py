"""Versions of an editorial brief: listed, compared, restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import summarize
from content.comparison.references import References
from content.comparison.risk import Risk
from content.presenters.cards import CardGroup, ChangeCard, lines_of
from proofroom.briefs.admin.brief_admin import brief_tabs
from proofroom.briefs.models import Brief
from proofroom.briefs.services import (
    EDIT,
    FIELDS,
    VIEW,
    brief_document,
    find_brief,
    find_version,
    list_versions,
    restore_brief,
)
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject
from proofroom.core.post_type_names import post_type_labels
from proofroom.shared_content.models import SharedRevision
from proofroom_apps.editorial.posts.post_pages import split_switch, version_sent

_PAGE_SIZE: Final = 25
_LABELS_SHOWN: Final = 4
_NO_RISK: Final = Risk(1, ())
_REASONS: Final[Mapping[str, Promise]] = {
    "created": gettext_lazy("Created"),
    "edited": gettext_lazy("Edited"),
    "reverted": gettext_lazy("Restored"),
}
_LABELS: Final[Mapping[str, Promise]] = {
    "name": gettext_lazy("Name"),
    "locale": gettext_lazy("Language"),
    "type": gettext_lazy("Post type"),
    "section": gettext_lazy("Section"),
    "audience": gettext_lazy("Audience"),
    "voice": gettext_lazy("Voice"),
    "address": gettext_lazy("Form of address"),
    "reading_level": gettext_lazy("Reading level"),
    "never": gettext_lazy("Never say"),
    "terms": gettext_lazy("Terms"),
    "protected_names": gettext_lazy("Protected names"),
    "examples": gettext_lazy("Approved edits"),
}


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version with its cause, the changed fields, and the number of the version before, if they differ."""

    version: SharedRevision
    reason: str
    changes: str
    earlier: int | None
    is_current: bool


def _page(
    request: HttpRequest, template: str, brief: Brief, context: dict[str, Any], title: str
) -> TemplateResponse:
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": Brief._meta,
        "row": brief,
        "tabs": brief_tabs(brief),
        "tab": "history",
        "may_edit": may(request, EDIT),
        **context,
    }
    return TemplateResponse(request, template, frame)


@service_errors_as_http
def brief_history(request: HttpRequest, brief_id: UUID) -> HttpResponse:
    """List the versions, newest first, each with the fields it changed."""
    require(request, VIEW)
    brief = find_brief(brief_id)
    rows = list_versions(brief)
    found = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page"))
    listed = list(found)
    before_last = rows.filter(version__lt=listed[-1].version).first() if listed else None
    lines = [
        _line(row, earlier, brief)
        for row, earlier in zip(listed, [*listed, before_last][1:], strict=True)
    ]
    context = {"versions": found, "lines": lines}
    title = _("History: %(title)s") % {"title": brief}
    return _page(request, "admin/briefs/history.html", brief, context, title)


def _line(row: SharedRevision, earlier: SharedRevision | None, brief: Brief) -> VersionLine:
    changed = changed_fields(earlier.document, row.document) if earlier is not None else []
    labels = [str(_LABELS[name]) for name in changed]
    shown, more = labels[:_LABELS_SHOWN], len(labels) - _LABELS_SHOWN
    if more > 0:
        shown.append(_("%(n)d more") % {"n": more})
    return VersionLine(
        row,
        str(_REASONS.get(row.reason, row.reason)),
        ", ".join(shown),
        earlier.version if earlier is not None and changed else None,
        is_current=row.version == brief.version,
    )


@service_errors_as_http
def brief_compare(request: HttpRequest, brief_id: UUID) -> HttpResponse:
    """Show the differences from one version (`?from=`) to another (`&to=`)."""
    require(request, VIEW)
    brief = find_brief(brief_id)
    one, other = sorted(
        (find_version(brief, _number(request, name)) for name in ("from", "to")),
        key=lambda row: row.version,
    )
    context = {
        "one": one,
        "other": other,
        "groups": compared_groups(one.document, other.document),
        **split_switch(request, {"from": str(one.version), "to": str(other.version)}),
    }
    title = _("Version %(version)s compared with %(version_2)s: %(title)s") % {
        "version": one.version,
        "version_2": other.version,
        "title": brief,
    }
    return _page(request, "admin/briefs/compare.html", brief, context, title)


@service_errors_as_http
def brief_restore(request: HttpRequest, brief_id: UUID, version: int) -> HttpResponse:
    """GET shows the changes of a restore, POST restores."""
    require(request, EDIT)
    brief = find_brief(brief_id)
    row = find_version(brief, version)
    back = reverse("admin:brief-history", args=[brief.pk])
    if request.method == "POST":
        try:
            restore_brief(
                brief_id=brief.pk,
                version=row.version,
                actor=actor_of(request),
                expected_version=version_sent(request),
            )
        except CmsError as error:
            if error.status in (403, 404):
                raise
            messages.error(request, error.message)
            return HttpResponseRedirect(request.path)
        messages.success(request, _("Version %(version)s restored.") % {"version": row.version})
        return HttpResponseRedirect(back)
    context = {
        "version": row,
        "groups": compared_groups(brief_document(brief), row.document),
        "back": back,
        **split_switch(request, {}),
    }
    title = _("Restore version %(version)s: %(title)s") % {"version": row.version, "title": brief}
    return _page(request, "admin/briefs/restore.html", brief, context, title)


def changed_fields(before: JsonObject, after: JsonObject) -> list[str]:
    """Return the names of the fields that differ, in the order of the form."""
    # A version from before a field existed has no value of it, which equals an empty one.
    return [
        name for name in FIELDS if name in _LABELS and _text(before, name) != _text(after, name)
    ]


def compared_groups(before: JsonObject, after: JsonObject) -> list[CardGroup]:
    """Return the differences of two versions as cards. No query."""
    shape = ValueShape("textarea")
    cards: list[ChangeCard] = []
    for name in changed_fields(before, after):
        comparison = compare(_text(before, name), _text(after, name), shape)
        # Without notes and risk: they judge texts of the site, not instructions.
        lines = tuple(
            replace(line, notes=(), passages=()) for line in lines_of(comparison, References())
        )
        label, summary = str(_LABELS[name]), summarize(comparison)
        cards.append(ChangeCard(name, "changed", label, comparison, lines, _NO_RISK, summary))
    return [CardGroup(_("Brief"), cards)] if cards else []


def _text(document: JsonObject, name: str) -> str:
    """Return a field as text, with a line for each entry of a list."""
    value = document.get(name)
    if name == "locale":
        return language_name(str(value)) if value else ""
    if name == "type":
        return in_words(post_type_labels().get(str(value), str(value))) if value else ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(_ENTRIES.get(name, str)(item) for item in value)
    return str(value or "")


def _term_line(item: Json) -> str:
    term: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    parts = [str(term.get("term", ""))]
    if term.get("preferred"):
        parts.append(f"→ {term['preferred']}")
    if term.get("forbidden"):
        parts.append(f"({_('Never use')})")
    translations: Mapping[str, str] = term.get("translations") or {}
    parts += [f"· {locale}: {text}" for locale, text in sorted(translations.items())]
    if term.get("note"):
        parts.append(f"· {term['note']}")
    return " ".join(parts)


def _example_line(item: Json) -> str:
    example: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    return f"{example.get('before', '')}\n→ {example.get('after', '')}"


_ENTRIES: Final[Mapping[str, Callable[[Json], str]]] = {
    "terms": _term_line,
    "examples": _example_line,
}


def _number(request: HttpRequest, name: str) -> int:
    """Return the version in the address; 0, which no brief has, if it is invalid."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
