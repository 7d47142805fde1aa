"""Answers about access: the matrix of all roles, and the reasons why a person may or may not do something."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Model
from django.utils.translation import gettext as _

from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.permission_labels import label_of, permission_choices
from proofroom.accounts.queries import list_site_roles
from proofroom.accounts.roles import all_permissions, grants
from proofroom.accounts.scope_words import describe_scope, describe_scopes
from proofroom.core.content_scope import Scoped


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """A permission. `granted`: for each role of the matrix in order, whether it has the permission."""

    label: str
    granted: list[bool]


@dataclass(frozen=True, slots=True)
class AccessAnswer:
    """An answer to an access question: allowed or not, and the reasons as sentences."""

    is_allowed: bool
    sentences: list[str]


def all_roles() -> list[SiteRole]:
    """Return the roles declared in code, then the site's own. One query."""
    declared = [SiteRole(name=name, is_built_in=True) for name in grants()]
    return [*declared, *list_site_roles()]


@dataclass(frozen=True, slots=True)
class RoleMatrix:
    """All roles, the content each is limited to, and the permissions of each by group."""

    roles: list[SiteRole]
    limits: list[list[str]]
    groups: list[tuple[str, list[PermissionRow]]]

    @property
    def has_limits(self) -> bool:
        return any(self.limits)

    @property
    def has_second_factors(self) -> bool:
        return any(role.must_use_second_factor for role in self.roles)


def compare_roles(reader: Scoped) -> RoleMatrix:
    """Return the matrix of all roles. Three queries at most."""
    roles = all_roles()
    granted_sets = [role.granted for role in roles]
    groups = [
        (
            label,
            [
                PermissionRow(text, [name in one for one in granted_sets])
                for name, text in permissions
            ],
        )
        for label, permissions in permission_choices(all_permissions())
    ]
    return RoleMatrix(roles, describe_scopes([role.scope for role in roles], reader), groups)


def explain_access(
    *, person: User, permission: str, reader: Scoped, thing: Model | None = None
) -> AccessAnswer:
    """Return why the person has the permission or lacks it. With `thing`, such as a post, answer for that object."""
    words = {"person": person.username, "role": person.role_label, "action": label_of(permission)}
    if not person.is_active:
        return AccessAnswer(
            False,
            [_("No. The account of %(person)s is turned off and cannot do anything.") % words],
        )
    if permission in person.permissions:
        limits = [line for scope in person.scopes for line in describe_scope(scope, reader)]
        if thing is not None and not person.has_perm(permission, thing):
            outside = _(
                "No. %(person)s has the role %(role)s, which includes “%(action)s”, but “%(thing)s” is outside of "
                "the content that the role is limited to."
            )
            return AccessAnswer(False, [outside % {**words, "thing": thing}, *limits])
        sentences = [
            _("Yes. %(person)s has the role %(role)s, which includes “%(action)s”.") % words
        ]
        if limits and thing is None:
            sentences += [_("Only for the content that the role is limited to."), *limits]
        # The services also check the post's state, so the permission alone does not promise success.
        if permission.startswith("posts."):
            sentences.append(
                _(
                    "This can still fail for a post, for example if it is in the trash or "
                    "required fields are empty."
                )
            )
        if person.must_use_second_factor:
            sentences.append(_("The role requires two-factor authentication."))
        return AccessAnswer(True, sentences)
    sentences = [
        _("No. %(person)s has the role %(role)s, which does not include “%(action)s”.") % words
    ]
    others = [str(role) for role in all_roles() if permission in role.granted]
    if others:
        sentences.append(_("Roles that do: %(roles)s.") % {"roles": ", ".join(others)})
    return AccessAnswer(False, sentences)
