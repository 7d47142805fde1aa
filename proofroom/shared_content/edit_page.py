"""What the page with the form of a global module, a menu or a term shows around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.admin.permissions import actor_of
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject
from proofroom.shared_content.approval import needs_approval
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import propose_change, waiting_for
from proofroom.shared_content.shared_types import SharedKind, SharedRow

PageFacts = Callable[[HttpRequest, SharedKind, SharedRow], Mapping[str, object]]
edit_page_facts: ExtensionPoint[PageFacts] = ExtensionPoint()
"""What apps above add to the page, by the names that its template reads."""


@dataclass(frozen=True, slots=True)
class SharedTab:
    """A page of the row; `name` tells which one is open."""

    name: str
    label: str
    url: str
    count: int | None = None


def tabs_of(
    kind: SharedKind, row: SharedRow, waiting: SharedProposal | None = None
) -> list[SharedTab]:
    """The pages of a row. No query."""
    meta = kind.model._meta
    change = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    pages = reverse("admin:shared-pages", args=[kind.name, row.pk])
    history = reverse("admin:shared-history", args=[kind.name, row.pk])
    review = reverse("admin:shared-review", args=[kind.name, row.pk])
    return [
        SharedTab("edit", _("Edit"), change),
        SharedTab("pages", _("Pages"), pages),
        *([SharedTab("review", _("Review"), review, 1)] if waiting else ()),
        SharedTab("history", _("History"), history),
    ]


@dataclass(frozen=True, slots=True)
class EditState:
    """Whether a change here needs approval, and what waits for it already."""

    needs_approval: bool
    waiting: SharedProposal | None

    @property
    def shown(self) -> SharedProposal | None:
        """The proposal that the form continues."""
        return self.waiting if self.needs_approval else None


def edit_state(request: HttpRequest, kind: SharedKind, row: SharedRow) -> EditState:
    """The state for whoever is logged in. Two queries for a request."""
    kept: EditState | None = getattr(request, "shared_edit_state", None)
    if kept is None:
        kept = EditState(
            needs_approval(kind.name, actor_of(request)), waiting_for(kind.name, row.pk)
        )
        request.shared_edit_state = kept  # type: ignore[attr-defined]  # for the rest of the request
    return kept


def edited_row(request: HttpRequest, kind: SharedKind, row: SharedRow) -> SharedRow:
    """The row as the form shows it: with what waits for approval, where this person goes on with it."""
    shown = edit_state(request, kind, row).shown
    if shown is None:
        return row
    document = shown.document
    if shown.base_version != row.version:
        document = _rebased(document, shown.base, kind.document_of(row))
    return kind.with_document(row, document)


def _rebased(changed: JsonObject, base: JsonObject, live: JsonObject) -> JsonObject:
    """What was written on `base`, on top of what is live now: only what the writer changed replaces it."""
    found: JsonObject = {}
    for name in {**live, **changed}:
        mine, was, now = (held.get(name) for held in (changed, base, live))
        if isinstance(mine, dict) and isinstance(was, dict) and isinstance(now, dict):
            found[name] = _rebased(mine, was, now)
        elif mine != was:
            if name in changed:
                found[name] = mine
        elif name in live:
            found[name] = now
    return found


def save_or_propose(
    request: HttpRequest,
    kind: SharedKind,
    row: SharedRow,
    document: Callable[[], JsonObject],
    expected_version: int | None,
    save: Callable[[], object],
) -> str | None:
    """Save the form's change, or send it for approval where it needs that. Answers what to say of the latter."""
    if not edit_state(request, kind, row).needs_approval:
        save()
        return None
    sent = request.POST.get("proposal", "")
    propose_change(
        kind=kind,
        row_id=row.pk,
        document=document(),
        actor=actor_of(request),
        expected_version=expected_version,
        expected_proposal=int(sent) if sent.isdecimal() and len(sent) < 10 else None,
    )
    return _("Sent for approval. Nothing is live yet.")


def edit_page_context(request: HttpRequest, kind: SharedKind, row: SharedRow) -> dict[str, object]:
    """The tabs, what waits, and what apps have registered."""
    state = edit_state(request, kind, row)
    context: dict[str, object] = {
        "shared_tabs": tabs_of(kind, row, state.waiting),
        "shared_state": state,
        "review_url": reverse("admin:shared-review", args=[kind.name, row.pk]),
    }
    for facts in edit_page_facts:
        context.update(facts(request, kind, row))
    return context
