"""The one registry of permissions, and of the roles that the code declares.

Every face asks `user.has_perm("posts.publish")`; the answer comes from here. Roles that an administrator makes are
rows (`SiteRole`), which `permissions_of` of the queries reads.

What is written beside a grant in words ("only into AI Review", "submit only", "generate_image only") is held by
the services: an actor that is no person never reaches Review or live content, whatever its user may do.
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
    }
)

_EDITOR = _TRANSLATOR | {
    "feedback.moderate",  # delete the notes of others
    "posts.create",
    "posts.edit",
    "posts.publish",
    "posts.archive",
    "posts.delete",
    "posts.restore",
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
    "urlPatterns.edit",
    "agents.view",
    "agents.dropdown",
    "agents.field",
    "analytics.read",  # the admin's pages; the API's figures need `analytics.view`
    "lists.share",  # saved views of the admin's lists, for the team
    "content.replace",  # find and replace in the admin; the API's needs `database.manage`
}

_ADMIN = _EDITOR | {
    "agents.global",
    "agents.edit",
    "analytics.view",
    "seo.manage",
    "webhooks.manage",
    "settings.manage",
    "users.manage",
    "database.manage",
    "tokens.manage",
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
    }
)

GRANTS: Final[dict[str, frozenset[str]]] = {
    Role.ADMIN: frozenset(_ADMIN),
    Role.EDITOR: frozenset(_EDITOR),
    Role.TRANSLATOR: _TRANSLATOR,
    Role.AI_AGENT: _AI_AGENT,
}
"""What the roles of the product may do."""
PERMISSIONS: Final[frozenset[str]] = frozenset().union(*GRANTS.values())
"""The permissions of the product."""


class PermissionSet:
    """Permissions that an app declares, by any name, in `<app>/roles/*.py`. Admins have them too.

    `roles` are those that have them besides, `labels` says in words what a permission allows. Agents never have
    permissions of an app.
    """

    name: ClassVar[str]
    permissions: ClassVar[tuple[str, ...]]
    labels: ClassVar[Mapping[str, str | StrPromise]] = {}
    roles: ClassVar[tuple[str, ...]] = ()


class RoleDefinition:
    """A role that an app declares, in `<app>/roles/*.py`: for people, who log in with it.

    It may do what the roles of `includes` may, and what `permissions` name.
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
own_roles: Final[Registry[RoleDefinition]] = Registry("roles", RoleDefinition)
ROLE_NAME_MAX: Final = 20
_PERMISSION: Final = re.compile(r"[A-Za-z][A-Za-z-]*(\.[A-Za-z][A-Za-z-]*)+")


@cache
def grants() -> Mapping[str, frozenset[str]]:
    """What every role may do, those of apps too. Raises `ImproperlyConfigured` where a declaration is wrong."""
    found = dict(GRANTS)
    known = PERMISSIONS.union(*(one.permissions for one in permission_sets))
    for one in permission_sets:
        for name in one.permissions:
            if name in PERMISSIONS or not _PERMISSION.fullmatch(name):
                raise ImproperlyConfigured(
                    f"{one.__module__}: {name!r} is a permission of the product, or is not like 'stock.view'."
                )
        for role in (Role.ADMIN, *one.roles):
            if role in found and role != Role.AI_AGENT:
                found[role] |= set(one.permissions)
    for own in own_roles:
        if own.name in found or not re.fullmatch(r"[a-z][a-z0-9_]*", own.name[:ROLE_NAME_MAX]):
            raise ImproperlyConfigured(
                f"{own.__module__}: {own.name!r} is a role already, or is no name of small letters."
            )
        if len(own.name) > ROLE_NAME_MAX:
            raise ImproperlyConfigured(
                f"{own.__module__}: {own.name!r} has more than {ROLE_NAME_MAX} characters."
            )
        if unknown := {*own.permissions} - known or {*own.includes} - {*found}:
            raise ImproperlyConfigured(
                f"{own.__module__}: nothing is called {', '.join(sorted(unknown))}."
            )
        also = (one.permissions for one in permission_sets if own.name in one.roles)
        found[own.name] = frozenset(own.permissions).union(
            *also, *(found[name] for name in own.includes)
        )
    return found


def all_permissions() -> frozenset[str]:
    """Every permission there is, those of apps too."""
    return frozenset().union(*grants().values())


def assignable_permissions() -> frozenset[str]:
    """What roles of people can be given: all but what is for agents alone."""
    return frozenset().union(*(grants()[name] for name in people_roles()))


def people_roles() -> list[str]:
    """The names of the roles of people that the code declares."""
    return [name for name in grants() if name != Role.AI_AGENT]


def declared_role_label(name: str) -> str:
    """Return what people call a role of the code, in the reader's language."""
    own = own_roles.get(name)
    return capfirst(str(own.label if own is not None else _LABELS[name]))
