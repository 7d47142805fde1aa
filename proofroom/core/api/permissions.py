"""Every endpoint declares who may call it; one that does not is closed."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from proofroom.core.api.authentication import actor_of
from proofroom.core.errors import NotAllowed

PUBLIC: Final = "public"
SIGNED_IN: Final = "signed-in"
SECRET: Final = "secret"  # noqa: S105  # the name of a policy
"""The view itself compares a secret."""

Declared = str | tuple[str, ...]
"""`PUBLIC`, `SIGNED_IN`, `SECRET`, a permission, or several of which one is enough."""


class DeclaredPermission(BasePermission):
    """Asks for what `view.permissions[action]` names."""

    def has_permission(self, request: Request, view: Any) -> bool:
        wanted = declared_access(view, view.action)
        if wanted in (PUBLIC, SECRET):
            return True
        actor = actor_of(request)
        if wanted == SIGNED_IN:
            return True
        names = (wanted,) if isinstance(wanted, str) else wanted
        if not any(actor.can(name) for name in names):
            raise NotAllowed(
                f"This needs the permission {' or '.join(names)}.",
                details={"permission": list(names)},
            )
        return True


def declared_access(view: Any, action: str | None) -> Declared:
    """Return what a view declares for an action. HEAD and OPTIONS ask for what the others do."""
    permissions: dict[str, Declared] = view.permissions
    if action in (None, "metadata"):
        # A method that the address does not answer is 405 to whoever may use the address at all.
        here = {permissions.get(name) for name in view.action_map.values()}
        return PUBLIC if here & {PUBLIC, SECRET} else SIGNED_IN
    if action not in permissions:
        raise ImproperlyConfigured(f"{type(view).__name__} declares no permission for {action!r}")
    return permissions[action]
