"""Who may give which role. Nobody gives a right that they lack: in no role, account, invitation or token."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.utils.translation import gettext as _

from proofroom.accounts.models import SiteRole, User, role_label
from proofroom.accounts.permission_labels import label_of
from proofroom.accounts.queries import promised_by, scope_of
from proofroom.accounts.roles import all_permissions, assignable_permissions, grants, people_roles
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, invalid

MAX_NAMES_SHOWN: Final = 5


def lacking_of(actor: Actor, permissions: Collection[str]) -> list[str]:
    """What of these permissions the actor does not have. What is for agents alone is asked of nobody.

    What no app declares now is lacking unless the actor has everything: who has all will have that too.
    """
    assignable = assignable_permissions()
    lacking = {name for name in assignable.intersection(permissions) if not actor.can(name)}
    undeclared = {*permissions} - all_permissions()
    if undeclared and not all(actor.can(name) for name in assignable):
        lacking |= undeclared
    return sorted(lacking)


def is_wider(actor: Actor, scope: ContentScope) -> bool:
    """Whether a role or token with this scope would reach more content than the actor."""
    return not all(scope.is_within(own) for own in actor.scopes)


def require_unchanged(actor: Actor) -> None:
    """Raise `NotAllowed` where the actor lost their role or account since the request began, which may be slow.

    One query; asked once everything that the change reads is locked.
    """
    user = actor.user
    as_before = User.objects.filter(pk=user.pk, is_active=True, role=user.role)
    if isinstance(user, User):
        as_before = as_before.filter(session_epoch=user.session_epoch)
    if not as_before.exists():
        raise NotAllowed(_("Your account has changed. Log in again."), code="account_changed")


def require_no_less(actor: Actor, role: str) -> None:
    """Raise `NotAllowed` where the role may do something that the actor may not: its accounts are not theirs."""
    require_unchanged(actor)
    lacking = lacking_of(actor, promised_by(role))
    if lacking:
        raise NotAllowed(
            _("The role %(role)s has permissions that you do not have: %(names)s.")
            % {"role": role_label(role), "names": in_words(lacking)},
            code="role_above_own",
            details={"permission": lacking},
        )
    if is_wider(actor, scope_of(role)):
        raise NotAllowed(_beyond(role), code="role_above_own")


def hold_role(role: str) -> bool:
    """Answer whether the site made this role, which cannot be changed or removed meanwhile."""
    if role in grants():
        return False
    found = SiteRole.objects.select_for_update().filter(name=role, is_built_in=False)
    return found.first() is not None


def lock_role(role: str) -> str:
    """The role, where it is one for people; one that the site made cannot be removed meanwhile.

    Raises `RuleViolation`.
    """
    if role in people_roles():
        return role
    if not hold_role(role):
        known = [*people_roles(), *names_of_the_site()]
        raise invalid(
            "role",
            _("%(role)r is not a role for people. Available: %(known)s.")
            % {"role": role, "known": ", ".join(known)},
        )
    return role


def lock_given_role(role: str, actor: Actor) -> str:
    """The role that the actor gives somebody. Raises `RuleViolation` where it has what the actor lacks."""
    lock_role(role)
    require_unchanged(actor)
    lacking = lacking_of(actor, promised_by(role))
    if lacking:
        raise invalid(
            "role",
            _(
                "You cannot give the role %(role)s. It has permissions that you do not have: %(names)s."
            )
            % {"role": role_label(role), "names": in_words(lacking)},
            code="role_above_own",
        )
    if is_wider(actor, scope_of(role)):
        raise invalid("role", _beyond(role), code="role_above_own")
    return role


def _beyond(role: str) -> str:
    return _("The role %(role)s covers content that your role does not cover.") % {
        "role": role_label(role)
    }


def names_of_the_site() -> list[str]:
    """The names of the roles that the site made."""
    return [*SiteRole.objects.filter(is_built_in=False).values_list("name", flat=True)]


def in_words(permissions: Collection[str]) -> str:
    """The permissions as people call them; of many only the first."""
    shown = [str(label_of(name)) for name in [*permissions][:MAX_NAMES_SHOWN]]
    rest = len(permissions) - len(shown)
    return ", ".join([*shown, _("%(number)d more") % {"number": rest}] if rest else shown)
