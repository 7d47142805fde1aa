"""Checks of which roles and permissions an actor may give. An actor cannot give permissions they lack."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.utils.translation import gettext as _

from proofroom.accounts.models import SiteRole, User, role_label
from proofroom.accounts.permission_labels import label_of
from proofroom.accounts.queries import permissions_with_uninstalled_apps, scope_of
from proofroom.accounts.roles import all_permissions, assignable_permissions, grants, people_roles
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, invalid

MAX_NAMES_SHOWN: Final = 5


def missing_permissions(actor: Actor, permissions: Collection[str]) -> list[str]:
    """Return the permissions of this list that the actor lacks. Agent-only permissions are ignored.

    A permission that no installed app declares counts as missing unless the actor has all assignable ones.
    """
    assignable = assignable_permissions()
    # People never have agent-only permissions, so they need not have them to give a role.
    lacking = {name for name in assignable.intersection(permissions) if not actor.can(name)}
    # Its app may be installed again later. An actor with all permissions will then have this one too.
    undeclared = {*permissions} - all_permissions()
    if undeclared and not all(actor.can(name) for name in assignable):
        lacking |= undeclared
    return sorted(lacking)


def is_wider(actor: Actor, scope: ContentScope) -> bool:
    """Return True if a role or token with this scope would reach more content than the actor."""
    return not all(scope.is_within(own) for own in actor.scopes)


def require_unchanged(actor: Actor) -> None:
    """Raise `NotAllowed` if the actor's role or account changed since the request began.

    One query. Call it after all rows that the change reads are locked.
    """
    # Waiting for a lock can take long enough for an administrator to take the actor's rights away meanwhile.
    user = actor.user
    unchanged = User.objects.filter(pk=user.pk, is_active=True, role=user.role)
    if isinstance(user, User):
        unchanged = unchanged.filter(session_epoch=user.session_epoch)
    if not unchanged.exists():
        raise NotAllowed(_("Your account has changed. Log in again."), code="account_changed")


def require_permissions_of_role(actor: Actor, role: str) -> None:
    """Raise `NotAllowed` if the role has permissions or content that the actor lacks."""
    require_unchanged(actor)
    lacking = missing_permissions(actor, permissions_with_uninstalled_apps(role))
    if lacking:
        raise NotAllowed(
            _("The role %(role)s has permissions that you do not have: %(names)s.")
            % {"role": role_label(role), "names": in_words(lacking)},
            code="role_above_own",
            details={"permission": lacking},
        )
    if is_wider(actor, scope_of(role)):
        raise NotAllowed(_beyond(role), code="role_above_own")


def lock_site_role(role: str) -> bool:
    """Lock the role's row against changes and removal. Return False if the site has no such role."""
    if role in grants():
        return False
    found = SiteRole.objects.select_for_update().filter(name=role, is_built_in=False)
    return found.first() is not None


def lock_role(role: str) -> str:
    """Return the role if people can have it. Lock it if the site made it. Raises `RuleViolation`."""
    if role in people_roles():
        return role
    if not lock_site_role(role):
        known = [*people_roles(), *site_role_names()]
        raise invalid(
            "role",
            _("%(role)r is not a role for people. Available: %(known)s.")
            % {"role": role, "known": ", ".join(known)},
        )
    return role


def lock_given_role(role: str, actor: Actor) -> str:
    """Return the role if the actor may give it. Raises `RuleViolation` if it has permissions the actor lacks."""
    lock_role(role)
    require_unchanged(actor)
    lacking = missing_permissions(actor, permissions_with_uninstalled_apps(role))
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


def site_role_names() -> list[str]:
    """Return the names of the site's own roles."""
    return [*SiteRole.objects.filter(is_built_in=False).values_list("name", flat=True)]


def in_words(permissions: Collection[str]) -> str:
    """Return labels of the permissions, the first few only, separated by commas."""
    first_labels = [str(label_of(name)) for name in [*permissions][:MAX_NAMES_SHOWN]]
    rest = len(permissions) - len(first_labels)
    return ", ".join(
        [*first_labels, _("%(number)d more") % {"number": rest}] if rest else first_labels
    )
