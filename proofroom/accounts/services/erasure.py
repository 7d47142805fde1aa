"""Erase the personal data of an account. The row stays, because content and the activity log refer to it."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import Preferences, User
from proofroom.accounts.roles import Role
from proofroom.accounts.services import account_tokens
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.accounts.services.users import lock_with_admins
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.core.privacy.person import Person


def find_person(email: str) -> Person:
    """Return the person with an address that `clean_email` returned, with the account that has it."""
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        # Only a confirmed address: anyone may enter another person's as their own.
        others = EmailAddress.objects.select_related("user").filter(verified=True)
        other = others.filter(email__iexact=email).first()
        user = other.user if other is not None else None
    if user is None:
        return Person(email)
    return Person(email, user.pk, user.username)


def require_erasable(*, person: Person, actor: Actor) -> None:
    """Raise `NotAllowed` or `RuleViolation` on `email` if the actor may not erase the person's account."""
    if person.user_id is None:
        return
    if actor.via != "command":  # the operator
        actor.require_session("erase the account of a person")
    actor.require("users.manage")
    user = User.objects.filter(pk=person.user_id).first()
    if user is None or user.erased_at is not None:
        return
    if user.role == Role.AI_AGENT:
        raise invalid("email", _("This is the account of an agent, not of a person."))
    if user.pk == actor.user.pk:
        raise invalid(
            "email",
            _("You cannot erase your own account. Ask another administrator."),
            code="own_account",
        )
    require_permissions_of_role(actor, user.role)
    # Accounts change meanwhile, so `deactivate_account` checks again with a lock.
    admins = User.objects.filter(role=Role.ADMIN, is_active=True)
    if set(admins.values_list("pk", flat=True)) == {user.pk}:
        raise _last_admin()


@transaction.atomic
def deactivate_account(*, person: Person, actor: Actor) -> None:
    """Turn the account off permanently, which ends its sessions, tokens and connected clients at once.

    Raises as `require_erasable` does.
    """
    if person.user_id is None:
        return
    require_erasable(person=person, actor=actor)
    user, admins = lock_with_admins(person.user_id)
    if admins == {user.pk}:
        raise _last_admin()
    was_active = user.is_active
    user.is_active = False
    user.session_epoch += 1
    user.set_unusable_password()
    user.save(update_fields=["is_active", "session_epoch", "password"])
    account_tokens.revoke_all_tokens([user.pk])
    if was_active:
        outbox.record(
            "user.changed",
            actor=actor,
            payload={
                "id": user.pk,
                "changed": ["is_active"],
                "role": user.role,
                "active": False,
            },
        )


@transaction.atomic
def erase_account(*, person: Person, actor: Actor) -> bool:
    """Replace name, address and password of the account. Return False if that was done before."""
    if person.user_id is None:
        return False
    deactivate_account(person=person, actor=actor)
    user = User.objects.select_for_update().filter(pk=person.user_id, erased_at=None).first()
    if user is None:
        return False
    user.username = person.pseudonym
    # A reserved domain, which gets no mail.
    user.email = f"former-member-{user.pk}@erased.invalid"
    user.last_login = None
    user.erased_at = timezone.now()
    user.save(update_fields=["username", "email", "last_login", "erased_at"])
    # Confirmations go with their address.
    EmailAddress.objects.filter(user_id=user.pk).delete()
    was_named = Preferences.objects.filter(user_id=user.pk).exclude(public_name="").exists()
    Preferences.objects.filter(user_id=user.pk).delete()
    if was_named:
        # Pages name the person as an author.
        payload: JsonObject = {
            "id": user.pk,
            "changed": ["public_name"],
            "role": user.role,
            "active": False,
        }
        outbox.record("user.changed", actor=actor, payload=payload)
    return True


def _last_admin() -> Exception:
    return invalid(
        "email",
        _("This is the last active administrator. Create another one first."),
        code="last_admin",
    )
