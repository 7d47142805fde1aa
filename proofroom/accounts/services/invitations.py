"""Services for invitations. An administrator invites an email with a role; its link creates one account."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import Invitation, User
from proofroom.accounts.queries import permissions_with_uninstalled_apps
from proofroom.accounts.services.account_tokens import hash_of
from proofroom.accounts.services.role_grants import (
    lock_given_role,
    missing_permissions,
    require_permissions_of_role,
)
from proofroom.accounts.services.users import make_user, require_account_manager
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject

INVITATION_DAYS: Final = 7
_LONGEST_SECRET: Final = 100


@transaction.atomic
def create_invitation(*, email: str, role: str, actor: Actor) -> tuple[Invitation, str]:
    """Create an invitation. Return it with the secret of its link. An older one to the same address ends.

    Raises `NotAllowed`, or `RuleViolation` by field.
    """
    require_account_manager(actor)
    address = email.strip().lower()
    if User.objects.filter(email__iexact=address).exists():
        raise invalid("email", _("Another account already uses this email."), code="email_taken")
    now = timezone.now()
    older = Invitation.objects.filter(email=address, accepted_at=None, revoked_at=None)
    # Ending an invitation takes its role away, which needs all permissions of that role.
    for older_role in older.values_list("role", flat=True):
        require_permissions_of_role(actor, older_role)
    older.update(revoked_at=now)
    secret = secrets.token_urlsafe(32)
    invitation = Invitation(
        email=address,
        role=lock_given_role(role, actor),
        hash=hash_of(secret),
        invited_by_id=actor.user.pk,
        expires_at=now + timedelta(days=INVITATION_DAYS),
    )
    try:
        invitation.full_clean(exclude=["hash", "invited_by"])
    except ValidationError as error:
        raise RuleViolation(" ".join(error.messages), details=error.message_dict) from None
    invitation.save(force_insert=True)
    payload: JsonObject = {"id": str(invitation.pk), "email": address, "role": invitation.role}
    outbox.record("invitation.created", actor=actor, payload=payload)
    return invitation, secret


@transaction.atomic
def revoke_invitation(*, invitation_id: UUID, actor: Actor) -> Invitation:
    """Revoke an invitation if it is open. Raises `NotAllowed` or `NotFound`."""
    require_account_manager(actor)
    invitation = Invitation.objects.select_for_update().filter(pk=invitation_id).first()
    if invitation is None:
        raise NotFound(
            _("No invitation has the ID %(id)s.") % {"id": invitation_id}, code="unknown_invitation"
        )
    if invitation.accepted_at is None and invitation.revoked_at is None:
        require_permissions_of_role(actor, invitation.role)
        invitation.revoked_at = timezone.now()
        invitation.save(update_fields=["revoked_at"])
        payload: JsonObject = {
            "id": str(invitation.pk),
            "email": invitation.email,
            "role": invitation.role,
        }
        outbox.record("invitation.revoked", actor=actor, payload=payload)
    return invitation


def is_usable(invitation: Invitation) -> bool:
    """Return True if the invitation is open and the inviter still has all permissions of its role."""
    inviter = invitation.invited_by
    return (
        invitation.state == "pending"
        and inviter is not None
        and not missing_permissions(
            Actor(user=inviter, via="admin"), permissions_with_uninstalled_apps(invitation.role)
        )
    )


def find_invitation(secret: str, *, lock: bool = False) -> Invitation:
    """Return the open invitation with this secret.

    Raises `NotFound` if it expired, was used or revoked, or is unknown.
    """
    rows = Invitation.objects.select_for_update() if lock else Invitation.objects.all()
    # A secret has 43 characters. Longer or other text is refused without a query.
    fits = secret.isascii() and len(secret) <= _LONGEST_SECRET
    found = rows.filter(hash=hash_of(secret)).first() if fits else None
    if found is None or not is_usable(found):
        raise NotFound(_("This invitation has expired or was already used."))
    return found


@transaction.atomic
def accept_invitation(*, secret: str, username: str, password: str) -> User:
    """Create the account of an invitation. Its email counts as confirmed, because the link reached it.

    Raises `NotFound`, or `RuleViolation` by field.
    """
    # Locked, so that a link used twice at the same time creates one account.
    invitation = find_invitation(secret, lock=True)
    user = make_user(
        email=invitation.email, username=username, role=invitation.role, password=password
    )
    actor = Actor(user=user, via="admin")
    outbox.record("user.created", actor=actor, payload={"id": user.pk, "role": user.role})
    record_acceptance(invitation, actor)
    return user


def record_acceptance(invitation: Invitation, actor: Actor) -> None:
    """Mark an invitation as accepted by its new account."""
    invitation.accepted_at = timezone.now()
    invitation.save(update_fields=["accepted_at"])
    payload: JsonObject = {
        "id": str(invitation.pk),
        "email": invitation.email,
        "role": actor.user.role,
    }
    outbox.record("invitation.accepted", actor=actor, payload=payload)


def prune_invitations(*, days: int) -> int:
    """Delete invitations that ended more than `days` ago. Return their number. 0 keeps everything."""
    if days <= 0:
        return 0
    cutoff = timezone.now() - timedelta(days=days)
    ended = Q(accepted_at__lt=cutoff) | Q(revoked_at__lt=cutoff) | Q(expires_at__lt=cutoff)
    return Invitation.objects.filter(ended).delete()[0]
