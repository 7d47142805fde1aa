"""Services for proposals: changes of global modules, menus and terms that wait for approval."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotAllowed, NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import clean_line
from proofroom.shared_content.approval import APPROVE, APPROVED, needs_approval
from proofroom.shared_content.models import ProposalState, SharedProposal, SharedRevision
from proofroom.shared_content.shared_types import SharedKind, SharedRow, find_kind

NOTE_MAX = 1000
TITLE_MAX = 300


def waiting_proposals() -> QuerySet[SharedProposal]:
    """Return the waiting changes, the oldest first."""
    return SharedProposal.objects.filter(state=ProposalState.WAITING).order_by("updated_at", "pk")


def find_waiting_proposal(kind: str, row_id: UUID) -> SharedProposal | None:
    """Return the waiting change of a row, or None. One query."""
    return waiting_proposals().filter(kind=kind, row_id=row_id).first()


@transaction.atomic
def propose_change(
    *,
    kind: SharedKind,
    row_id: UUID,
    document: JsonObject,
    actor: Actor,
    expected_version: int | None,
    expected_proposal: int | None,
) -> SharedProposal:
    """Send a change for approval. It replaces the waiting change of the row.

    `document`: validated by the rules of a write. `expected_proposal`: version of the waiting change that the writer
    saw, or None. Raises `Conflict` if the row or the waiting change differs from what the writer saw.
    """
    actor.require_person("change shared content")
    actor.require(kind.permission)
    row = _lock_row(kind, row_id)
    if expected_version is not None and expected_version != row.version:
        raise _stale_conflict(row.version)
    waiting = find_waiting_proposal(kind.name, row_id)
    # A writer must not replace a change that they have not seen.
    if (waiting.version if waiting else None) != expected_proposal:
        raise Conflict(
            _("Another change was sent for approval in the meantime. Reload the page."),
            code="stale_proposal",
            current=waiting.version if waiting else None,
        )
    live = kind.document_of(row)
    if document == live:
        raise invalid("document", _("No changes to save."), code="unchanged")
    # The version keeps counting after a decision, so that a page with an earlier proposal does not match a later one.
    earlier = SharedProposal.objects.filter(kind=kind.name, row_id=row_id)
    last: int = earlier.aggregate(last=Max("version"))["last"] or 0
    proposal = waiting or SharedProposal(kind=kind.name, row_id=row_id, version=last)
    proposal.title = str(row)[:TITLE_MAX]
    # The writer's form was based on this version, which `expected_version` has checked.
    proposal.base, proposal.base_version = live, row.version
    proposal.document = document
    proposal.version += 1
    proposal.writers = sorted({*proposal.writers, actor.user.pk})
    proposal.by_id, proposal.by_name = actor.user.pk, actor.user.username
    proposal.save()
    _record("proposed", proposal, actor)
    return proposal


@transaction.atomic
def approve_proposal(*, proposal_id: UUID, version: int, actor: Actor) -> SharedRow:
    """Apply a waiting change to the live row, as its writer's change. Raises `Conflict` if the live row changed."""
    actor.require_session("approve changes")
    actor.require(APPROVE)
    kind, row, proposal = _lock_proposal(proposal_id, version)
    actor.require(kind.permission)
    _require_second_person(proposal, actor)
    return _apply(kind, row, proposal, actor)


@transaction.atomic
def release_proposal(*, proposal_id: UUID, version: int, actor: Actor) -> SharedRow:
    """Apply a waiting change to the live row as part of a release.

    Where the rules require approval, it is an approval. Otherwise it needs no more than an edit of the row does.
    """
    kind, row, proposal = _lock_proposal(proposal_id, version)
    require_releasable(kind, proposal, actor)
    return _apply(kind, row, proposal, actor)


