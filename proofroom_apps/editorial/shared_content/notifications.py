"""Notifications about global modules, menus and terms: waiting approvals and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from proofroom.core.models import Event
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom.notifications.services import users_with_permission
from proofroom.shared_content.approval import APPROVE
from proofroom.shared_content.models import ProposalState, SharedProposal

_PROPOSED: Final = "shared.proposed"
_APPROVED: Final = "shared.approved"
_REJECTED: Final = "shared.rejected"


def _find_waiting(event: Event) -> list[Notice]:
    """Return a notice for the users who may approve the proposal, except its authors.

    All waiting proposals are one line.
    """
    proposal = SharedProposal.objects.filter(pk=str(event.payload["id"])).first()
    if proposal is None:  # the content and its proposals were deleted since
        return []
    people = {*users_with_permission(APPROVE, but=event.actor_id)} - {*proposal.writers}
    return [Notice(sorted(people), "waiting", str(proposal.pk))]


def _describe_waiting(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    proposals = _proposals_of(rows)
    texts = {}
    for row in rows:
        proposal = proposals.get(row.subjects[0])
        names = {"title": _title(proposal), "count": row.count - 1}
        if row.count == 1:
            text = _("Changes to “%(title)s” were sent for approval") % names
            url = _address("review", proposal)
        else:
            text = (
                ngettext(
                    "Changes to “%(title)s” and %(count)s other were sent for approval",
                    "Changes to “%(title)s” and %(count)s others were sent for approval",
                    row.count - 1,
                )
                % names
            )
            url = reverse("admin:inbox")
        texts[row.pk] = NotificationText(text, url, "inbox")
    return texts


def _find_decided(event: Event) -> list[Notice]:
    """Return a notice for the authors of the decided proposal, except the reviewer."""
    proposal = SharedProposal.objects.filter(pk=str(event.payload["id"])).first()
    people = sorted({*proposal.writers} - {event.actor_id}) if proposal is not None else []
    if proposal is None or not people:
        return []
    return [Notice(people, f"{event.name}:{proposal.pk}", str(proposal.pk))]


def _describe_decided(rows: Sequence[Notification]) -> Mapping[int, NotificationText]:
    proposals = _proposals_of(rows)
    texts = {}
    for row in rows:
        proposal = proposals.get(row.subjects[0])
        is_approved = row.group.startswith(_APPROVED)
        who = proposal.decided_by_name if proposal is not None else ""
        names = {"who": who or _("Somebody"), "title": _title(proposal)}
        text = (
            _("%(who)s approved your changes to “%(title)s”")
            if is_approved
            else _("%(who)s rejected your changes to “%(title)s”")
        )
        note = proposal.note if proposal is not None and not is_approved else ""
        icon = "check" if is_approved else "close"
        texts[row.pk] = NotificationText(text % names, _address("history", proposal), icon, note)
    return texts


def _proposals_of(rows: Sequence[Notification]) -> dict[str, SharedProposal]:
    """Return the first proposal of each notification. One query."""
    ids = {UUID(row.subjects[0]) for row in rows}
    found = SharedProposal.objects.filter(pk__in=ids).defer("base", "document")
    return {str(proposal.pk): proposal for proposal in found}


def _title(proposal: SharedProposal | None) -> str:
    return proposal.title if proposal is not None else _("deleted content")


def _address(page: str, proposal: SharedProposal | None) -> str:
    if proposal is None:
        return ""
    name = page if proposal.state == ProposalState.WAITING else "history"
    return reverse(f"admin:shared-{name}", args=[proposal.kind, proposal.row_id])


KINDS: Final = (
    NotificationKind(
        "shared.waiting",
        gettext_lazy("Changes of global modules, menus and terms waiting for approval"),
        APPROVE,
        (_PROPOSED,),
        _find_waiting,
        _describe_waiting,
        can_be_mailed=True,
        category=Category.SUBMISSION,
    ),
    NotificationKind(
        "shared.decided",
        gettext_lazy("Decisions on your changes of global modules, menus and terms"),
        "posts.view",
        (_APPROVED, _REJECTED),
        _find_decided,
        _describe_decided,
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
)
