"""Revisions of a global module, a menu or a term: listed, compared, restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.shared_content.edit_page import tabs_of
from proofroom.shared_content.models import SharedProposal, SharedRevision
from proofroom.shared_content.revisions import find_revision, list_revisions, restore_revision
from proofroom.shared_content.shared_types import SharedKind, SharedRow, find_kind
from proofroom_apps.editorial.posts.post_pages import split_switch, version_sent
from proofroom_apps.editorial.shared_content.comparison import SharedComparison

_PAGE_SIZE: Final = 25
_LABELS_SHOWN: Final = 4
_REASONS: Final[Mapping[str, Promise]] = {
    "before": gettext_lazy("First saved state"),
    "created": gettext_lazy("Created"),
    "edited": gettext_lazy("Edited"),
    "moved": gettext_lazy("Moved"),
    "approved": gettext_lazy("Approved"),
    "reverted": gettext_lazy("Restored"),
    "find-replace": gettext_lazy("Find and replace"),
    "find-replace undone": gettext_lazy("Find and replace undone"),
}


@dataclass(frozen=True, slots=True)
class SharedRevisionLine:
    """A revision with its cause, the changed fields, and the previous version."""

    revision: SharedRevision
    reason: str
    changes: str
    earlier: UUID | None
    is_current: bool


def open_row(request: HttpRequest, kind_name: str, row_id: UUID) -> tuple[SharedKind, SharedRow]:
    """Return kind and row of an address, if the user may edit them. Raises `NotFound`, `Http404`."""
    kind = find_kind(kind_name)
    # First, so that the answer doesn't tell other users which rows exist.
    require(request, kind.permission)
    row = kind.find(row_id)
    if row is None:
        raise Http404(_("This page does not exist."))
    return kind, row


def shared_page(
    request: HttpRequest,
    template: str,
    kind: SharedKind,
    row: SharedRow,
    context: dict[str, Any],
    *,
    title: str,
    tab: str,
    waiting: SharedProposal | None = None,
) -> TemplateResponse:
    """Return a page of one row with its tabs."""
    frame = {
        **admin.site.each_context(request),
        "title": title,
        "opts": kind.model._meta,
        "kind": kind,
        "row": row,
        "shared_tabs": tabs_of(kind, row, waiting),
        "tab": tab,
        **context,
    }
    return TemplateResponse(request, template, frame)


@service_errors_as_http
def shared_history(request: HttpRequest, kind_name: str, row_id: UUID) -> HttpResponse:
    """List the revisions, newest first, each with the fields it changed."""
    kind, row = open_row(request, kind_name, row_id)
    rows = list_revisions(kind.name, row_id)
    found = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page"))
    listed = list(found)
    before_last = rows.filter(version__lt=listed[-1].version).first() if listed else None
    return shared_page(
        request,
        "admin/shared/history.html",
        kind,
        row,
        {
            "revisions": found,
            "lines": _describe(
                SharedComparison(kind, row, actor_of(request)),
                listed,
                before_last,
                found.number == 1,
            ),
        },
        title=_("History: %(title)s") % {"title": row},
        tab="history",
    )


def _describe(
    comparison: SharedComparison,
    rows: Sequence[SharedRevision],
    before_last: SharedRevision | None,
    is_first_page: bool,
) -> list[SharedRevisionLine]:
    lines: list[SharedRevisionLine] = []
    # Each with the next older one. For the last row of the page that is the first of the next page.
    for place, (row, earlier) in enumerate(zip(rows, [*rows, before_last][1:], strict=True)):
        fields = comparison.changed_fields(earlier.document, row.document) if earlier else []
        labels = [field.label for field in fields]
        shown, more = labels[:_LABELS_SHOWN], len(labels) - _LABELS_SHOWN
        if more > 0:
            shown.append(_("%(n)d more") % {"n": more})
        lines.append(
            SharedRevisionLine(
                row,
                str(_REASONS.get(row.reason, row.reason)),
                ", ".join(shown),
                earlier.pk if earlier and fields else None,
                is_current=is_first_page and place == 0,
            )
        )
    return lines


@service_errors_as_http
def shared_compare(request: HttpRequest, kind_name: str, row_id: UUID) -> HttpResponse:
    """Show the differences from one revision (`?from=`) to another (`&to=`)."""
    kind, row = open_row(request, kind_name, row_id)
    one = find_revision(kind.name, row_id, request.GET.get("from", ""))
    other = find_revision(kind.name, row_id, request.GET.get("to", ""))
    if one.version > other.version:
        one, other = other, one
    return shared_page(
        request,
        "admin/shared/compare.html",
        kind,
        row,
        {
            "one": one,
            "other": other,
            "groups": SharedComparison(kind, row, actor_of(request)).groups(
                one.document, other.document
            ),
            **split_switch(request, {"from": str(one.pk), "to": str(other.pk)}),
        },
        title=_("Version %(version)s compared with %(version_2)s: %(title)s")
        % {"version": one.version, "version_2": other.version, "title": row},
        tab="history",
    )


@service_errors_as_http
def shared_restore(
    request: HttpRequest, kind_name: str, row_id: UUID, revision_id: UUID
) -> HttpResponse:
    """GET shows the changes of a restore, POST restores."""
    kind, row = open_row(request, kind_name, row_id)
    revision = find_revision(kind.name, row_id, revision_id)
    if request.method == "POST":
        try:
            restore_revision(
                kind=kind,
                row_id=row_id,
                revision_id=revision.pk,
                actor=actor_of(request),
                expected_version=version_sent(request),
            )
        except CmsError as error:
            if error.status in (403, 404):
                raise
            messages.error(request, error.message)
            return HttpResponseRedirect(request.path)
        messages.success(
            request, _("Version %(version)s restored.") % {"version": revision.version}
        )
        return HttpResponseRedirect(reverse("admin:shared-history", args=[kind.name, row_id]))
    return shared_page(
        request,
        "admin/shared/restore.html",
        kind,
        row,
        {
            "revision": revision,
            "groups": SharedComparison(kind, row, actor_of(request)).groups(
                kind.document_of(row), revision.document
            ),
            "back": reverse("admin:shared-history", args=[kind.name, row_id]),
            **split_switch(request, {}),
        },
        title=_("Restore version %(version)s: %(title)s")
        % {"version": revision.version, "title": row},
        tab="history",
    )
