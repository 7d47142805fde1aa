"""Services that write the roles of the site."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from proofroom.accounts.models import Invitation, SiteRole, User, role_label
from proofroom.accounts.permission_labels import label_of
from proofroom.accounts.roles import ROLE_NAME_MAX, assignable_permissions, grants
from proofroom.accounts.services.account_tokens import revoke_all_tokens
from proofroom.accounts.services.content_scopes import check_scope, refuse_whole_site
from proofroom.accounts.services.role_grants import (
    MAX_NAMES_SHOWN,
    in_words,
    lock_given_role,
    missing_permissions,
    require_permissions_of_role,
    require_unchanged,
    site_role_names,
)
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import reject_unstorable

VIEW: Final = "posts.view"
"""The permission that every page and endpoint for posts requires first."""
_RESERVED: Final = frozenset({"visitor", "system"})
"""Names that actors without an account have in place of a role."""


def require_role_manager(actor: Actor) -> None:
    """Raise `NotAllowed` unless the actor may manage roles. Programs may not, with any token."""
    actor.require_person("manage roles")
    actor.require("users.manage")
    actor.require_session("manage roles")


@transaction.atomic
def create_role(
    *,
    label: str,
    permissions: Collection[str],
    actor: Actor,
    description: str = "",
    scope: ContentScope | None = None,
    requires_second_factor: bool = False,
) -> SiteRole:
    """Create a role for people, limited to the content of the scope.

    Raises `NotAllowed`, or `RuleViolation` by field.
    """
    require_role_manager(actor)
    role = SiteRole()
    _fill(role, label, description, permissions, scope or ContentScope(), actor)
    role.requires_second_factor = requires_second_factor
    role.name = _free_name(role.label)
    _save(role, is_new=True)
    payload: JsonObject = {
        "role": role.name,
        "name": role.label,
        "before": [],
        "after": [*role.permissions],
        "scope": role.scope.to_json(),
        "secondFactor": role.must_use_second_factor,
    }
    outbox.record("role.created", actor=actor, payload=payload)
    return role


@transaction.atomic
def change_role(
    *,
    name: str,
    label: str,
    permissions: Collection[str],
    actor: Actor,
    description: str = "",
    scope: ContentScope | None = None,
    requires_second_factor: bool | None = None,
) -> SiteRole:
    """Change label, description and permissions of a role. None leaves scope and second factor unchanged.

    If the role loses permissions or content, its accounts lose their sessions and tokens. Raises `NotAllowed`, also
    if the role has what the actor lacks; `NotFound`, or `RuleViolation` by field.
    """
    require_role_manager(actor)
    role = _lock_own(name)
    require_permissions_of_role(actor, role.name)
    before, scope_before = role.granted, role.scope
    factor_before, is_by_row = role.must_use_second_factor, role.requires_second_factor
    promised_before = role.promised
    old_labels = (role.label, role.description)
    _fill(role, label, description, permissions, scope, actor)
    if requires_second_factor is not None:
        role.requires_second_factor = requires_second_factor
        if not requires_second_factor and role.must_use_second_factor:
            raise invalid(
                "requires_second_factor",
                _("The setting TWO_FACTOR_ROLES names this role. Remove it there first."),
            )
    after = role.granted
    old_values = (promised_before, scope_before, *old_labels, is_by_row)
    new_values = (
        role.promised,
        role.scope,
        role.label,
        role.description,
        role.requires_second_factor,
    )
    # Saving an unchanged form must not end sessions or add to the activity log.
    if old_values == new_values:
        return role
    _save(role)
    payload: JsonObject = {
        "role": role.name,
        "name": role.label,
        "nameBefore": old_labels[0],
        "before": [*sorted(before)],
        "after": [*sorted(after)],
        "scopeBefore": scope_before.to_json(),
        "scope": role.scope.to_json(),
        "secondFactorBefore": factor_before,
        "secondFactor": role.must_use_second_factor,
    }
    outbox.record("role.changed", actor=actor, payload=payload)
    # Added permissions apply at once, because they are read at every request. Only a loss ends sessions.
    if before - after or not scope_before.is_within(role.scope):
        people = User.objects.filter(role=role.name)
        _end_access(list(people.values_list("pk", flat=True)), "permissions", actor)
    return role


@transaction.atomic
def remove_role(*, name: str, actor: Actor, move_to: str = "") -> int:
    """Remove a role. Return the number of accounts moved to the role `move_to`.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` if accounts have the role and `move_to` is empty.
    """
    require_role_manager(actor)
    if move_to:
        if move_to == name:
            raise invalid("move_to", _("Choose another role."))
        both = SiteRole.objects.select_for_update().filter(name__in=[name, move_to])
        list(both.order_by("name"))  # a fixed order, so that two opposite moves cannot deadlock
        try:
            lock_given_role(move_to, actor)
        except RuleViolation as error:
            raise invalid("move_to", error.message, code=error.code) from None
    role = _lock_own(name)
    require_permissions_of_role(actor, role.name)
    # Locked in a fixed order, so that two of these transactions cannot deadlock.
    people = User.objects.select_for_update().filter(role=name).order_by("pk")
    ids = list(people.values_list("pk", flat=True))
    invited = _open_invitations(name)
    if (ids or invited.exists()) and not move_to:
        raise invalid(
            "move_to",
            _("People have this role. Choose the role that they get instead."),
            code="role_in_use",
        )
    if ids:
        User.objects.filter(pk__in=ids).update(role=move_to)
        _end_access(ids, "role", actor)
    invited.update(role=move_to)
    role.delete()
    payload: JsonObject = {
        "role": name,
        "name": role.label,
        "before": [*sorted(role.permissions)],
        "after": [],
        "movedTo": move_to or None,
        "moved": len(ids),
    }
    outbox.record("role.removed", actor=actor, payload=payload)
    return len(ids)


def role_users(name: str) -> tuple[list[User], int]:
    """Return the accounts with a role, by name, and the number of open invitations for it."""
    return [*User.objects.filter(role=name).order_by("username")], _open_invitations(name).count()


def write_declared_roles() -> None:
    """Create rows for all declared roles. Remove rows of declared roles that no longer exist."""
    known = dict(SiteRole.objects.values_list("name", "is_built_in"))
    SiteRole.objects.bulk_create(
        [SiteRole(name=name, is_built_in=True) for name in grants() if name not in known]
    )
    # The site made a role with a name that the code now declares: the declaration replaces it.
    if taken := [name for name in grants() if known.get(name) is False]:
        SiteRole.objects.filter(name__in=taken).update(
            is_built_in=True,
            label="",
            description="",
            permissions=[],
            requires_second_factor=False,
        )
    if gone := [
        name for name, is_built_in in known.items() if is_built_in and name not in grants()
    ]:
        SiteRole.objects.filter(name__in=gone).delete()


def _open_invitations(role: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        role=role, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
    )


def _lock_own(name: str) -> SiteRole:
    role = SiteRole.objects.select_for_update().filter(name=name).first()
    if name in grants():
        raise NotAllowed(
            _("This role comes with the software. Copy it to change its permissions."),
            code="built_in_role",
        )
    if role is None:
        raise NotFound(_("No role is called %(name)r.") % {"name": name}, code="unknown_role")
    return role


def _fill(
    role: SiteRole,
    label: str,
    description: str,
    permissions: Collection[str],
    scope: ContentScope | None,
    actor: Actor,
) -> None:
    """Set the given values; None leaves the scope unchanged, even if a part of it no longer exists.

    Raises `RuleViolation` by field.
    """
    require_unchanged(actor)
    wanted = set(permissions)
    unknown = sorted(wanted - assignable_permissions())
    if unknown:
        raise invalid(
            "permissions",
            _("People cannot have these permissions: %(names)s.")
            % {"names": ", ".join(repr(name[:80]) for name in unknown[:MAX_NAMES_SHOWN])},
        )
    if not wanted:
        raise invalid("permissions", _("Select at least one permission."))
    lacking = missing_permissions(actor, wanted)
    if lacking:
        raise invalid(
            "permissions",
            _("You can only give permissions that you have yourself. You do not have: %(names)s.")
            % {"names": in_words(lacking)},
            code="role_above_own",
        )
    of_posts = sorted(name for name in wanted if name.startswith("posts."))
    if of_posts and VIEW not in wanted:
        raise invalid(
            "permissions",
            _("Also select “%(view)s”. Without it, nobody can use: %(names)s.")
            % {"view": label_of(VIEW), "names": in_words(of_posts)},
            code="needs_view",
        )
    refuse_whole_site(wanted, role.scope if scope is None else scope)
    if scope is not None:
        role.content_scope = check_scope(scope, actor).to_json()
    for field, text in (("label", label), ("description", description)):
        reject_unstorable(text, field)
    role.label, role.description = " ".join(label.split()), description.strip()
    role.permissions = sorted(wanted)
    if not role.label:
        raise invalid("label", _("Give the role a name."))
    taken = {role_label(name).casefold() for name in grants()}
    if role.label.casefold() in taken:
        raise invalid("label", _("Another role already has this name."), code="name_taken")
    try:
        role.clean_fields(exclude=["name"])
    except ValidationError as error:
        raise RuleViolation(" ".join(error.messages), details=error.message_dict) from None


def _save(role: SiteRole, *, is_new: bool = False) -> None:
    try:
        with transaction.atomic():
            # A savepoint, because PostgreSQL refuses all queries of a transaction after an error.
            role.save(force_insert=is_new)
    except IntegrityError:
        raise invalid(
            "label", _("Another role already has this name."), code="name_taken"
        ) from None


def _free_name(label: str) -> str:
    """Return an unused name for settings and the API. It does not change with the label."""
    stem = re.sub(r"^[^a-z]+", "", slugify(label).replace("-", "_")) or "role"
    taken = {*grants(), *_RESERVED, *site_role_names()}
    # Accounts may still have a role that is no longer declared. A new role must not get its name.
    taken.update(User.objects.order_by().values_list("role", flat=True).distinct())
    name, number = stem[:ROLE_NAME_MAX].rstrip("_"), 2
    while name in taken:
        end = f"_{number}"
        name, number = stem[: ROLE_NAME_MAX - len(end)].rstrip("_") + end, number + 1
    return name


def _end_access(user_ids: Collection[int], changed: str, actor: Actor) -> None:
    """End sessions and revoke tokens of these accounts. Record the change of each."""
    people = User.objects.filter(pk__in=user_ids)
    people.update(session_epoch=F("session_epoch") + 1)
    revoke_all_tokens(user_ids)
    rows = people.order_by("pk").values_list("pk", "role", "is_active")
    events: list[tuple[None, JsonObject]] = [
        (None, {"id": pk, "changed": [changed], "role": role, "active": is_active})
        for pk, role, is_active in rows
    ]
    outbox.record_all("user.changed", events, actor=actor)
