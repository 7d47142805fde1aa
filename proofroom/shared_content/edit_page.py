"""The frame of the edit pages of global modules, menus and terms: tabs, approval state, and apps' additions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import JsonObject
from proofroom.shared_content.approval import needs_approval
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import find_waiting_proposal, propose_change
from proofroom.shared_content.shared_types import SharedKind, SharedRow

PageFacts = Callable[[HttpRequest, SharedKind, SharedRow], Mapping[str, object]]
edit_page_facts: ExtensionPoint[PageFacts] = ExtensionPoint()
"""Functions of other apps that return additional template context for the edit page."""


@dataclass(frozen=True, slots=True)
class SharedTab:
    """A tab of the edit page. `name` is compared with the current page."""

    name: str
    label: str
    url: str
    count: int | None = None


def tabs_of(
    kind: SharedKind, row: SharedRow, waiting: SharedProposal | None = None
) -> list[SharedTab]:
    """Return the tabs of a row. No query."""
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
    """The approval state of an edit page: whether a change needs approval, and the waiting change."""

    needs_approval: bool
    waiting: SharedProposal | None

    @property
    def shown(self) -> SharedProposal | None:
        """The proposal that the form edits, or None."""
        return self.waiting if self.needs_approval else None


def edit_state(request: HttpRequest, kind: SharedKind, row: SharedRow) -> EditState:
    """Return the state for the current user. Two queries per request."""
    # Template tags and the view ask several times in a request.
    state: EditState | None = getattr(request, "shared_edit_state", None)
    if state is None:
        state = EditState(
            needs_approval(kind.name, actor_of(request)), find_waiting_proposal(kind.name, row.pk)
        )
        request.shared_edit_state = state  # type: ignore[attr-defined]  # for the rest of the request
    return state


def edited_row(request: HttpRequest, kind: SharedKind, row: SharedRow) -> SharedRow:
    """Return the row with the values for the form: the waiting change if this user continues it."""
    proposal = edit_state(request, kind, row).shown
    if proposal is None:
        return row
    document = proposal.document
    if proposal.base_version != row.version:
        document = _merge_changes(document, proposal.base, kind.document_of(row))
    return kind.with_document(row, document)


def _merge_changes(changed: JsonObject, base: JsonObject, live: JsonObject) -> JsonObject:
    """Apply the changes from `base` to `changed` on top of `live`: a three-way merge of JSON objects."""
    merged: JsonObject = {}
    for name in {**live, **changed}:
        new_value, base_value, live_value = (
            document.get(name) for document in (changed, base, live)
        )
        if (
            isinstance(new_value, dict)
            and isinstance(base_value, dict)
            and isinstance(live_value, dict)
        ):
            merged[name] = _merge_changes(new_value, base_value, live_value)
        # The writer changed or removed it, so the live value does not matter.
        elif new_value != base_value:
            if name in changed:
                merged[name] = new_value
        elif name in live:
            merged[name] = live_value
    return merged


def save_or_propose(
    request: HttpRequest,
    kind: SharedKind,
    row: SharedRow,
    document: Callable[[], JsonObject],
    expected_version: int | None,
    save: Callable[[], object],
) -> str | None:
    """Save the change, send it for approval, or keep it for a release. Return the message unless it is live."""
    keeps = request.POST.get("for_release") == "1"
    if not edit_state(request, kind, row).needs_approval and not keeps:
        save()
        return None
    sent = request.POST.get("proposal", "")
    propose_change(
        kind=kind,
        row_id=row.pk,
        document=document(),
        actor=actor_of(request),
        expected_version=expected_version,
        # More digits than a version can have, and non-digits, cannot be from the form.
        expected_proposal=int(sent) if sent.isdecimal() and len(sent) < 10 else None,
    )
    if keeps:
        return _("Kept for a release. Nothing is live yet. Add it on the page of the release.")
    return _("Sent for approval. Nothing is live yet.")


def edit_page_context(request: HttpRequest, kind: SharedKind, row: SharedRow) -> dict[str, object]:
    """Return the template context: tabs, approval state, and the additions of other apps."""
    state = edit_state(request, kind, row)
    context: dict[str, object] = {
        "shared_tabs": tabs_of(kind, row, state.waiting),
        "shared_state": state,
        "may_keep": not state.needs_approval
        and state.waiting is None
        and may(request, "releases.manage"),
        "is_kept": request.POST.get("for_release") == "1",
        "review_url": reverse("admin:shared-review", args=[kind.name, row.pk]),
    }
    for facts in edit_page_facts:
        context.update(facts(request, kind, row))
    return context
