"""Approval rules: which changes of global modules, menus and terms need approval before they go live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, invalid
from proofroom.shared_content.models import ApprovalMode, ApprovalRule
from proofroom.shared_content.shared_types import shared_kinds

APPROVE: Final = "settings.manage"
"""Permission to approve changes. It is the permission to set the approval rules."""
APPROVED: Final = "approved"
"""Revision reason of an approved change."""


def mode_of(kind: str) -> str:
    """Return the approval mode of a kind. One query."""
    found = ApprovalRule.objects.filter(kind=kind).values_list("mode", flat=True).first()
    return found or ApprovalMode.OFF


def modes() -> dict[str, str]:
    """Return the approval modes of all kinds. One query."""
    stored = dict(ApprovalRule.objects.values_list("kind", "mode"))
    return {kind.name: stored.get(kind.name, ApprovalMode.OFF) for kind in shared_kinds}


def needs_approval(kind: str, actor: Actor) -> bool:
    """Return True if a change by this actor needs approval. One query."""
    mode = mode_of(kind)
    return mode == ApprovalMode.EVERYONE or (
        mode == ApprovalMode.EDITORS and not actor.can(APPROVE)
    )


def require_live_change(kind: str, actor: Actor) -> None:
    """Raise `NotAllowed` (`approval_required`) if a change by this actor needs approval."""
    if needs_approval(kind, actor):
        raise _approval_required()


def require_approver(kind: str, actor: Actor) -> None:
    """Raise `NotAllowed` for a change that cannot be proposed, such as a deletion, unless the actor may approve."""
    if mode_of(kind) != ApprovalMode.OFF and not actor.can(APPROVE):
        raise _approval_required()


def _approval_required() -> NotAllowed:
    sentence = _("This site requires approval for this change. Send it for approval in the admin.")
    return NotAllowed(sentence, code="approval_required")


@transaction.atomic
def set_modes(*, actor: Actor, wanted: Mapping[str, str]) -> None:
    """Set the approval modes of these kinds. Waiting changes still need a decision."""
    actor.require_person("change settings")
    actor.require("settings.manage")
    known = {kind.name for kind in shared_kinds}
    for kind, mode in wanted.items():
        if kind not in known or mode not in ApprovalMode.values:
            raise invalid(kind, _("This is not one of the options."))
    before = modes()
    # Modes that stay the same are not recorded as changes.
    changed = {kind: mode for kind, mode in wanted.items() if mode != before[kind]}
    for kind, mode in changed.items():
        ApprovalRule.objects.update_or_create(kind=kind, defaults={"mode": mode})
        outbox.record("shared.rule-changed", actor=actor, payload={"kind": kind, "mode": mode})