def require_releasable(kind: SharedKind, proposal: SharedProposal, actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may make the change live in a release. One query."""
    actor.require_session("publish a release")
    actor.require(kind.permission)
    if needs_approval(kind.name, actor):
        actor.require(APPROVE)
        _require_second_person(proposal, actor)


def _require_second_person(proposal: SharedProposal, actor: Actor) -> None:
    if actor.user.pk in proposal.writers:
        # A second person must have seen the change, also if several people wrote it.
        raise NotAllowed(_("You cannot approve your own change."), code="own_change")


def _apply(kind: SharedKind, row: SharedRow, proposal: SharedProposal, actor: Actor) -> SharedRow:
    if proposal.base_version != row.version:
        raise _stale_conflict(row.version)
    written = kind.write(
        row_id=proposal.row_id,
        document=proposal.document,
        actor=actor,
        expected_version=row.version,
        reason=APPROVED,
    )
    # A write without changes creates no revision; the current revision belongs to another change.
    if written.version != proposal.base_version:
        SharedRevision.objects.filter(
            kind=kind.name, row_id=proposal.row_id, version=written.version, reason=APPROVED
        ).update(by=proposal.by_id, by_name=proposal.by_name, approved_by_name=actor.user.username)
    _decide(proposal, ProposalState.APPROVED, actor)
    return written


@transaction.atomic
def reject_proposal(*, proposal_id: UUID, version: int, actor: Actor, note: str) -> None:
    """Reject a waiting change, with a note. The live row stays unchanged."""
    actor.require_session("reject changes")
    actor.require(APPROVE)
    _kind, _row, proposal = _lock_proposal(proposal_id, version)
    proposal.note = clean_line("note", note, NOTE_MAX, required=True)
    _decide(proposal, ProposalState.REJECTED, actor)


@transaction.atomic
def withdraw_proposal(*, proposal_id: UUID, version: int, actor: Actor) -> None:
    """Withdraw a change. Only its writers may."""
    actor.require_person("withdraw changes")
    kind, _row, proposal = _lock_proposal(proposal_id, version)
    actor.require(kind.permission)
    if actor.user.pk not in proposal.writers:
        raise NotAllowed(_("Only the author of this change can withdraw it."))
    _decide(proposal, ProposalState.WITHDRAWN, actor)


def delete_proposals(kind: str, row_id: UUID) -> None:
    """Delete the proposals of a deleted row."""
    SharedProposal.objects.filter(kind=kind, row_id=row_id).delete()


def _lock_proposal(proposal_id: UUID, version: int) -> tuple[SharedKind, SharedRow, SharedProposal]:
    """Return a waiting change with its kind and its locked row.

    Raises `NotFound`, or `Conflict` for another version.
    """
    found = SharedProposal.objects.filter(pk=proposal_id).first()
    if found is None:
        raise NotFound(_("Change not found."))
    kind = find_kind(found.kind)
    row = _lock_row(kind, found.row_id)
    # Read it again: only now, with the row locked, no other process can decide it.
    found.refresh_from_db()
    if found.state != ProposalState.WAITING or found.version != version:
        raise Conflict(
            _("This change was decided on or edited in the meantime. Reload the page."),
            code="stale_proposal",
            current=found.version,
        )
    return kind, row, found


def _lock_row(kind: SharedKind, row_id: UUID) -> SharedRow:
    """Return the row, locked until the transaction ends. Raises `NotFound`."""
    # `SharedKind.find` does not lock, so another query does.
    kind.model._default_manager.select_for_update(of=("self",)).filter(pk=row_id).first()
    row = kind.find(row_id)
    if row is None:
        raise NotFound(_("This page does not exist."))
    return row


def _stale_conflict(current: int) -> Conflict:
    sentence = _("The live version has changed since then. Open this change and update it first.")
    return Conflict(sentence, code="stale_version", current=current)


def _decide(proposal: SharedProposal, state: ProposalState, actor: Actor) -> None:
    proposal.state = state
    proposal.decided_by_id, proposal.decided_by_name = actor.user.pk, actor.user.username
    proposal.save()
    _record(str(state.value), proposal, actor)


def _record(did: str, proposal: SharedProposal, actor: Actor) -> None:
    payload: JsonObject = {
        "id": str(proposal.pk),
        "kind": proposal.kind,
        "rowId": str(proposal.row_id),
        "title": proposal.title,
    }
    if proposal.note:
        payload["note"] = proposal.note
    outbox.record(f"shared.{did}", actor=actor, payload=payload)
