"""Services for accounts that log in through an identity provider."""

from __future__ import annotations

import logging

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import Invitation, User
from proofroom.accounts.services.invitations import is_usable, record_acceptance
from proofroom.accounts.services.users import apply_changes, make_user, username_for
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.errors import NotAllowed, RuleViolation, invalid
from proofroom.core.json import JsonObject

logger = logging.getLogger(__name__)


def role_for_claim(value: object) -> str | None:
    """Return the role for a claim's value, by `SSO_ROLES`; None if no entry matches."""
    values = value if isinstance(value, list) else [value]
    claim_values = {text for text in values if isinstance(text, str)}
    return next((role for name, role in settings.PROVIDER_ROLES if name in claim_values), None)


@transaction.atomic
def create_provider_account(*, email: str, name: str, role: str | None) -> User:
    """Create the account of a new person whose email the provider confirmed, without a password.

    The role is the given one, else that of an invitation to the email, else `SSO_DEFAULT_ROLE`. Raises `NotAllowed`
    without any of them, or `RuleViolation` by field.
    """
    address = email.strip().lower()
    # Locked, so that the link of the invitation cannot be used at the same time.
    open_ones = Invitation.objects.select_for_update().filter(email=address)
    invitation = next((one for one in open_ones if is_usable(one)), None)
    role = role or (invitation.role if invitation else settings.PROVIDER_DEFAULT_ROLE)
    if role is None:
        raise NotAllowed(_("You have no account here. Ask an administrator to invite you."))
    user = make_user(email=address, username=username_for(address, name), role=role, password=None)
    actor = Actor(user=user, via="admin")
    outbox.record("user.created", actor=actor, payload={"id": user.pk, "role": user.role})
    if invitation is not None:
        record_acceptance(invitation, actor)
    return user


def apply_provider_role(user: User, role: str) -> None:
    """Give an account the role from the provider. The last admin keeps the role admin.

    Raises `RuleViolation` if the role does not exist.
    """
    if user.role == role:
        return
    try:
        apply_changes(
            user_id=user.pk,
            wanted={"role": role},
            actor=Actor(user=SYSTEM, via="system"),
            is_giver_asked=False,
        )
    except RuleViolation as error:
        # Without an admin, no user could repair a wrong mapping of roles. So the login continues with the old role.
        if error.code != "last_admin":
            raise
        logger.warning("The account %s keeps its role: %s", user.pk, error.message)
    user.refresh_from_db()


@transaction.atomic
def disconnect_provider(*, actor: Actor, user: User) -> None:
    """Remove the account's connection to the provider. Raises `RuleViolation` if it is the only way to log in."""
    actor.require_session("change login methods")
    passkeys = Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.WEBAUTHN)
    if not (settings.PASSWORD_LOGIN and user.has_usable_password()) and not passkeys.exists():
        raise invalid(
            "provider",
            _(
                "You have no other way to log in. Add a passkey first, or ask an administrator to "
                "set a password."
            ),
        )
    removed, _rows = SocialAccount.objects.filter(user_id=user.pk).delete()
    if removed:
        payload: JsonObject = {"id": user.pk, "type": settings.PROVIDER_ID}
        outbox.record("user.second-factor-removed", actor=actor, payload=payload)
