"""The registry of permissions and of the roles that the code declares.

The admin, the API and MCP check `user.has_perm("posts.publish")`. Roles made by an administrator are rows
(`SiteRole`), read by `queries.permissions_of`.

Some grants have a restriction in a comment ("only into AI Review", "submit only", "generate_image only"). The
services enforce it: an actor that is not a person never writes to Review or live content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from django.core.exceptions import ImproperlyConfigured
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy

from proofroom.core.registry import Registry

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class Role(StrEnum):
    ADMIN = "admin"
    EDITOR = "editor"
    TRANSLATOR = "translator"
    AI_AGENT = "ai_agent"


_TRANSLATOR = frozenset(
    {
        "posts.view",
        "posts.translate",
        "posts.review.save",
        "media.view",
        "feedback.view",
        "feedback.create",
        "feedback.resolve",
        "feedback.delete",
        "comments.view",
        "comments.write",
    }
)

_EDITOR = _TRANSLATOR | {
    "feedback.moderate",  # delete other people's notes
    "posts.create",
    "posts.edit",
    "posts.publish",
    "posts.archive",
    "posts.delete",
    "posts.restore",
    "posts.unlock",  # end a page lock of another person
    "posts.review.approve",
    "posts.ai-review.approve",
    "posts.revisions.manage",
    "posts.preview",
    "media.upload",
    "media.edit",
    "media.delete",
    "menus.edit",
    "taxonomies.edit",
    "forms.edit",
    "forms.submissions",
    "globals.edit",
    "redirects.edit",
    "releases.manage",
    "reviewers.invite",  # people only
    "urlPatterns.edit",
    "agents.view",
    "agents.dropdown",
    "agents.field",
    "briefs.edit",
    "snippets.manage",
    "analytics.read",  # pages of the admin; the API needs `analytics.view`
    "lists.share",  # share saved views of the admin's lists with the team
    "content.replace",  # find and replace in the admin; the API needs `database.manage`
}

_ADMIN = _EDITOR | {
    "agents.global",
    "agents.edit",
    "agents.evaluate",
    "analytics.view",
    "seo.manage",
    "webhooks.manage",
    "settings.manage",
    "users.manage",
    "database.manage",
    "privacy.manage",
    "quality.view",
    "tokens.manage",
    "disclosure.edit",
}

_AI_AGENT = frozenset(
    {
        "posts.view",
        "posts.create",  # only into AI Review
        "posts.ai-review.save",
        "posts.ai-review.approve",  # submit only
        "posts.preview",
        "media.view",
        "media.upload",  # generate_image only
        "agents.view",
        "comments.view",
        "comments.write",  # reply and resolve only
    }
)

GRANTS: Final[dict[str, frozenset[str]]] = {
    Role.ADMIN: frozenset(_ADMIN),
    Role.EDITOR: frozenset(_EDITOR),
    Role.TRANSLATOR: _TRANSLATOR,
    Role.AI_AGENT: _AI_AGENT,
}
"""Permissions of the product's roles."""
PERMISSIONS: Final[frozenset[str]] = frozenset().union(*GRANTS.values())
"""All permissions of the product."""


class PermissionSet:
    """Permissions that an app declares in `<app>/roles/*.py`. Admins get them automatically, agents never.

    `roles`: names of further roles that get them. `labels`: labels by permission.
    """

    name: ClassVar[str]
    permissions: ClassVar[tuple[str, ...]]
    labels: ClassVar[Mapping[str, str | StrPromise]] = {}
    roles: ClassVar[tuple[str, ...]] = ()


class RoleDefinition:
    """A role for people that an app declares in `<app>/roles/*.py`.

    It has the permissions of the roles in `includes`, and its own `permissions`.
    """

    name: ClassVar[str]
    label: ClassVar[str | StrPromise]
    includes: ClassVar[tuple[str, ...]] = ()
    permissions: ClassVar[tuple[str, ...]] = ()


_LABELS: Final[dict[str, StrPromise]] = {
    Role.ADMIN: gettext_lazy("admin"),
    Role.EDITOR: gettext_lazy("editor"),
    Role.TRANSLATOR: gettext_lazy("translator"),
    Role.AI_AGENT: gettext_lazy("AI agent"),
}
permission_sets: Final[Registry[PermissionSet]] = Registry("roles", PermissionSet)
app_roles: Final[Registry[RoleDefinition]] = Registry("roles", RoleDefinition)
ROLE_NAME_MAX: Final = 20
_PERMISSION: Final = re.compile(r"[A-Za-z][A-Za-z-]*(\.[A-Za-z][A-Za-z-]*)+")


@cache
def grants() -> Mapping[str, frozenset[str]]:
    """Return the permissions of every declared role, with apps' roles.

    Raises `ImproperlyConfigured` if one is invalid.
    """
    # Cached for the life of the process: declarations are code, so they change only with a restart.
    found = dict(GRANTS)
    known = PERMISSIONS.union(*(one.permissions for one in permission_sets))
    for one in permission_sets:
        for name in one.permissions:
            if name in PERMISSIONS or not _PERMISSION.fullmatch(name):
                raise ImproperlyConfigured(
                    f"{one.__module__}: {name!r} is already a permission of the product, or is not like 'stock.view'."
                )
        for role in (Role.ADMIN, *one.roles):
            # Roles of apps are not in `found` yet. They get these permissions below.
            if role in found and role != Role.AI_AGENT:
                found[role] |= set(one.permissions)
    for own in app_roles:
        # A name that is too long gets its own message below.
        if own.name in found or not re.fullmatch(r"[a-z][a-z0-9_]*", own.name[:ROLE_NAME_MAX]):
            raise ImproperlyConfigured(
                f"{own.__module__}: {own.name!r} is already a role, or is not a name of a-z, 0-9 and _."
            )
        if len(own.name) > ROLE_NAME_MAX:
            raise ImproperlyConfigured(
                f"{own.__module__}: {own.name!r} has more than {ROLE_NAME_MAX} characters."
            )
        # `found` grows with each role, so a role can include only product roles and roles declared before it.
        if unknown := {*own.permissions} - known or {*own.includes} - {*found}:
            raise ImproperlyConfigured(
                f"{own.__module__}: there is no permission or role {', '.join(sorted(unknown))}."
            )
        also = (one.permissions for one in permission_sets if own.name in one.roles)
        found[own.name] = frozenset(own.permissions).union(
            *also, *(found[name] for name in own.includes)
        )
    return found


def all_permissions() -> frozenset[str]:
    """Return all permissions, including the apps' own."""
    return frozenset().union(*grants().values())


def assignable_permissions() -> frozenset[str]:
    """Return the permissions that people's roles can have: all except those only agents have."""
    return frozenset().union(*(grants()[name] for name in people_roles()))


def people_roles() -> list[str]:
    """Return the names of the declared roles for people."""
    return [name for name in grants() if name != Role.AI_AGENT]


def declared_role_label(name: str) -> str:
    """Return the label of a declared role, in the reader's language."""
    own = app_roles.get(name)
    return capfirst(str(own.label if own is not None else _LABELS[name]))
